// Rows of a node that lie in the input table, read one stretch or a few columns at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/eigen.hpp"
#include "common/input_rows.hpp"
#include "split/node_rows.hpp"
#include "tree/levels.hpp"

namespace oblique {

class TableRows {
 public:
  // x : row-major, with one column for each entry of `levels.count`
  TableRows(const InputRows& x, const Levels& levels) : x_(x), levels_(levels) {}

  // Begins a node: row[i] is the row of x of its row i. Levels are read as their scores, or as codes if `scores` is
  // nullptr.
  void begin(const std::uint32_t* row, const double* scores) {
    row_ = row;
    scores_ = scores;
  }

  // The value of feature j in row i.
  double at(std::size_t i, std::size_t j) const;

  // Features [from, to) of rows [first, last), by columns `stride` apart: out[(j - from) * stride + i - first].
  void gather(std::size_t first, std::size_t last, std::size_t from, std::size_t to, double* out,
              std::size_t stride) const;

 private:
  InputRows x_;
  const Levels& levels_;
  const std::uint32_t* row_ = nullptr;
  const double* scores_ = nullptr;
};

// Reads all features of a node, in columns or in the table.
class Stretches {
 public:
  // Calls use(columns, from, to) for stretches [from, to) of rows [first, last), one after another: columns[j] points
  // to the values of feature j in rows from, from + 1, ... If the node has columns, there is one stretch.
  template <class Use>
  void for_each(const NodeRows& rows, std::size_t first, std::size_t last, const Use& use) {
    const std::size_t p = rows.columns.size();
    columns_.resize(p);
    if (!rows.table) {
      for (std::size_t j = 0; j < p; ++j) columns_[j] = rows.columns[j] + first;
      if (first < last) use(columns_.data(), first, last);
      return;
    }
    // All columns of a stretch fit in the second cache; values of equal index do not share a set of it.
    const std::size_t length = std::clamp<std::size_t>(32768 / p, 64, 1024), stride = length + 8;
    buffer_.resize(p * stride);
    for (std::size_t j = 0; j < p; ++j) columns_[j] = buffer_.data() + j * stride;
    for (std::size_t from = first; from < last; from += length) {
      const std::size_t to = std::min(from + length, last);
      rows.table->gather(from, to, 0, p, buffer_.data(), stride);
      use(columns_.data(), from, to);
    }
  }

 private:
  std::vector<const double*> columns_;
  Vector buffer_;
};

}  // namespace oblique
