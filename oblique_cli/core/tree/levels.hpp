// Qualitative features: their levels, and one row with every level replaced by its score at a node.
#pragma once

#include "common/standard.hpp"

namespace oblique {

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
