// The rows of a node in an orthonormal basis of their span, for data with far more features than rows.
#pragma once

#include <cstddef>
#include <vector>

#include "common/eigen.hpp"
#include "split/node_rows.hpp"
#include "split/spread.hpp"

namespace oblique {

struct Standard;

// x = Q y for every row x of a node, with Q'Q = I. Lengths, right angles and moments about the origin are the same for
// y and x, and for w = Q v the hyperplane w'x equals v'y.
class RowSpan {
 public:
  // Features are measured in units of 2^power. The linear independence of rows is decided in the coordinates
  // `standard`, where units do not matter, like the rank of moments (clustering_planes.hpp).
  void find(const NodeRows& rows, const Standard& standard, int power);

  // The rows over y, and their spread.
  const NodeRows& rows() const { return rows_; }
  const Spread& spread() const { return spread_; }

  std::size_t n_features() const { return p_; }
  // (v, b) over y to the same plane (w, b) over x.
  void to_features(const double* vb, double* wb) const;

 private:
  // Indices of rows that are independent in standard coordinates, in descending order of the distance from the span of
  // the previous rows.
  std::vector<std::size_t> independent(const NodeRows& rows, const Standard& standard) const;

  std::size_t p_ = 0;
  Vector basis_, coordinates_;  // (p, r) and (n, r), by columns
  NodeRows rows_;
  Spread spread_;
};

}  // namespace oblique
