// Counts classes in equal-width bins along a direction, to find the bins that may contain the best cut, if any.
#pragma once

#include "split/open_bins.hpp"

namespace oblique {

template <class Criterion>
class BinTactic final : public Tactic {
 public:
  BinTactic(CutSearch<Criterion>& search, OpenBins<Criterion>& bins) : search_(search), bins_(bins) {}

  void begin() override {
    const NodeRows& rows = *search_.rows;
    const Totals& totals = search_.totals();
    const bool unnumbered = !totals.counts && rows.n >= (size_t{1} << kPayloadBits);  // too many for a payload
    pays_ = !search_.strict && !unnumbered && rows.n >= (totals.counts ? kSortRows : kSortWeighted);
    if (!pays_) return;
    // Few rows per bin make the bounds tight, few bins make them cheap: about the square root of n, a power of two.
    n_bins_ = 16;
    while (n_bins_ < kMaxBins && static_cast<size_t>(n_bins_) * n_bins_ < 4 * rows.n) n_bins_ *= 2;
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
  static constexpr size_t kSortRows = 65, kSortWeighted = 24;

  void fill_weights(const NodeRows& rows) {
    std::fill_n(bins_.rows_in, n_bins_, 0u);
    for (size_t i = 0; i < rows.n; ++i) ++bins_.rows_in[bins_.bin[i]];
    for (int k = 0; k < rows.n_classes; ++k) {
      std::fill_n(weight_in_, n_bins_, 0.0);
      for (size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) weight_in_[bins_.bin[i]] += search_.weight(i);
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

// Divides crowded bins before any of their rows is sorted.
// Projections with few distinct values, such as those of features with two values, leave most bins empty and the others
// crowded. The tactic divides the open bins into parts, the more the more rows they hold, and joins the bins between
// them; bounds of parts are tight.
template <class Criterion>
class PartTactic final : public Tactic {
 public:
  PartTactic(CutSearch<Criterion>& search, OpenBins<Criterion>& bins) : search_(search), bins_(bins) {}

  void begin() override {}

  // Only counts are divided: sums of counts do not depend on the bins.
  bool settles(Direction& d) override {
    if (!bins_.counts() || bins_.open.size() > kMaxBins / 2) return false;
    const float rows = bins_.rows_of_open();
    if (rows < kCrowd || is_tied(d.z)) return false;
    divide(*bins_.counts(), d.z, rows);
    bins_.find(table_, d.order, [this](int part) { return of_open_[part] != 0; });
    return bins_.open.empty();
  }

 private:
  static constexpr float kCrowd = 64.0f;  // rows: fewer are sorted quickly

  // Whether rows of one bin seem to have one value, so that a division has no effect.
  bool is_tied(const double* z) const {
    constexpr size_t n_samples = 32;
    const double* first_of[kMaxBins] = {};
    bool same = false;
    for (size_t a = 0; a < n_samples; ++a) {
      const size_t i = a * (search_.rows->n - 1) / (n_samples - 1);
      const double*& first = first_of[bins_.bin[i]];
      if (first && *first != z[i]) return false;
      same = same || first;
      first = z + i;
    }
    return same;
  }

  void divide(const BinTable<float>& table, const double* z, float rows) {
    const int n_open = static_cast<int>(bins_.open.size());
    const float wanted = std::min(std::max(0.5f * rows, 64.0f), static_cast<float>(kMaxBins));
    const float spare = std::max(wanted - static_cast<float>(2 * n_open + 1), 0.0f);
    int next = 0, at = 0;
    const auto close = [&](int last) {  // joins bins [at, last)
      if (at == last) return;
      for (; at < last; ++at) {
        first_part_[at] = next;
        n_parts_[at] = 1.0;
      }
      of_open_[next++] = 0;
    };
    for (const int b : bins_.open) {
      close(b);
      const int parts = 1 + static_cast<int>(spare * (table.s[b + 1] - table.s[b]) / rows);
      first_part_[b] = next;
      n_parts_[b] = parts;
      std::fill_n(of_open_ + next, parts, uint8_t{1});
      next += parts;
      at = b + 1;
    }
    close(table.n_bins);
    const int padded = (next + 15) / 16 * 16;
    std::fill(of_open_ + next, of_open_ + padded, uint8_t{0});
    const NodeRows& node = *search_.rows;
    table_.resize(node.n_classes, padded, search_.totals().of_class);
    part_rows(z, bins_.low, bins_.scale, first_part_, n_parts_, bins_.bin.data(), node.n);
    counts_.fill(node, bins_.bin.data(), table_);
  }

  CutSearch<Criterion>& search_;
  OpenBins<Criterion>& bins_;
  BinTable<float> table_;
  RowCounts counts_;
  int first_part_[kMaxBins] = {};   // of a bin
  double n_parts_[kMaxBins] = {};   // of a bin
  uint8_t of_open_[kMaxBins] = {};  // whether a part belongs to an open bin
};

}  // namespace oblique
