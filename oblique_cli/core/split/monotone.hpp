// Monotone constraints of a tree of two classes: the share of the second never falls, or rises, in a feature.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// For each feature: 1 if the share may only increase with it, -1 if it may only decrease, 0 if it is free.
using Signs = std::vector<int8_t>;

inline constexpr int kMixed = 2;

// The direction in which rows cross a plane as a constrained feature moves in its sense: 1 from left to right, -1 from
// right to left, 0 neither, since the plane has no such feature; kMixed if features disagree.
inline int way_across(const Signs& signs, const double* normal) {
  bool to_right = false, to_left = false;
  for (size_t j = 0; j < signs.size(); ++j) {
    to_right = to_right || signs[j] * normal[j] > 0.0;
    to_left = to_left || signs[j] * normal[j] < 0.0;
  }
  return to_right && to_left ? kMixed : to_right ? 1 : to_left ? -1 : 0;
}

// The limits that the splits above a node set for its predictions.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  bool hold(double answer) const { return low <= answer && answer <= high; }
};

// Cuts of a node whose sides satisfy the constraints and the bounds. way : of the plane, by `way_across`
struct AllowedCuts {
  Bounds bounds;
  int way = 0;

  bool allow(double left, double right) const {
    return bounds.hold(left) && bounds.hold(right) &&
           (way == 0 || (way == 1 && left < right) || (way == -1 && left > right));
  }

  // The bounds of the children: every prediction below the side of smaller predictions stays at or below the middle of
  // both, and every prediction on the other side at or above it. So a row that crosses the plane never reaches a
  // prediction on the wrong side of the middle, however both sides are split further.
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
