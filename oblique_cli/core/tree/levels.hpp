// Qualitative features: their levels, and one row with every level replaced by its score at a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oblique {

// The features with level codes, and the positions of their scores among those of a node.
struct Levels {
  std::vector<std::int32_t> count;    // per feature: number of levels, 0 for a quantitative feature
  std::vector<std::size_t> features;  // the qualitative ones
  std::vector<std::size_t> offset;    // position of their first score, in the order of `features`
  std::size_t width = 0;              // scores of a node

  explicit Levels(std::vector<std::int32_t> counts) : count(std::move(counts)) {
    for (std::size_t j = 0; j < count.size(); ++j) {
      if (count[j] <= 0) continue;
      features.push_back(j);
      offset.push_back(width);
      width += static_cast<std::size_t>(count[j]);
    }
  }
  bool any() const { return !features.empty(); }
};

// The level of a cell; -1 for a level that did not occur in training, or for NaN.
inline std::int32_t level_of(double cell, std::int32_t count) {
  if (!(cell >= 0.0 && cell < static_cast<double>(count))) return -1;
  const std::int32_t level = static_cast<std::int32_t>(cell);
  return static_cast<double>(level) == cell ? level : -1;
}

// One row for the hyperplane of a node: the level of every qualitative feature is replaced by its score there.
class ScoredRow {
 public:
  explicit ScoredRow(const Levels& levels)
      : levels_(levels), row_(levels.count.size()), level_(levels.features.size()) {}

  void start(const double* x) {
    row_.assign(x, x + row_.size());
    for (std::size_t q = 0; q < level_.size(); ++q) {
      const std::size_t j = levels_.features[q];
      level_[q] = level_of(x[j], levels_.count[j]);
    }
  }
  // scores: those of one node. Valid until the next call.
  const double* at(const double* scores) {
    for (std::size_t q = 0; q < level_.size(); ++q)
      row_[levels_.features[q]] = level_[q] < 0 ? 0.0 : scores[levels_.offset[q] + static_cast<std::size_t>(level_[q])];
    return row_.data();
  }

 private:
  const Levels& levels_;
  std::vector<double> row_;
  std::vector<std::int32_t> level_;
};

}  // namespace oblique
