// Counts rows along a reflected direction before projecting them: a coarse count rules out most directions quickly.
#pragma once

#include "split/rare_tactic.hpp"
#include "split/screen.hpp"
#include "split/sort_tactic.hpp"

namespace oblique {

template <class Criterion>
class LookTactic final : public Tactic {
 public:
  // rare : the tactic that replaces this one if very few rows are rare; nullptr if it is left out
  LookTactic(CutSearch<Criterion>& search, const RareTactic<Criterion>* rare)
      : search_(search), rare_(rare), bins_(search), scan_(search) {}

  void begin() override {
    const NodeRows& rows = *search_.rows;
    pays_ = counts_exactly(rows) && !search_.strict && rows.n >= Screen::kRows;
    if (pays_) screen_.begin(rows, search_.totals().of_class);
  }

  bool settles(Direction& d) override {
    if (!pays_ || !d.w || (rare_ && rare_->are_very_few()) || !screen_.is_worth_it()) return false;
    if (!screen_.count(d.x, d.w, d.c, d.distinct)) return false;
    const auto look = [&] { bins_.find(screen_.table(), d.order, [&](int b) { return screen_.is_asked(b); }); };
    bins_.assume(true);
    look();
    for (int looks = 1; !bins_.open.empty() && looks < kLooks && screen_.look_closer(bins_.open); ++looks) look();
    const bool settled =
        bins_.open.empty() || (bins_.rows_of_open() <= kPicked && search_picked(d) && !bins_.assumed_wrongly());
    screen_.tell(!settled);
    if (settled) checkpoint(search_.rows->n);
    return settled;
  }

 private:
  static constexpr float kPicked = 96.0f;  // rows: fewer are selected by their places and sorted quickly
  static constexpr int kLooks = 3;

  // Searches the open bins of the last look and projects only their rows; false if keys are not precise enough.
  bool search_picked(Direction d) {
    const NodeRows& rows = *search_.rows;
    d.range = range_of_reflected(d.x, d.w, d.c, rows.n);
    if (!(d.range.high - d.range.low > d.distinct)) return true;
    if (!is_keyable(d.range)) return false;
    ++search_.counts.refined;
    scan_.begin(d);
    picked_.resize(scan_.lay_out(bins_));
    const uint8_t *places = screen_.places(), *bin_of = screen_.bin_of();
    bool is_open[kPlaceBins] = {};
    for (const int b : bins_.open) is_open[b] = true;
    uint8_t wanted[256];
    for (int place = 0; place < 256; ++place) wanted[place] = is_open[bin_of[place]];
    picked_up_to_.resize(static_cast<size_t>(rows.n_classes));
    pick_rows(places, rows.first_row, rows.n_classes, wanted, picked_.data(), picked_up_to_.data());
    size_t at = 0;
    for (int k = 0; k < rows.n_classes; ++k)
      for (; at < picked_up_to_[k]; ++at) {
        const size_t i = picked_[at];
        scan_.add(bin_of[places[i]], d.x[i] - d.c * d.w[i], i, k);
      }
    scan_.scan_open(bins_, [&](int b) {
      int last = 255;
      while (bin_of[last] > b) --last;
      return least_above(places, static_cast<uint8_t>(last), d.x, d.w, d.c, rows.n);
    });
    return true;
  }

  CutSearch<Criterion>& search_;
  const RareTactic<Criterion>* rare_;
  OpenBins<Criterion> bins_;
  KeyScan<Criterion> scan_;
  bool pays_ = false;
  Screen screen_;
  std::vector<uint32_t> picked_;      // rows of open bins, class by class
  std::vector<size_t> picked_up_to_;  // the end of each class among them
};

}  // namespace oblique
