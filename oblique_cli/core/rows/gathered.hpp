// The features drawn at a node, by columns.
#pragma once

#include "split/bag.hpp"
#include "split/node_rows.hpp"

namespace oblique {

// Column j of m starts at raw + j * n.
struct Gathered {
  const double* raw = nullptr;
  size_t n = 0, m = 0;

  const double* column(size_t j) const { return raw + j * n; }

  // Projections on w by the arithmetic of prediction.
  void project(const double* w, double* z) const {
    for (size_t i = 0; i < n; ++i) z[i] = w[0] * raw[i];
    for (size_t j = 1; j < m; ++j) {
      const double* x = column(j);
      const double c = w[j];
      for (size_t i = 0; i < n; ++i) z[i] += c * x[i];
    }
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
