// Counts rows along a reflected direction before projecting them: a coarse count rules out most directions quickly.
#pragma once

#include "split/cut_search.hpp"
#include "split/screen.hpp"
#include "split/sort_tactic.hpp"

namespace oblique {

// Bounds of a direction at a node where one class has nearly all rows, like most nodes deep in a tree.
// The rows of the other classes are rare, the rows of that class are common. Between two neighboring rare rows all cuts
// have the same rare rows on the left, and their value is convex in the number of common rows on the left
// (criteria.hpp), so it is largest at one end of the stretch, directly behind one rare row or directly before the next.
// Hence no cut is better than the best of the cuts next to rare rows, assuming that each of these places has room for a
// cut. Bounds need only the number of common rows below each rare row: m n comparisons for m rare rows and n common
// ones, and only the rare rows are sorted.
template <class Criterion>
class RareTactic final : public Tactic {
 public:
  explicit RareTactic(CutSearch<Criterion>& search) : search_(search) {}

  void begin() override {
    const NodeRows& rows = *search_.rows;
    const Totals& totals = search_.totals();
    common_ = 0;
    for (int k = 1; k < rows.n_classes; ++k)
      if (totals.of_class[k] > totals.of_class[common_]) common_ = k;
    first_ = rows.first_row[common_];
    last_ = rows.first_row[common_ + 1];
    const size_t rare = rows.n - (last_ - first_);
    // Comparisons, in groups of eight; a search of all rows takes about as long as the first limit.
    const size_t work = (rare + 7) / 8 * rows.n;
    are_few_ = Criterion::is_convex && totals.counts && !search_.strict && rare <= kMost && work <= 2 * rows.n + 6000;
    are_very_few_ = are_few_ && work <= rows.n + 2000;
  }

  // Whether this tactic should come first.
  bool are_very_few() const { return are_very_few_; }

  bool settles(Direction& d) override {
    return are_few_ && is_keyable(d.range) && !can_win(d, search_.roughly_needed(d.order));
  }

 private:
  static constexpr size_t kMost = 64;

  // Whether some cut may reach the value `needed`.
  bool can_win(const Direction& d, double needed) {
    const NodeRows& rows = *search_.rows;
    const Totals& totals = search_.totals();
    const double* z = d.z;
    std::vector<double>& left = search_.left;
    constexpr uint64_t row_bits = 6;
    static_assert(kMost <= size_t{1} << row_bits);
    uint64_t keys[kMost];
    uint32_t below[kMost], class_of[kMost];
    double rare[kMost];
    size_t m = 0;
    // Rows with equal keys may come in any order: they differ by less than `distinct`, so no cut separates them.
    const double scale = 2.0 / d.distinct;
    for (int k = 0; k < rows.n_classes; ++k) {
      if (k == common_) continue;
      for (size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i, ++m) {
        rare[m] = z[i];
        class_of[m] = static_cast<uint32_t>(k);
        keys[m] = static_cast<uint64_t>((z[i] - d.range.low) * scale) << row_bits | m;
      }
    }
    count_below(z + first_, last_ - first_, rare, m, below);
    sort_few(keys, m);
    std::fill(left.begin(), left.end(), 0.0);
    typename Criterion::Scan scan;
    scan.start(left.data(), totals);
    const auto may_win = [&](int k, double weight) {
      scan.move(k, weight, left.data(), totals);
      left[k] += weight;
      return !(scan.rough(left.data(), totals, needed) < needed);
    };
    double passed = 0.0;
    for (size_t i = 0; i < m; ++i) {
      const size_t row = keys[i] & ((uint64_t{1} << row_bits) - 1);
      const double common = static_cast<double>(below[row]) - passed;
      passed += common;
      if ((common != 0.0 && may_win(common_, common)) || may_win(static_cast<int>(class_of[row]), 1.0)) return true;
    }
    return false;
  }

  CutSearch<Criterion>& search_;
  int common_ = 0;
  size_t first_ = 0, last_ = 0;  // rows of the common class
  bool are_few_ = false, are_very_few_ = false;
};

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
