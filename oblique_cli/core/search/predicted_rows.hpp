// The rows of a node as prediction sees them.
#pragma once

#include <cstddef>
#include <vector>

#include "common/kernels.hpp"
#include "tree/levels.hpp"

namespace oblique {

// One row at a time, every level replaced by its score at the node. A hyperplane that is projected here sends a row to
// the side where prediction will send it, to the bit.
class PredictedRows {
 public:
  // x : row-major, with one column for each of `levels.count`
  PredictedRows(const double* x, const Levels& levels) : x_(x), levels_(levels), scored_row_(levels) {}

  // Turns to a node: row[i] is the place in x of its row i of n, and `scores` are those of its levels.
  void begin(const std::size_t* row, std::size_t n, const double* scores) {
    row_ = row;
    n_ = n;
    scores_ = scores;
  }

  // Turns to a node of a forest's tree, whose prediction adds up one feature after another: n rows by columns.
  void begin(const std::vector<const double*>& columns, std::size_t n) {
    columns_ = &columns;
    n_ = n;
  }

  // z[i] = w'x for row i.
  void project(const double* w, double* z) {
    if (columns_) return add_up(w, z);
    const std::size_t p = levels_.count.size();
    for (std::size_t i = 0; i < n_; ++i) {
      const double* x = x_ + row_[i] * p;
      if (levels_.any()) {
        scored_row_.start(x);
        x = scored_row_.at(scores_);
      }
      z[i] = dot_row(w, x, p);
    }
  }

 private:
  void add_up(const double* w, double* z) const {
    const std::vector<const double*>& columns = *columns_;
    for (std::size_t i = 0; i < n_; ++i) z[i] = w[0] * columns[0][i];
    for (std::size_t j = 1; j < columns.size(); ++j) {
      const double* x = columns[j];
      const double c = w[j];
      for (std::size_t i = 0; i < n_; ++i) z[i] += c * x[i];
    }
  }

  const double* x_;
  const Levels& levels_;
  ScoredRow scored_row_;
  const std::size_t* row_ = nullptr;
  std::size_t n_ = 0;
  const double* scores_ = nullptr;
  const std::vector<const double*>* columns_ = nullptr;
};

}  // namespace oblique
