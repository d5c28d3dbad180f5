// Prediction of many rows by a tree.
#pragma once

#include "tree/traverse.hpp"

namespace oblique {

// A copy of a tree in a layout for many rows. Rows go down in blocks that fit in a near cache. At the upper nodes the
// rows of a block are divided together, four rows per pass over the coefficients; with few rows left at a node, all
// rows in progress take one step each in turn, so that the processor waits neither for a sum nor for an unpredictable
// branch. Products are in single precision with a bound of their error; a row within the bound of a hyperplane goes to
// the side of the exact product. The leaves are those of `apply`, for any number of rows, blocks and threads.
class BlockWalk {
 public:
  // For a tree over quantitative features. The view's arrays must outlive the walk.
  explicit BlockWalk(const FlatTree& tree);

  // leaf[i] = node number of the leaf of row i. x : (n, p) row-major; T : double or float, whose values are exact in
  // double; block_rows : rows of a block, 0 to choose by the caches. Returns whether all rows are finite.
  template <class T>
  bool leaves_of(const T* x, size_t n, int n_threads, size_t block_rows, int32_t* leaf) const;

  // Numbers in single precision of one vector: a cache line.
  static constexpr size_t kLanes = 16;
  struct alignas(64) Line {
    float values[kLanes] = {};
  };

  // A split. Splits are numbered in the order of their nodes; a child that is a leaf is ~(its node number).
  struct Step {
    double threshold;
    double size;      // sum of the magnitudes of the coefficients
    int32_t next[2];  // left, right
    int32_t first;    // the feature if every split has one; else the first group of sixteen coefficients
    int32_t count;    // number of groups of sixteen coefficients
    int32_t node;
    bool missing_left;
  };

 private:
  // The stored coefficients: one feature per split, all, or the groups of sixteen that are not zero.
  enum class Layout { kAxes, kDense, kSparse };
  struct Buffers;

  template <class T>
  bool walk(const T* x, size_t n, Buffers& buffers, int32_t* leaf) const;
  template <class T>
  void screen(const T* x, size_t n, Buffers& buffers) const;
  template <class Sides>
  void divide(const Sides& sides, Buffers& buffers, int32_t* leaf) const;

  FlatTree tree_;
  Layout layout_ = Layout::kDense;
  size_t padded_ = 0;  // features, rounded up to a multiple of 16
  std::vector<Step> steps_;
  std::vector<Line> coefs_;        // the last group of a split is padded by 0
  std::vector<int32_t> features_;  // sparse: the first feature of each group of sixteen
};

}  // namespace oblique
