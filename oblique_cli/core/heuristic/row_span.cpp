#include "heuristic/row_span.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/eigen.hpp"
#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "heuristic/clustering_planes.hpp"
#include "split/node_rows.hpp"

namespace oblique {

void RowSpan::find(const NodeRows& rows, const Standard& standard, int power) {
  p_ = rows.columns.size();
  const std::size_t n = rows.n;
  // With large offsets, differences from the center are small numbers; the center itself is one more direction.
  const auto unit = [power](double x) { return power == 0 ? x : std::ldexp(x, -power); };
  std::vector<Vector> centered(n, Vector(p_));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < p_; ++j) centered[i][j] = unit(rows.columns[j][i] - standard.center[j]);
  Vector center(p_);
  for (std::size_t j = 0; j < p_; ++j) center[j] = unit(standard.center[j]);

  basis_.clear();
  for (const std::size_t i : independent(rows, standard))
    basis_.insert(basis_.end(), centered[i].begin(), centered[i].end());
  orthonormalize(basis_, p_);
  const std::size_t varying = basis_.size() / p_;
  Vector rest = center;
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t c = 0; c < varying; ++c) {
      const double* q = basis_.data() + c * p_;
      add_scaled(-dot_columns(q, rest.data(), p_), q, rest.data(), p_);
    }
  const double away = norm(rest.data(), p_), length = norm(center.data(), p_);
  const bool is_away = away > 1e-12 * length;
  if (is_away)
    for (const double x : rest) basis_.push_back(x / away);

  const std::size_t r = basis_.size() / p_;
  coordinates_.resize(r * n);
  rows_ = rows;
  rows_.columns.resize(r);
  for (std::size_t c = 0; c < r; ++c) {
    const double* q = basis_.data() + c * p_;
    double* y = coordinates_.data() + c * n;
    rows_.columns[c] = y;
    const double offset = dot_columns(q, center.data(), p_);
    // Up to rounding, the rows differ from the center within the first directions only.
    for (std::size_t i = 0; i < n; ++i) y[i] = c < varying ? dot_columns(q, centered[i].data(), p_) + offset : offset;
    checkpoint(n * p_);
  }
  spread_.measure(rows_);
}

std::vector<std::size_t> RowSpan::independent(const NodeRows& rows, const Standard& standard) const {
  const std::size_t n = rows.n;
  Vector z(n * p_);
  for (std::size_t j = 0; j < p_; ++j)
    for (std::size_t i = 0; i < n; ++i) z[i * p_ + j] = (rows.columns[j][i] - standard.center[j]) / standard.scale[j];
  std::vector<std::size_t> order(n), chosen;
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  double largest = 0.0;
  // The square of a length is an eigenvalue; the rank does not count eigenvalues below eps (p + 1) times the largest.
  const double eps = std::sqrt(std::numeric_limits<double>::epsilon() * static_cast<double>(p_ + 1));
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t next = k;
    double farthest = -1.0;
    for (std::size_t i = k; i < n; ++i) {
      const double length = norm(z.data() + order[i] * p_, p_);
      if (length > farthest) farthest = length, next = i;
    }
    largest = std::max(largest, farthest);
    if (!(farthest > eps * largest)) break;
    std::swap(order[k], order[next]);
    chosen.push_back(order[k]);
    double* q = z.data() + order[k] * p_;
    for (std::size_t j = 0; j < p_; ++j) q[j] /= farthest;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* row = z.data() + order[i] * p_;
      add_scaled(-dot_columns(q, row, p_), q, row, p_);
    }
    checkpoint(3 * (n - k) * p_);
  }
  return chosen;
}

void RowSpan::to_features(const double* vb, double* wb) const {
  const std::size_t r = rows_.columns.size();
  std::fill_n(wb, p_, 0.0);
  for (std::size_t c = 0; c < r; ++c) add_scaled(vb[c], basis_.data() + c * p_, wb, p_);
  wb[p_] = vb[r];
}

}  // namespace oblique
