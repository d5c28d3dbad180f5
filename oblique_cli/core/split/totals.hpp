// The classes present at a node, by weight.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace oblique {

struct GivenCriterion;

// Functions of counts that are looked up often. Those of large counts are computed, because few are needed.
class CountTable {
 public:
  static constexpr std::size_t kMost = 65536;

  // Prepares for counts up to n.
  void reach(std::size_t n, bool logarithms) {
    const std::size_t size = n < kMost ? n + 1 : kMost;
    for (std::size_t i = inverse_.size(); i < size; ++i) inverse_.push_back(i == 0 ? 0.0 : inverse_of(i));
    for (std::size_t i = x_log_x_.size(); logarithms && i < size; ++i) x_log_x_.push_back(i == 0 ? 0.0 : x_log_x_of(i));
  }

  // 1 / i and i log i; 0 for i = 0.
  double inverse(std::size_t i) const { return i < kMost ? inverse_[i] : inverse_of(i); }
  double x_log_x(std::size_t i) const { return i < kMost ? x_log_x_[i] : x_log_x_of(i); }

 private:
  static double inverse_of(std::size_t i) { return 1.0 / static_cast<double>(i); }
  static double x_log_x_of(std::size_t i) { return static_cast<double>(i) * std::log(static_cast<double>(i)); }

  std::vector<double> inverse_, x_log_x_;
};

// The classes present at a node. Weights are in units of the smallest positive one, so every row weighs at least 1.
struct Totals {
  int n_classes = 0;
  const double* of_class = nullptr;
  double n = 0.0;
  bool counts = true;                                 // all weights are 1, so every sum is an exact integer
  const CountTable* of_count = nullptr;               // when counts is true
  const GivenCriterion* runtime_criterion = nullptr;  // when the criterion is given at run time
};

}  // namespace oblique
