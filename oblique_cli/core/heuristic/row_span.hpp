// The rows of a node in an orthonormal basis of their span, for data with far more features than rows.
#pragma once

#include "heuristic/clustering_planes.hpp"

namespace oblique {

// x = Q y for every row x of a node, with Q'Q = I. Lengths, right angles and moments about the origin are the same for
// y and x, and for w = Q v the hyperplane w'x equals v'y.
class RowSpan {
 public:
  // Features are measured in units of 2^power. The linear independence of rows is decided in the coordinates
  // `standard`, where units do not matter, like the rank of moments (clustering_planes.hpp).
  void find(const NodeRows& rows, const Standard& standard, int power) {
    p_ = rows.columns.size();
    const size_t n = rows.n;
    // With large offsets, differences from the center are small numbers; the center itself is one more direction.
    const auto unit = [power](double x) { return power == 0 ? x : std::ldexp(x, -power); };
    std::vector<Vector> centered(n, Vector(p_));
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p_; ++j) centered[i][j] = unit(rows.columns[j][i] - standard.center[j]);
    Vector center(p_);
    for (size_t j = 0; j < p_; ++j) center[j] = unit(standard.center[j]);

    basis_.clear();
    for (const size_t i : independent(rows, standard))
      basis_.insert(basis_.end(), centered[i].begin(), centered[i].end());
    orthonormalize(basis_, p_);
    const size_t varying = basis_.size() / p_;
    Vector rest = center;
    for (int pass = 0; pass < 2; ++pass)
      for (size_t c = 0; c < varying; ++c) {
        const double* q = basis_.data() + c * p_;
        add_scaled(-dot_columns(q, rest.data(), p_), q, rest.data(), p_);
      }
    const double away = norm(rest.data(), p_), length = norm(center.data(), p_);
    const bool is_away = away > 1e-12 * length;
    if (is_away)
      for (const double x : rest) basis_.push_back(x / away);

    const size_t r = basis_.size() / p_;
    coordinates_.resize(r * n);
    rows_ = rows;
    rows_.columns.resize(r);
    for (size_t c = 0; c < r; ++c) {
      const double* q = basis_.data() + c * p_;
      double* y = coordinates_.data() + c * n;
      rows_.columns[c] = y;
      const double offset = dot_columns(q, center.data(), p_);
      // Up to rounding, the rows differ from the center within the first directions only.
      for (size_t i = 0; i < n; ++i) y[i] = c < varying ? dot_columns(q, centered[i].data(), p_) + offset : offset;
      checkpoint(n * p_);
    }
    spread_.measure(rows_);
  }

  // The rows over y, and their spread.
  const NodeRows& rows() const { return rows_; }
  const Spread& spread() const { return spread_; }

  size_t n_features() const { return p_; }
  // (v, b) over y to the same plane (w, b) over x.
  void to_features(const double* vb, double* wb) const {
    const size_t r = rows_.columns.size();
    std::fill_n(wb, p_, 0.0);
    for (size_t c = 0; c < r; ++c) add_scaled(vb[c], basis_.data() + c * p_, wb, p_);
    wb[p_] = vb[r];
  }

 private:
  // Indices of rows that are independent in standard coordinates, in descending order of the distance from the span of
  // the previous rows.
  std::vector<size_t> independent(const NodeRows& rows, const Standard& standard) const {
    const size_t n = rows.n;
    Vector z(n * p_);
    for (size_t j = 0; j < p_; ++j)
      for (size_t i = 0; i < n; ++i) z[i * p_ + j] = (rows.columns[j][i] - standard.center[j]) / standard.scale[j];
    std::vector<size_t> order(n), chosen;
    for (size_t i = 0; i < n; ++i) order[i] = i;
    double largest = 0.0;
    // The square of a length is an eigenvalue; the rank does not count eigenvalues below eps (p + 1) times the largest.
    const double eps = std::sqrt(std::numeric_limits<double>::epsilon() * static_cast<double>(p_ + 1));
    for (size_t k = 0; k < n; ++k) {
      size_t next = k;
      double farthest = -1.0;
      for (size_t i = k; i < n; ++i) {
        const double length = norm(z.data() + order[i] * p_, p_);
        if (length > farthest) farthest = length, next = i;
      }
      largest = std::max(largest, farthest);
      if (!(farthest > eps * largest)) break;
      std::swap(order[k], order[next]);
      chosen.push_back(order[k]);
      double* q = z.data() + order[k] * p_;
      for (size_t j = 0; j < p_; ++j) q[j] /= farthest;
      for (size_t i = k + 1; i < n; ++i) {
        double* row = z.data() + order[i] * p_;
        add_scaled(-dot_columns(q, row, p_), q, row, p_);
      }
      checkpoint(3 * (n - k) * p_);
    }
    return chosen;
  }

  size_t p_ = 0;
  Vector basis_, coordinates_;  // (p, r) and (n, r), by columns
  NodeRows rows_;
  Spread spread_;
};

}  // namespace oblique
