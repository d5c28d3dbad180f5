// The path down a tree, of one row or of many at once.
#pragma once

#include "common/clones.hpp"

namespace oblique {

// The leaf below `node` that a row reaches. next(node) : the child to which the row goes
template <class Planes, class Next>
OBLIQUE_INLINE size_t leaf_below(const Planes& planes, size_t node, const Next& next) {
  while (!planes.is_leaf(node)) node = next(node);
  return node;
}

// A row in progress: its number, and the number of its present split.
struct OnTheWay {
  uint32_t row;
  int32_t at;
};

// Takes rows to their leaves, one step each in turn, so that the processor waits neither for a sum nor for an
// unpredictable branch.
// splits : next(at, row) is the number of a child of a split, goes_on(number) whether that is a split, leaf(number)
// else its node; rows[row] : the values of a row; leaf[row] : output
template <class Splits, class Rows>
OBLIQUE_INLINE void step_down(const Splits& splits, const Rows& rows, OnTheWay* __restrict open, size_t n,
                              int32_t* __restrict leaf) {
  while (n > 0) {
    size_t still = 0;
    for (size_t i = 0; i < n; ++i) {
      const OnTheWay here = open[i];
      const int32_t next = splits.next(here.at, rows[here.row]);
      leaf[here.row] = splits.leaf(next);
      open[still] = {here.row, next};
      still += splits.goes_on(next) ? 1u : 0u;
    }
    n = still;
  }
}

}  // namespace oblique
