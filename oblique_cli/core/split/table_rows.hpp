// Rows of a node that lie in the input table, read one stretch or a few columns at a time.
#pragma once

#include "common/eigen.hpp"
#include "common/interrupt.hpp"
#include "split/node_rows.hpp"
#include "tree/levels.hpp"

namespace oblique {

// T: double or float
template <class T>
void gather_of(const T* x, size_t p, const uint32_t* row, size_t n, size_t from, size_t to, double* out,
               size_t stride) {
  constexpr size_t ahead = 16;  // rows lie anywhere in memory
  for (size_t i = 0; i < n; ++i) {
#if defined(__GNUC__)
    if (i + ahead < n) {
      const T* next = x + row[i + ahead] * p;
      for (size_t j = from; j < to; j += 64 / sizeof(T)) __builtin_prefetch(next + j);
      __builtin_prefetch(next + to - 1);
    }
#endif
    const T* values = x + row[i] * p;
    for (size_t j = from; j < to; ++j) out[(j - from) * stride + i] = static_cast<double>(values[j]);
  }
}

class TableRows {
 public:
  // x : row-major, with one column for each entry of `levels.count`
  TableRows(const InputRows& x, const Levels& levels) : x_(x), levels_(levels) {}

  // Begins a node: row[i] is the row of x of its row i. Levels are read as scores, or as codes without `scores`.
  void begin(const uint32_t* row, const double* scores) {
    row_ = row;
    scores_ = scores;
  }

  // The value of feature j in row i.
  double at(size_t i, size_t j) const {
    const double value = x_.at(row_[i], j, levels_.count.size());
    const int32_t count = levels_.count[j];
    if (count == 0) return value;
    const int32_t level = level_of(value, count);
    if (!scores_) return static_cast<double>(level);
    if (level < 0) return 0.0;
    const size_t q = static_cast<size_t>(std::lower_bound(levels_.features.begin(), levels_.features.end(), j) -
                                         levels_.features.begin());
    return scores_[levels_.offset[q] + static_cast<size_t>(level)];
  }

  // Features [from, to) of rows [first, last), by columns `stride` apart: out[(j - from) * stride + i - first].
  void gather(size_t first, size_t last, size_t from, size_t to, double* out, size_t stride) const {
    const size_t p = levels_.count.size(), n = last - first;
    if (x_.doubles())
      gather_of(x_.doubles(), p, row_ + first, n, from, to, out, stride);
    else
      gather_of(x_.singles(), p, row_ + first, n, from, to, out, stride);
    for (const size_t j : levels_.features) {
      if (j < from || j >= to) continue;
      for (size_t i = 0; i < n; ++i) out[(j - from) * stride + i] = at(first + i, j);
    }
    checkpoint(n * (to - from));
  }

 private:
  InputRows x_;
  const Levels& levels_;
  const uint32_t* row_ = nullptr;
  const double* scores_ = nullptr;
};

// Reads all features of a node, in columns or in the table.
class Stretches {
 public:
  // Calls use(columns, from, to) for stretches [from, to) of rows [first, last), one after another: columns[j] points
  // to the values of feature j in rows from, from + 1, ... If the node has columns, there is one stretch.
  template <class Use>
  void for_each(const NodeRows& rows, size_t first, size_t last, const Use& use) {
    const size_t p = rows.columns.size();
    columns_.resize(p);
    if (!rows.table) {
      for (size_t j = 0; j < p; ++j) columns_[j] = rows.columns[j] + first;
      if (first < last) use(columns_.data(), first, last);
      return;
    }
    // All columns of a stretch fit in the second cache; values of equal index do not share a set of it.
    const size_t length = std::clamp<size_t>(32768 / p, 64, 1024), stride = length + 8;
    buffer_.resize(p * stride);
    for (size_t j = 0; j < p; ++j) columns_[j] = buffer_.data() + j * stride;
    for (size_t from = first; from < last; from += length) {
      const size_t to = std::min(from + length, last);
      rows.table->gather(from, to, 0, p, buffer_.data(), stride);
      use(columns_.data(), from, to);
    }
  }

 private:
  std::vector<const double*> columns_;
  Vector buffer_;
};

// One row at a time, with levels replaced by scores. A projection sends a row to the side of prediction, to the bit.
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

  // Begins a node of n rows by columns in a forest's tree, whose predictions sum one feature after another.
  void begin(const std::vector<const double*>& columns, size_t n) {
    columns_ = &columns;
    n_ = n;
  }

  // z[i] = w'x for row i.
  void project(const double* w, double* z) {
    if (columns_) return combine_columns(columns_->data(), w, columns_->size(), z, n_);
    project(w, 0, n_, z);
  }
  // The same for rows [first, last) of the node of a single tree.
  void project(const double* w, size_t first, size_t last, double* z) {
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
