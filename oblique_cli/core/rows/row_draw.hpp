// Rows drawn for a tree.
#pragma once

#include "common/random.hpp"

namespace oblique {

// How often each of n rows is drawn in `count` draws with replacement.
inline void draw_bootstrap(Stream stream, size_t n, size_t count, std::vector<uint32_t>& draws) {
  draws.assign(n, 0);
  for (size_t i = 0; i < count; ++i) ++draws[stream.below(n)];
}

// The draw of the rows of a tree.
struct RowDraw {
  bool bootstrap = true;  // with replacement
  size_t count = 0;       // draws, 0: the number of rows

  // Whether a tree sees all rows once.
  bool takes_all(size_t n) const { return !bootstrap && (count == 0 || count >= n); }

  // How often each of n rows is drawn for a tree.
  void draw(uint64_t tree_seed, size_t n, std::vector<uint32_t>& draws) const {
    Stream stream(tree_seed, 0, 1);
    const size_t wanted = count == 0 ? n : count;
    if (bootstrap) return draw_bootstrap(stream, n, wanted, draws);
    if (takes_all(n)) return draws.assign(n, 1);
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    draws.assign(n, 0);
    for (size_t i = 0; i < wanted; ++i) {
      std::swap(order[i], order[i + stream.below(n - i)]);
      draws[order[i]] = 1;
    }
  }
};

// The first features of a random order, drawn on demand. The order is restored before the next node, so a draw depends
// on the node's stream alone.
class FeatureDraw {
 public:
  // p : number of features
  void begin_tree(size_t p) {
    features_.resize(p);
    std::iota(features_.begin(), features_.end(), 0);
    swapped_.clear();
  }
  // Restricts the tree to `count` of its features, in their order.
  void keep(size_t count, Stream stream) {
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
    for (size_t i = swapped_.size(); i-- > 0;) std::swap(features_[i], features_[swapped_[i]]);
    swapped_.clear();
  }
  void draw(Stream& stream) {
    const size_t place = swapped_.size(), other = place + stream.below(features_.size() - place);
    std::swap(features_[place], features_[other]);
    swapped_.push_back(other);
  }

  size_t size() const { return swapped_.size(); }
  size_t total() const { return features_.size(); }
  int32_t operator[](size_t i) const { return features_[i]; }

 private:
  std::vector<int32_t> features_;  // a permutation
  std::vector<size_t> swapped_;    // place i was swapped with
};

}  // namespace oblique
