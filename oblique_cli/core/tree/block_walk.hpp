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
// branch it could not foresee. Products are of single precision, with a bound of what that costs; a row within the
// bound of a hyperplane goes where the exact product says. The leaves are those of `apply`, for any number of rows,
// blocks and threads.
class BlockWalk {
 public:
  // Of a tree over quantitative features. The view's arrays must outlive the walk.
  explicit BlockWalk(const FlatTree& tree);

  // leaf[i] = node number of the leaf of row i. x: (n, p) row-major; T: double, or float, whose values are exact in
  // double. block_rows: rows of a block, 0 for as many as suit the caches. Whether all rows are finite.
  template <class T>
  bool leaves_of(const T* x, std::size_t n, int n_threads, std::size_t block_rows, std::int32_t* leaf) const;

  // Numbers of single precision that one vector holds: a line of the cache.
  static constexpr std::size_t kLanes = 16;
  struct alignas(64) Line {
    float values[kLanes] = {};
  };

  // A split. Those of a tree are numbered in the order of their nodes; a child that is a leaf is ~(its node number).
  struct Step {
    double threshold;
    double size;           // sum of the magnitudes of the coefficients
    std::int32_t next[2];  // left, right
    std::int32_t first;    // the feature, where every split is by one; else where the coefficients begin, in sixteens
    std::int32_t count;    // how many sixteens of coefficients there are
    std::int32_t node;
    bool missing_left;
  };

 private:
  // What is laid out: one feature a split, all coefficients, or the sixteens of them that are not zero.
  enum class Layout { kAxes, kDense, kSparse };
  struct Buffers;

  template <class T>
  bool walk(const T* x, std::size_t n, Buffers& buffers, std::int32_t* leaf) const;
  template <class T>
  void screen(const T* x, std::size_t n, Buffers& buffers) const;
  template <class Sides>
  void divide(const Sides& sides, Buffers& buffers, std::int32_t* leaf) const;

  FlatTree tree_;
  Layout layout_ = Layout::kDense;
  std::size_t padded_ = 0;  // features, rounded up to a multiple of 16
  std::vector<Step> steps_;
  std::vector<Line> coefs_;             // the missing ones of the last of a split are 0
  std::vector<std::int32_t> features_;  // sparse: the first feature of each sixteen
};

}  // namespace oblique
