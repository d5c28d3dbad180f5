// Bounds of a direction at a node where one class has nearly all rows, like most nodes deep in a tree.
// The rows of the other classes are rare, the rows of that class are common. Between two neighboring rare rows all cuts
// have the same rare rows on the left, and their value is convex in the number of common rows on the left
// (criteria.hpp), so it is largest at one end of the stretch, directly behind one rare row or directly before the next.
// Hence no cut is better than the best of the cuts next to rare rows, assuming that each of these places has room for a
// cut. They depend only on the number of common rows below each rare row: m n comparisons for m rare rows and n common
// ones, and only the rare rows are sorted.
#pragma once

#include "split/cut_search.hpp"

namespace oblique {

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
    // Rows with equal keys may come in any order: they are nearer to each other than `distinct`, so no cut separates
    // them.
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

}  // namespace oblique
