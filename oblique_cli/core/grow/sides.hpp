// The side of each row of a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "split/bag.hpp"

namespace oblique {

// The sides of the best cut so far, and those of the cut under trial.
class Sides {
 public:
  void resize(std::size_t n) {
    best_.resize(n);
    tried_.resize(n);
  }
  unsigned char* best() { return best_.data(); }
  const unsigned char* best() const { return best_.data(); }

  // Tries the cut of projections z at a threshold; false if a side has no rows, else sets `value` to the value of the
  // cut.
  bool try_cut(const Bag& bag, const double* z, double threshold, double& value) {
    double left_squares = 0.0, left = 0.0, right_squares = 0.0, right = 0.0;
    std::size_t i = 0, n_right = 0;
    for (const ClassRun& run : *bag.runs) {
      double r = 0.0;
      for (const std::size_t end = i + run.n; i < end; ++i) {
        const bool goes_right = z[i] > threshold;
        tried_[i] = goes_right;
        n_right += goes_right;
        r += goes_right ? bag.weight[i] : 0.0;
      }
      const double l = run.weight - r;
      left_squares += l * l;
      left += l;
      right_squares += r * r;
      right += r;
    }
    if (n_right == 0 || n_right == bag.n || !(left > 0.0) || !(right > 0.0)) return false;
    value = gini_value(left_squares, left, right_squares, right);
    return true;
  }
  // Makes the cut under trial the best one.
  void keep(std::size_t n) { std::copy_n(tried_.begin(), n, best_.begin()); }

 private:
  std::vector<unsigned char> best_, tried_;
};

}  // namespace oblique
