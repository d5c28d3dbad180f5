// Condensed matrices of dissimilarities, and binary trees over their objects.
// Matrices are condensed as in SciPy: d(0,1), d(0,2), ..., d(1,2), ... for n (n - 1) / 2 pairs of objects, in single or
// double precision. Objects are nodes 0 .. n - 1 of a tree, joins are nodes n .. 2n - 2, children before parents, the
// root last.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Positions in a condensed matrix: d(i, j) is at `start[i] + j` for i < j.
class Pairs {
 public:
  explicit Pairs(size_t n) : n_(n), start_(n) {
    // start_[0] is -1 in wrapping arithmetic; no pair of object 0 has j = 0.
    for (size_t i = 0; i < n; ++i) start_[i] = i * n - i * (i + 1) / 2 - i - 1;
  }
  size_t n() const { return n_; }
  size_t operator()(size_t i, size_t j) const { return i < j ? start_[i] + j : start_[j] + i; }

 private:
  size_t n_;
  std::vector<size_t> start_;
};

// A binary tree, join by join: children of join k (node n + k) are left[k] and right[k].
struct Joins {
  std::vector<int64_t> left, right;
  std::vector<double> heights;
  explicit Joins(size_t n) : left(n - 1), right(n - 1), heights(n - 1) {}
};

}  // namespace oblique
