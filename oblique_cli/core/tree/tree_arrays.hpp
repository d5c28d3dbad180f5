// The arrays of a grown tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oblique {

// The arrays of a fitted tree. Root is node 0 and children have larger numbers than their parent. A row goes left if
// x'w <= threshold, x holding the node's score of a level where a feature is qualitative.
struct TreeArrays {
  std::size_t n_features = 0, n_classes = 0, n_scores = 0;
  std::vector<std::int32_t> left, right;  // -1 at leaves
  std::vector<double> weights;            // n_nodes * n_features
  std::vector<double> thresholds;
  std::vector<double> counts;  // n_nodes * n_classes, weight of each class
  std::vector<double> gains;   // published score of the split, 0 at leaves
  std::vector<std::int64_t> n_rows;
  std::vector<double> level_scores;  // n_nodes * n_scores, 0 at leaves and for levels absent at a node

  std::size_t size() const { return left.size(); }
  std::int32_t add() {
    left.push_back(-1);
    right.push_back(-1);
    weights.resize(weights.size() + n_features, 0.0);
    thresholds.push_back(0.0);
    counts.resize(counts.size() + n_classes, 0.0);
    gains.push_back(0.0);
    n_rows.push_back(0);
    level_scores.resize(level_scores.size() + n_scores, 0.0);
    return static_cast<std::int32_t>(left.size()) - 1;
  }
};

}  // namespace oblique
