// The features drawn at a node, by columns.
#pragma once

#include <cstddef>

namespace oblique {

// Column j of m starts at raw + j * n.
struct Gathered {
  const double* raw = nullptr;
  std::size_t n = 0, m = 0;

  const double* column(std::size_t j) const { return raw + j * n; }

  // Projections on w by the arithmetic of prediction.
  void project(const double* w, double* z) const {
    for (std::size_t i = 0; i < n; ++i) z[i] = w[0] * raw[i];
    for (std::size_t j = 1; j < m; ++j) {
      const double* x = column(j);
      const double c = w[j];
      for (std::size_t i = 0; i < n; ++i) z[i] += c * x[i];
    }
  }
};

}  // namespace oblique
