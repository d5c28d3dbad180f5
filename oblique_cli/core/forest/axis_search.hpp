// Exact search for the best axis-parallel cut of a node, on ranks instead of values.
//
// Ranks are whole numbers, so a node's rows are counted per rank where few ranks occur, and sorted by them as integers
// elsewhere. Gini is followed in O(1) a row: the sums of squared class weights on both sides change by one term.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/key_sort.hpp"

namespace oblique {

// Rows of one class at a node: a stretch of the node's rows.
struct ClassRun {
  std::int32_t code = 0;
  std::uint32_t n = 0;
  double weight = 0.0;
};

// The rows of one node, grouped by class.
struct Bag {
  const std::uint32_t* row = nullptr;  // n numbers of training rows
  const double* weight = nullptr;      // n
  std::size_t n = 0;
  const std::vector<ClassRun>* runs = nullptr;
  bool counts = false;  // whether all weights are whole numbers below 2^16
};

// Sum of l^2 / s on both sides of a cut: largest where the weighted Gini impurity is smallest.
inline double gini_value(double left_squares, double left, double right_squares, double right) {
  return left_squares / left + right_squares / right;
}

// A value must be greater by this factor to replace an earlier one: equal cuts differ by rounding only.
inline constexpr double kBeats = 1.0 + 1e-9;

class AxisSearch {
 public:
  struct Best {
    int feature = -1;        // -1: no feature varies
    std::uint32_t rank = 0;  // rows of this rank and lower go left
    double value = 0.0;
  };

  void begin(const Bag& bag) {
    bag_ = &bag;
    best = Best{};
    total_ = squares_ = 0.0;
    totals_.clear();
    for (const ClassRun& run : *bag.runs) {
      totals_.push_back(run.weight);
      total_ += run.weight;
      squares_ += run.weight * run.weight;
    }
    left_.resize(totals_.size());
    if (rank_.size() < bag.n) {
      rank_.resize(bag.n);
      keys_.resize(bag.n);
    }
    if (!bag.counts) {
      class_.clear();
      for (std::size_t k = 0; k < bag.runs->size(); ++k)
        class_.insert(class_.end(), (*bag.runs)[k].n, static_cast<std::uint32_t>(k));
    }
  }

  // Searches one feature; false if it does not vary. rank : of every training row
  bool feature(int j, const std::uint32_t* rank) {
    const std::size_t n = bag_->n;
    std::uint32_t low = UINT32_MAX, high = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t r = rank[bag_->row[i]];
      rank_[i] = r;
      low = std::min(low, r);
      high = std::max(high, r);
    }
    if (low == high) return false;
    feature_ = j;
    const std::size_t cells = (static_cast<std::size_t>(high - low) + 1) * totals_.size();
    if (cells <= 4 * n)
      by_counting(low, high);
    else
      by_sorting();
    return true;
  }

  // Searches one feature of a node with `counts` whose rows stand in order. keys : as in SortedRows; facts : of every
  // training row, its class in the upper 16 bits and its weight in the lower
  void sorted_feature(int j, const std::uint64_t* keys, const std::uint32_t* facts) {
    const std::size_t n = bag_->n;
    if (keys[0] >> 32 == keys[n - 1] >> 32) return;
    feature_ = j;
    const auto& runs = *bag_->runs;
    const auto most = static_cast<std::size_t>(runs.back().code) + 1;  // runs are in the order of their classes
    if (left_.size() < most) {
      left_.resize(most);
      totals_.resize(most);
    }
    for (const ClassRun& run : runs) {
      left_[static_cast<std::size_t>(run.code)] = 0.0;
      totals_[static_cast<std::size_t>(run.code)] = run.weight;
    }
    Sides sides(*this);
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const std::uint64_t key = keys[i];
      const std::uint32_t fact = facts[static_cast<std::uint32_t>(key)];
      sides.move(fact >> 16, static_cast<double>(fact & 0xffff));
      if (key >> 32 != keys[i + 1] >> 32) sides.consider(static_cast<std::uint32_t>(key >> 32));
    }
  }

  Best best;

 private:
  // Both sides of a cut that moves to the right. A local object, so that its sums stay in registers.
  class Sides {
   public:
    explicit Sides(AxisSearch& search)
        : search_(search), left_of_(search.left_.data()), totals_(search.totals_.data()),
          right_squares_(search.squares_), right_(search.total_), beats_(search.beats()) {}
    void move(std::size_t k, double w) {
      const double l = left_of_[k];
      left_squares_ += w * (2.0 * l + w);
      right_squares_ -= w * (2.0 * (totals_[k] - l) - w);
      left_of_[k] = l + w;
      left_ += w;
      right_ -= w;
    }
    // Divides only where products say that the cut may be better: they tell to 1e-15 or so, and beats_ leaves more.
    void consider(std::uint32_t rank) {
      if (left_squares_ * right_ + right_squares_ * left_ < beats_ * (left_ * right_)) return;
      if (!(left_ > 0.0 && right_ > 0.0)) return;  // weights too small to be seen beside the others
      const double value = gini_value(left_squares_, left_, right_squares_, right_);
      if (search_.best.feature >= 0 && !(value > search_.best.value * kBeats)) return;
      search_.best = {search_.feature_, rank, value};
      beats_ = search_.beats();
    }

   private:
    AxisSearch& search_;
    double* left_of_;
    const double* totals_;
    double left_squares_ = 0.0, left_ = 0.0, right_squares_, right_, beats_;
  };
  // A value that is surely not enough; of real weights nothing is said, as products of them may overflow or vanish.
  double beats() const { return best.feature >= 0 && bag_->counts ? best.value : 0.0; }

  void by_counting(std::uint32_t low, std::uint32_t high) {
    const std::size_t n_classes = totals_.size(), n_ranks = static_cast<std::size_t>(high - low) + 1;
    cells_.assign(n_ranks * n_classes, 0.0);
    present_.assign(n_ranks, 0);
    std::size_t i = 0;
    for (std::size_t k = 0; k < n_classes; ++k)
      for (const std::size_t end = i + (*bag_->runs)[k].n; i < end; ++i) {
        const std::size_t r = rank_[i] - low;
        cells_[r * n_classes + k] += bag_->weight[i];
        present_[r] = 1;
      }
    std::fill(left_.begin(), left_.end(), 0.0);
    Sides sides(*this);
    for (std::size_t r = 0; r + 1 < n_ranks; ++r) {
      if (!present_[r]) continue;
      for (std::size_t k = 0; k < n_classes; ++k)
        if (const double w = cells_[r * n_classes + k]; w > 0.0) sides.move(k, w);
      sides.consider(low + static_cast<std::uint32_t>(r));
    }
  }

  // A key holds the rank, then class and weight if they fit, or the place of the row at the node.
  void by_sorting() {
    const std::size_t n = bag_->n;
    if (bag_->counts) {
      std::size_t i = 0;
      for (std::size_t k = 0; k < totals_.size(); ++k)
        for (const std::size_t end = i + (*bag_->runs)[k].n; i < end; ++i)
          keys_[i] = static_cast<std::uint64_t>(rank_[i]) << 32 | k << 16 | static_cast<std::uint64_t>(bag_->weight[i]);
    } else {
      for (std::size_t i = 0; i < n; ++i) keys_[i] = static_cast<std::uint64_t>(rank_[i]) << 32 | i;
    }
    sort_.sort(keys_.data(), n);
    std::fill(left_.begin(), left_.end(), 0.0);
    Sides sides(*this);
    const bool counts = bag_->counts;
    const std::uint64_t* keys = keys_.data();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const std::uint64_t key = keys[i];
      if (counts)
        sides.move(key >> 16 & 0xffff, static_cast<double>(key & 0xffff));
      else
        sides.move(class_[key & 0xffffffff], bag_->weight[key & 0xffffffff]);
      if (key >> 32 != keys[i + 1] >> 32) sides.consider(static_cast<std::uint32_t>(key >> 32));
    }
  }

  const Bag* bag_ = nullptr;
  int feature_ = 0;
  double total_ = 0.0, squares_ = 0.0;
  std::vector<double> totals_, left_, cells_;
  std::vector<unsigned char> present_;
  std::vector<std::uint32_t> rank_, class_;
  std::vector<std::uint64_t> keys_;
  KeySort sort_;
};

}  // namespace oblique
