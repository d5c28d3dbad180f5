// The rows of a node of a forest's tree, by row number.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Rows of one class at a node: a contiguous range of the node's rows.
struct ClassRun {
  int32_t code = 0;
  uint32_t n = 0;
  double weight = 0.0;
};

// The rows of one node, grouped by class.
struct Bag {
  const uint32_t* row = nullptr;   // n numbers of training rows
  const double* weight = nullptr;  // n
  size_t n = 0;
  const std::vector<ClassRun>* runs = nullptr;
  bool counts = false;  // whether all weights are whole numbers below 2^16
};

// Sum of l^2 / s on both sides of a cut: largest where the weighted Gini impurity is smallest.
inline double gini_value(double left_squares, double left, double right_squares, double right) {
  return left_squares / left + right_squares / right;
}

// A value must be greater by this factor to replace an earlier one: smaller differences are rounding.
inline constexpr double kBeats = 1.0 + 1e-9;

}  // namespace oblique
