// The order that a tree of two classes keeps: the share of the second class never falls, or never rises, as a feature
// grows (docs/guarantees.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace oblique {

// Of each feature: 1 where the share may only rise with it, -1 where it may only fall, 0 where it may do either.
using Signs = std::vector<std::int8_t>;

inline constexpr int kMixed = 2;

// Which way rows cross a plane as a constrained feature moves in its direction: 1 from left to right, -1 from right to
// left, 0 neither, since no such feature is in the plane; kMixed where features disagree.
inline int way_across(const Signs& signs, const double* normal) {
  bool to_right = false, to_left = false;
  for (std::size_t j = 0; j < signs.size(); ++j) {
    to_right = to_right || signs[j] * normal[j] > 0.0;
    to_left = to_left || signs[j] * normal[j] < 0.0;
  }
  return to_right && to_left ? kMixed : to_right ? 1 : to_left ? -1 : 0;
}

// What the splits above a node let its answers be.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  bool hold(double answer) const { return low <= answer && answer <= high; }
};

// Cuts of a node whose sides answer in order, and within bounds. way : of the plane, as `way_across` has it
struct AllowedCuts {
  Bounds bounds;
  int way = 0;

  bool allow(double left, double right) const {
    return bounds.hold(left) && bounds.hold(right) &&
           (way == 0 || (way == 1 && left < right) || (way == -1 && left > right));
  }

  // The bounds of the children: whatever is answered below the side of smaller answers stays at or below the middle of
  // both, and the other at or above it. So rows that cross the plane do not meet a smaller answer, however both sides
  // are split further.
  void hand_down(double left, double right, Bounds& of_left, Bounds& of_right) const {
    of_left = of_right = bounds;
    if (way == 0) return;
    const double middle = 0.5 * left + 0.5 * right;
    (way == 1 ? of_left : of_right).high = middle;
    (way == 1 ? of_right : of_left).low = middle;
  }
};

// The share of the second of two classes by weight.
inline double second_share(double first, double second) { return second / (first + second); }

}  // namespace oblique
