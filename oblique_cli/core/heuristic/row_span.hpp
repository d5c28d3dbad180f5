// The rows of a node in an orthonormal basis of their own span, for data of many more features than rows.
#pragma once

#include <cstddef>
#include <vector>

#include "common/eigen.hpp"
#include "split/node_rows.hpp"
#include "split/spread.hpp"

namespace oblique {

struct Standard;

// x = Q y for every row x of a node, with Q'Q = I. Lengths, right angles and moments about the origin of y are those of
// x, and a hyperplane w'x with w = Q v is v'y.
class RowSpan {
 public:
  // Features are measured in units of 2^power. Which rows are independent is decided in the coordinates `standard`,
  // where units do not matter, as the rank of moments is (clustering_planes.hpp).
  void find(const NodeRows& rows, const Standard& standard, int power);

  // The same rows over y, and where they lie.
  const NodeRows& rows() const { return rows_; }
  const Spread& spread() const { return spread_; }

  std::size_t n_features() const { return p_; }
  // (v, b) over y to the same plane (w, b) over x.
  void to_features(const double* vb, double* wb) const;

 private:
  // Numbers of rows that are independent in standard coordinates, in the order of how far they are from those before.
  std::vector<std::size_t> independent(const NodeRows& rows, const Standard& standard) const;

  std::size_t p_ = 0;
  Vector basis_, coordinates_;  // (p, r) and (n, r), by columns
  NodeRows rows_;
  Spread spread_;
};

}  // namespace oblique
