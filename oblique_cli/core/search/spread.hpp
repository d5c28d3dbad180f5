// The ranges of the features at a node, and the scale that decides which projections are distinct.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "common/eigen.hpp"
#include "common/kernels.hpp"
#include "search/node_rows.hpp"

namespace oblique {

// Range, center and largest magnitude of every feature at a node.
struct Spread {
  Vector range, center, magnitude;

  void measure(const NodeRows& rows) {
    const std::size_t p = rows.columns.size();
    range.resize(p);
    center.resize(p);
    magnitude.resize(p);
    for (std::size_t j = 0; j < p; ++j) {
      const Range r = range_of(rows.columns[j], rows.n);
      range[j] = r.high - r.low;
      center[j] = 0.5 * r.low + 0.5 * r.high;
      magnitude[j] = std::max(std::fabs(r.low), std::fabs(r.high));
    }
  }
  // The largest range of a feature.
  double widest() const { return *std::max_element(range.begin(), range.end()); }
  static double gap(double range_sum, double magnitude_sum) {
    return 1e-9 * range_sum + 32.0 * std::numeric_limits<double>::epsilon() * magnitude_sum;
  }
  // The original axis j needs no arithmetic, hence no allowance for its rounding.
  double of_axis(std::size_t j) const { return 1e-9 * range[j]; }
  // Column j of I - 2uu'.
  double of_reflected_axis(const Vector& u, std::size_t j) const {
    double r = 0.0, m = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double h = std::fabs((i == j ? 1.0 : 0.0) - 2.0 * u[i] * u[j]);
      r += h * range[i];
      m += h * magnitude[i];
    }
    return gap(r, m);
  }
  double of_direction(const double* h) const {
    double r = 0.0, m = 0.0;
    for (std::size_t i = 0; i < range.size(); ++i) {
      r += std::fabs(h[i]) * range[i];
      m += std::fabs(h[i]) * magnitude[i];
    }
    return gap(r, m);
  }
};

}  // namespace oblique
