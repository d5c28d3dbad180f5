// Rows of the caller, the levels of qualitative features, and one row with every level replaced by its score at a node.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Rows of p numbers. Double represents single precision exactly, so the table is not copied.
class InputRows {
 public:
  InputRows(const double* x) : doubles_(x) {}
  InputRows(const float* x) : singles_(x) {}

  double at(size_t i, size_t j, size_t p) const {
    return doubles_ ? doubles_[i * p + j] : static_cast<double>(singles_[i * p + j]);
  }
  // The whole table; exactly one of both pointers is not nullptr.
  const double* doubles() const { return doubles_; }
  const float* singles() const { return singles_; }
  // Row i; `buffer` holds p numbers.
  const double* row(size_t i, size_t p, double* buffer) const {
    if (doubles_) return doubles_ + i * p;
    for (size_t j = 0; j < p; ++j) buffer[j] = static_cast<double>(singles_[i * p + j]);
    return buffer;
  }

 private:
  const double* doubles_ = nullptr;
  const float* singles_ = nullptr;
};

// The features with level codes, and the positions of their scores among those of a node.
struct Levels {
  std::vector<int32_t> count;    // per feature: number of levels, 0 for a quantitative feature
  std::vector<size_t> features;  // the qualitative ones
  std::vector<size_t> offset;    // position of their first score, in the order of `features`
  size_t width = 0;              // scores of a node

  explicit Levels(std::vector<int32_t> counts) : count(std::move(counts)) {
    for (size_t j = 0; j < count.size(); ++j) {
      if (count[j] <= 0) continue;
      features.push_back(j);
      offset.push_back(width);
      width += static_cast<size_t>(count[j]);
    }
  }
  bool any() const { return !features.empty(); }
};

// The level of a cell; -1 for a level that did not occur in training, or for NaN.
inline int32_t level_of(double cell, int32_t count) {
  if (!(cell >= 0.0 && cell < static_cast<double>(count))) return -1;
  const int32_t level = static_cast<int32_t>(cell);
  return static_cast<double>(level) == cell ? level : -1;
}

// One row for the hyperplane of a node: the level of every qualitative feature is replaced by its score there.
class ScoredRow {
 public:
  explicit ScoredRow(const Levels& levels)
      : levels_(levels), row_(levels.count.size()), level_(levels.features.size()) {}

  void start(const double* x) {
    row_.assign(x, x + row_.size());
    for (size_t q = 0; q < level_.size(); ++q) {
      const size_t j = levels_.features[q];
      level_[q] = level_of(x[j], levels_.count[j]);
    }
  }
  // scores: those of one node. Valid until the next call.
  const double* at(const double* scores) {
    for (size_t q = 0; q < level_.size(); ++q)
      row_[levels_.features[q]] = level_[q] < 0 ? 0.0 : scores[levels_.offset[q] + static_cast<size_t>(level_[q])];
    return row_.data();
  }

 private:
  const Levels& levels_;
  std::vector<double> row_;
  std::vector<int32_t> level_;
};

}  // namespace oblique
