// Divides crowded bins before any of their rows is sorted.
// Projections with few distinct values, such as those of features with two values, leave most bins empty and the others
// crowded. The tactic divides the open bins into parts, the more the more rows they hold, and joins the bins between
// them; bounds of parts are tight.
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
    constexpr std::size_t n_samples = 32;
    const double* first_of[kMaxBins] = {};
    bool same = false;
    for (std::size_t a = 0; a < n_samples; ++a) {
      const std::size_t i = a * (search_.rows->n - 1) / (n_samples - 1);
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
      std::fill_n(of_open_ + next, parts, std::uint8_t{1});
      next += parts;
      at = b + 1;
    }
    close(table.n_bins);
    const int padded = (next + 15) / 16 * 16;
    std::fill(of_open_ + next, of_open_ + padded, std::uint8_t{0});
    const NodeRows& node = *search_.rows;
    table_.resize(node.n_classes, padded, search_.totals().of_class);
    part_rows(z, bins_.low, bins_.scale, first_part_, n_parts_, bins_.bin.data(), node.n);
    counts_.fill(node, bins_.bin.data(), table_);
  }

  CutSearch<Criterion>& search_;
  OpenBins<Criterion>& bins_;
  BinTable<float> table_;
  RowCounts counts_;
  int first_part_[kMaxBins] = {};        // of a bin
  double n_parts_[kMaxBins] = {};        // of a bin
  std::uint8_t of_open_[kMaxBins] = {};  // whether a part belongs to an open bin
};

}  // namespace oblique
