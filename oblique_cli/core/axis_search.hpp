// Exact search for the best axis-parallel cut of a node, on ranks instead of values.
//
// Ranks are whole numbers, so a node's rows are counted per rank where few ranks occur, and sorted by them as integers
// elsewhere. Gini is followed in O(1) a row: the sums of squared class weights on both sides change by one term.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "key_sort.hpp"

namespace oblique {

// Rows of one class at a node: a stretch of the node's rows.
struct ClassRun {
  std::int32_t code = 0;
  std::uint32_t n = 0;
  double weight = 0.0;
};

// The rows of one node, grouped by class.
struct Bag {
  const std::uint32_t* row = nullptr;     // n numbers of training rows
  const double* weight = nullptr;         // n
  std::size_t n = 0;
  const std::vector<ClassRun>* runs = nullptr;
  bool counts = false;                    // whether all weights are whole numbers below 2^16
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
    int feature = -1;            // -1: no feature varies
    std::uint32_t rank = 0;      // rows of this rank and lower go left
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

  Best best;

 private:
  void start() {
    std::fill(left_.begin(), left_.end(), 0.0);
    left_squares_ = left_sum_ = 0.0;
    right_squares_ = squares_;
    right_sum_ = total_;
  }
  void move(std::size_t k, double w) {
    const double l = left_[k];
    left_squares_ += w * (2.0 * l + w);
    right_squares_ -= w * (2.0 * (totals_[k] - l) - w);
    left_[k] = l + w;
    left_sum_ += w;
    right_sum_ -= w;
  }
  void consider(std::uint32_t rank) {
    if (!(left_sum_ > 0.0 && right_sum_ > 0.0)) return;  // weights too small to be seen beside the others
    const double value = gini_value(left_squares_, left_sum_, right_squares_, right_sum_);
    if (best.feature < 0 || value > best.value * kBeats) best = {feature_, rank, value};
  }

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
    start();
    for (std::size_t r = 0; r + 1 < n_ranks; ++r) {
      if (!present_[r]) continue;
      for (std::size_t k = 0; k < n_classes; ++k)
        if (const double w = cells_[r * n_classes + k]; w > 0.0) move(k, w);
      consider(low + static_cast<std::uint32_t>(r));
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
    start();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const std::uint64_t key = keys_[i];
      if (bag_->counts)
        move(key >> 16 & 0xffff, static_cast<double>(key & 0xffff));
      else
        move(class_[key & 0xffffffff], bag_->weight[key & 0xffffffff]);
      if (key >> 32 != keys_[i + 1] >> 32) consider(static_cast<std::uint32_t>(key >> 32));
    }
  }

  const Bag* bag_ = nullptr;
  int feature_ = 0;
  double total_ = 0.0, squares_ = 0.0;
  double left_squares_ = 0.0, right_squares_ = 0.0, left_sum_ = 0.0, right_sum_ = 0.0;
  std::vector<double> totals_, left_, cells_;
  std::vector<unsigned char> present_;
  std::vector<std::uint32_t> rank_, class_;
  std::vector<std::uint64_t> keys_;
  KeySort sort_;
};

}  // namespace oblique
