// Features drawn at a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/random.hpp"

namespace oblique {

// The first features of a random order, drawn on demand. The order is restored before the next node, so a draw depends
// on the node's stream alone.
class FeatureDraw {
 public:
  // p : number of features
  void begin_tree(std::size_t p) {
    features_.resize(p);
    std::iota(features_.begin(), features_.end(), 0);
    swapped_.clear();
  }
  // Restricts the tree to `count` of its features, in their order.
  void keep(std::size_t count, Stream stream) {
    while (size() < count) draw(stream);
    features_.resize(count);
    std::sort(features_.begin(), features_.end());
    swapped_.clear();
  }
  // Takes all features, in their order.
  void take_all() {
    while (size() < features_.size()) swapped_.push_back(size());
  }
  void begin_node() {
    for (std::size_t i = swapped_.size(); i-- > 0;) std::swap(features_[i], features_[swapped_[i]]);
    swapped_.clear();
  }
  void draw(Stream& stream) {
    const std::size_t place = swapped_.size(), other = place + stream.below(features_.size() - place);
    std::swap(features_[place], features_[other]);
    swapped_.push_back(other);
  }

  std::size_t size() const { return swapped_.size(); }
  std::size_t total() const { return features_.size(); }
  std::int32_t operator[](std::size_t i) const { return features_[i]; }

 private:
  std::vector<std::int32_t> features_;  // a permutation
  std::vector<std::size_t> swapped_;    // place i was swapped with
};

}  // namespace oblique
