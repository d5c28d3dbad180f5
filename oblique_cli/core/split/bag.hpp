// The rows of a node of a forest's tree, by row number.
#pragma once

#include "common/kernels.hpp"
#include "split/node_rows.hpp"

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

// The features drawn at a node: column j of m starts at raw + j * n.
struct Gathered {
  const double* raw = nullptr;
  size_t n = 0, m = 0;

  const double* column(size_t j) const { return raw + j * n; }

  // Projections on w by the arithmetic of prediction.
  void project(const double* w, double* z) const {
    for (size_t i = 0; i < n; ++i) z[i] = w[0] * raw[i];
    for (size_t j = 1; j < m; ++j) add_scaled(w[j], column(j), z, n);
  }
};

// The rows of a forest's node in the form that searches and heuristics use for every node.
class BagRows {
 public:
  // unweighted : whether every row counts once
  const NodeRows& take(const Bag& bag, const Gathered& x, bool unweighted = false) {
    rows_.columns.clear();
    for (size_t j = 0; j < x.m; ++j) rows_.columns.push_back(x.column(j));
    rows_.weights = unweighted ? nullptr : bag.weight;
    rows_.n = bag.n;
    rows_.n_classes = static_cast<int>(bag.runs->size());
    offsets_.assign(1, 0);
    for (const ClassRun& run : *bag.runs) offsets_.push_back(offsets_.back() + run.n);
    rows_.first_row = offsets_.data();
    return rows_;
  }

 private:
  NodeRows rows_;
  std::vector<size_t> offsets_;
};

}  // namespace oblique
