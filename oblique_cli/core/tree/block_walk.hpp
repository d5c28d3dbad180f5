// Many rows through a finished tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/step_down.hpp"
#include "tree/traverse.hpp"

namespace oblique {

// A tree laid out for many rows at once. Rows go down in blocks that stay in a near cache. At the nodes above, the rows
// of a block are divided together, four of them by one reading of the coefficients; where few rows are left at a node,
// all that are under way take one step each in turn, so that the processor waits neither for a sum to end nor for a
// branch it could not foresee. The leaves are those of `apply`, for any number of rows, blocks and threads.
class BlockWalk {
 public:
  // Of a tree over quantitative features. The view's arrays must outlive the walk.
  explicit BlockWalk(const FlatTree& tree);

  // leaf[i] = node number of the leaf of row i. x: (n, p) row-major; T: double, or float, whose values are exact in
  // double. block_rows: rows of a block, 0 for as many as suit the caches.
  template <class T>
  void leaves_of(const T* x, std::size_t n, int n_threads, std::size_t block_rows, std::int32_t* leaf) const;

  // A split. Those of a tree are numbered in the order of their nodes; a child that is a leaf is ~(its node number).
  struct Step {
    double threshold;
    std::int32_t next[2];  // left, right
    std::int32_t first;    // the feature, where every split is by one; else where the coefficients begin, in fours
    std::int32_t count;    // how many fours of coefficients there are
  };

 private:
  // What is laid out: one feature a split, all coefficients, or the fours of them that are not zero.
  enum class Layout { kAxes, kDense, kSparse };
  struct Buffers;

  template <class T>
  void walk(const T* x, std::size_t n, Buffers& buffers, std::int32_t* leaf) const;
  template <class Product>
  void divide(const Product& product, Buffers& buffers, std::int32_t* leaf) const;

  FlatTree tree_;
  Layout layout_ = Layout::kDense;
  std::size_t padded_ = 0;  // features, rounded up to a multiple of 4
  std::vector<Step> steps_;
  std::vector<double> coefs_;           // fours, the missing ones of the last filled with 0
  std::vector<std::int32_t> features_;  // sparse: the first feature of each four
};

}  // namespace oblique
