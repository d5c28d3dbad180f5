// The rows of a tree while it grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/divide.hpp"
#include "common/eigen.hpp"
#include "growth/crimcoord.hpp"
#include "search/node_rows.hpp"
#include "search/predicted_rows.hpp"
#include "tree/levels.hpp"

namespace oblique {

// One working copy of X, stored by columns and grouped by class. The rows of a node are a contiguous range of it. A
// split partitions the range in place and keeps the order of rows inside each class, so memory stays flat and the class
// of a row is known from its place. Columns of qualitative features hold level codes; `node` replaces them by the
// scores that the levels have there.
class WorkingRows {
 public:
  // x: (n, p) row-major, finite but for cells of qualitative features, which hold level codes or anything else for no
  // level; y: codes; weights: n positive numbers, smallest 1, or nullptr. canonical: whether the rows of a class are
  // put into the order of their values, so that sums do not depend on the order in which rows came.
  WorkingRows(const double* x, const std::int32_t* y, const double* weights, std::size_t n, const Levels& levels,
              bool canonical)
      : n_(n), p_(levels.count.size()), levels_(levels), predicted_(x, levels) {
    const auto cell = [&](std::size_t i, std::size_t j) {
      const double value = x[i * p_ + j];
      return levels.count[j] > 0 ? static_cast<double>(level_of(value, levels.count[j])) : value;
    };
    row_.resize(n);
    std::iota(row_.begin(), row_.end(), std::size_t{0});
    if (canonical) {
      std::sort(row_.begin(), row_.end(), [&](std::size_t a, std::size_t b) {
        if (y[a] != y[b]) return y[a] < y[b];
        return comes_before(cell, weights, a, b);
      });
    } else {
      std::stable_sort(row_.begin(), row_.end(), [&](std::size_t a, std::size_t b) { return y[a] < y[b]; });
    }
    columns_.resize(n * p_);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < p_; ++j) columns_[j * n + i] = cell(row_[i], j);
    code_.resize(n);
    for (std::size_t i = 0; i < n; ++i) code_[i] = y[row_[i]];
    if (weights) {
      weight_.resize(n);
      for (std::size_t i = 0; i < n; ++i) weight_[i] = weights[row_[i]];
    }
  }

  std::int32_t code(std::size_t i) const { return code_[i]; }
  double weight(std::size_t i) const { return weight_.empty() ? 1.0 : weight_[i]; }

  // Turns to the node of rows [first, last), which are valid until the next turn.
  const NodeRows& node(std::size_t first, std::size_t last) {
    NodeRows& rows = rows_;
    rows.n = last - first;
    rows.columns.resize(p_);
    for (std::size_t j = 0; j < p_; ++j) rows.columns[j] = columns_.data() + j * n_ + first;
    rows.weights = weight_.empty() ? nullptr : weight_.data() + first;
    offsets_.assign(1, 0);
    for (std::size_t i = first + 1; i < last; ++i)
      if (code_[i] != code_[i - 1]) offsets_.push_back(i - first);
    offsets_.push_back(rows.n);
    rows.n_classes = static_cast<int>(offsets_.size()) - 1;
    rows.first_row = offsets_.data();
    if (levels_.any() && rows.n_classes > 1) score_levels();
    predicted_.begin(row_.data() + first, rows.n, scores_.data());
    return rows;
  }

  // The same rows of the node as prediction sees them, and the scores of its levels, in the order of Levels::offset.
  PredictedRows& predicted() { return predicted_; }
  const Vector& level_scores() const { return scores_; }

  // Puts the rows of [first, last) for which goes_left is 1 before the others.
  void partition(std::size_t first, std::size_t last, const unsigned char* goes_left) {
    const std::size_t n = last - first;
    for (std::size_t j = 0; j < p_; ++j) divide(columns_.data() + j * n_ + first, n, goes_left);
    divide(row_.data() + first, n, goes_left);
    divide(code_.data() + first, n, goes_left);
    if (!weight_.empty()) divide(weight_.data() + first, n, goes_left);
  }

 private:
  // Canonical order of the rows of a class: by value, then by weight. cell(i, j) is the value of row i in column j.
  template <class Cell>
  bool comes_before(const Cell& cell, const double* weights, std::size_t a, std::size_t b) const {
    for (std::size_t j = 0; j < p_; ++j) {
      const double left = cell(a, j), right = cell(b, j);
      if (left != right) return left < right;
    }
    if (weights && weights[a] != weights[b]) return weights[a] < weights[b];
    return a < b;
  }

  // Gives the levels of the node their scores, and lets the columns of qualitative features point to them.
  void score_levels() {
    scores_.resize(levels_.width);
    scored_columns_.resize(levels_.features.size() * rows_.n);
    for (std::size_t q = 0; q < levels_.features.size(); ++q) {
      const std::size_t j = levels_.features[q];
      const double* codes = rows_.columns[j];
      const std::size_t n_levels = static_cast<std::size_t>(levels_.count[j]);
      const std::size_t n_present = static_cast<std::size_t>(rows_.n_classes);
      table_.assign(n_levels * n_present, 0.0);
      for (std::size_t k = 0; k < n_present; ++k)
        for (std::size_t i = rows_.first_row[k]; i < rows_.first_row[k + 1]; ++i) {
          if (codes[i] < 0.0) continue;
          table_[static_cast<std::size_t>(codes[i]) * n_present + k] += rows_.weights ? rows_.weights[i] : 1.0;
        }
      double* scores = scores_.data() + levels_.offset[q];
      crimcoord_.solve(table_.data(), n_levels, n_present, scores);
      double* scored = scored_columns_.data() + q * rows_.n;
      for (std::size_t i = 0; i < rows_.n; ++i)
        scored[i] = codes[i] < 0.0 ? 0.0 : scores[static_cast<std::size_t>(codes[i])];
      rows_.columns[j] = scored;
    }
  }

  template <class T>
  void divide(T* values, std::size_t n, const unsigned char* goes_left) {
    buffer_.resize(n * sizeof(T));
    divide_in_order(values, n, reinterpret_cast<T*>(buffer_.data()),
                    [goes_left](std::size_t i, const T&) -> std::size_t { return 1u - goes_left[i]; });
  }

  std::size_t n_, p_;
  const Levels& levels_;
  std::vector<std::size_t> row_;  // working place -> row of x
  std::vector<std::int32_t> code_;
  Vector columns_, weight_;
  NodeRows rows_;  // of the node at hand
  std::vector<std::size_t> offsets_;
  PredictedRows predicted_;
  Vector scores_, scored_columns_, table_;  // of the levels at the node at hand
  Crimcoord crimcoord_;
  std::vector<std::byte> buffer_;
};

}  // namespace oblique
