// Counts classes in equal-width bins along a direction, to find the bins that may contain the best cut, if any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/kernels.hpp"
#include "split/bin_table.hpp"
#include "split/open_bins.hpp"
#include "split/row_counts.hpp"
#include "split/tactic.hpp"

namespace oblique {

template <class Criterion>
class BinTactic final : public Tactic {
 public:
  BinTactic(CutSearch<Criterion>& search, OpenBins<Criterion>& bins) : search_(search), bins_(bins) {}

  void begin() override {
    const NodeRows& rows = *search_.rows;
    const Totals& totals = search_.totals();
    const bool unnumbered = !totals.counts && rows.n >= (std::size_t{1} << kPayloadBits);  // too many for a payload
    pays_ = !search_.strict && !unnumbered && rows.n >= (totals.counts ? kSortRows : kSortWeighted);
    if (!pays_) return;
    // Few rows per bin make the bounds tight, few bins make them cheap: about the square root of n, a power of two.
    n_bins_ = 16;
    while (n_bins_ < kMaxBins && static_cast<std::size_t>(n_bins_) * n_bins_ < 4 * rows.n) n_bins_ *= 2;
    if (counts_exactly(rows))
      counts_table_.resize(rows.n_classes, n_bins_, totals.of_class);
    else
      weights_table_.resize(rows.n_classes, n_bins_, totals.of_class);
    if (bins_.bin.size() < rows.n) bins_.bin.resize(rows.n);
  }

  bool settles(Direction& d) override {
    if (!pays_ || !is_keyable(d.range)) return false;
    const NodeRows& rows = *search_.rows;
    bins_.low = d.range.low;
    bins_.scale = static_cast<double>(n_bins_) * (1.0 - 1e-12) / (d.range.high - d.range.low);
    bin_rows(d.z, bins_.low, bins_.scale, n_bins_, bins_.bin.data(), rows.n);
    const auto all = [](int) { return true; };
    if (counts_exactly(rows)) {
      counts_.fill(rows, bins_.bin.data(), counts_table_);
      bins_.find(counts_table_, d.order, all);
    } else {
      fill_weights(rows);
      bins_.find(weights_table_, d.order, all);
    }
    return bins_.open.empty();
  }

 private:
  // With fewer rows, sorting is faster than binning. Sums of weights depend on the order of summation, and so do trees
  // of weighted rows: their limit must not change.
  static constexpr std::size_t kSortRows = 65, kSortWeighted = 24;

  void fill_weights(const NodeRows& rows) {
    std::fill_n(bins_.rows_in, n_bins_, 0u);
    for (std::size_t i = 0; i < rows.n; ++i) ++bins_.rows_in[bins_.bin[i]];
    for (int k = 0; k < rows.n_classes; ++k) {
      std::fill_n(weight_in_, n_bins_, 0.0);
      for (std::size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i)
        weight_in_[bins_.bin[i]] += search_.weight(i);
      cumulate(weight_in_, n_bins_, weights_table_.of_class(k));
      // The last edge must equal the class total to the bit, or the right side would not be empty there.
      weights_table_.of_class(k)[n_bins_] = search_.totals().of_class[k];
    }
  }

  CutSearch<Criterion>& search_;
  OpenBins<Criterion>& bins_;
  bool pays_ = false;
  int n_bins_ = 16;
  BinTable<float> counts_table_;
  BinTable<double> weights_table_;
  RowCounts counts_;
  double weight_in_[kMaxBins] = {};
};

}  // namespace oblique
