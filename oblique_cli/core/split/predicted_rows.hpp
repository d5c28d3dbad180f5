// The rows of a node in the arithmetic of prediction.
#pragma once

#include "split/table_rows.hpp"

namespace oblique {

// One row at a time, with every level replaced by its score at the node. Projections here send a row to the side to
// which prediction will send it, to the bit.
class PredictedRows {
 public:
  // x : row-major, with one column for each entry of `levels.count`
  PredictedRows(const InputRows& x, const Levels& levels)
      : x_(x), levels_(levels), row_buffer_(levels.count.size()), scored_row_(levels) {}

  // Begins a node: row[i] is the row of x of its row i of n, and `scores` are those of its levels.
  void begin(const uint32_t* row, size_t n, const double* scores) {
    row_ = row;
    n_ = n;
    scores_ = scores;
  }

  // Begins a node of a forest's tree, whose prediction sums one feature after another: n rows by columns.
  void begin(const std::vector<const double*>& columns, size_t n) {
    columns_ = &columns;
    n_ = n;
  }

  // z[i] = w'x for row i.
  void project(const double* w, double* z) { project(w, 0, n_, z); }
  // The same for rows [first, last) of the node.
  void project(const double* w, size_t first, size_t last, double* z) {
    if (columns_) return add_up(w, first, last, z);
    const size_t p = levels_.count.size();
    if (x_.doubles() && !levels_.any()) return dot_rows(w, x_.doubles(), row_ + first, last - first, p, z + first);
    for (size_t i = first; i < last; ++i) {
      const double* x = x_.row(row_[i], p, row_buffer_.data());
      if (levels_.any()) {
        scored_row_.start(x);
        x = scored_row_.at(scores_);
      }
      z[i] = dot_row(w, x, p);
    }
  }

 private:
  void add_up(const double* w, size_t first, size_t last, double* z) const {
    const std::vector<const double*>& columns = *columns_;
    for (size_t i = first; i < last; ++i) z[i] = w[0] * columns[0][i];
    for (size_t j = 1; j < columns.size(); ++j) {
      const double* x = columns[j];
      const double c = w[j];
      for (size_t i = first; i < last; ++i) z[i] += c * x[i];
    }
  }

  InputRows x_;
  const Levels& levels_;
  std::vector<double> row_buffer_;
  ScoredRow scored_row_;
  const uint32_t* row_ = nullptr;
  size_t n_ = 0;
  const double* scores_ = nullptr;
  const std::vector<const double*>* columns_ = nullptr;
};

}  // namespace oblique
