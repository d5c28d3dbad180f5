// Sorts the rows of the open bins, or all rows if no bins were counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "split/key_scan.hpp"
#include "split/open_bins.hpp"
#include "split/tactic.hpp"

namespace oblique {

template <class Criterion>
class SortTactic final : public Tactic {
 public:
  SortTactic(CutSearch<Criterion>& search, OpenBins<Criterion>& bins) : search_(search), bins_(bins), scan_(search) {}

  void begin() override {
    scan_.forget();
    fits_ = !search_.strict && (search_.totals().counts || search_.rows->n < (std::size_t{1} << kPayloadBits));
  }

  bool settles(Direction& d) override {
    if (!fits_ || !is_keyable(d.range)) return false;
    ++search_.counts.refined;
    scan_.begin(d);
    if (!bins_.with_table([&](const auto& table) { sort_open(table, d.z); })) scan_.scan_all(d.z);
    return true;
  }

 private:
  static constexpr std::uint8_t kOpen = 1, kFollows = 2;

  // One pass over the rows gathers the open bins, and the smallest projection of the bin after each.
  template <class Table>
  void sort_open(const Table& table, const double* z) {
    const int last_bin = table.last_filled();
    std::fill_n(role_, table.n_bins, std::uint8_t{0});
    scan_.lay_out(bins_);
    for (const int b : bins_.open) {
      role_[b] |= kOpen;
      next_[b] = b + 1;
      while (next_[b] <= last_bin && !table.filled(next_[b])) ++next_[b];
      if (next_[b] > last_bin) continue;
      role_[next_[b]] |= kFollows;
      smallest_[next_[b]] = std::numeric_limits<double>::infinity();
    }
    const NodeRows& rows = *search_.rows;
    const std::uint8_t* bin_of = bins_.bin.data();
    for (int k = 0; k < rows.n_classes; ++k)
      for (std::size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) {
        const int bin = bin_of[i];
        const std::uint8_t role = role_[bin];
        if (!role) continue;
        if (role & kOpen) scan_.add(bin, z[i], i, k);
        if (role & kFollows) smallest_[bin] = std::min(smallest_[bin], z[i]);
      }
    scan_.scan_open(bins_, [&](int b) {
      return next_[b] <= last_bin ? smallest_[next_[b]] : std::numeric_limits<double>::infinity();
    });
  }

  CutSearch<Criterion>& search_;
  OpenBins<Criterion>& bins_;
  KeyScan<Criterion> scan_;
  bool fits_ = false;
  std::uint8_t role_[kMaxBins] = {};
  int next_[kMaxBins] = {};
  double smallest_[kMaxBins] = {};
};

}  // namespace oblique
