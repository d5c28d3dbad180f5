// Features that are linear combinations of the original features, for a rotation forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oblique {

// Rotated feature q is the sum of coef[i] * x[feature[i]] over i from start[q] to start[q + 1].
struct Rotation {
  std::vector<std::int32_t> start, feature;
  std::vector<double> coef;

  bool rotates() const { return !start.empty(); }
  std::size_t size() const { return start.size() - 1; }

  // One rotated feature of a row; growth and prediction start the sum from its first term.
  double of_row(std::size_t q, const double* x) const {
    std::int32_t i = start[q];
    double sum = coef[i] * x[feature[i]];
    for (++i; i < start[q + 1]; ++i) sum += coef[i] * x[feature[i]];
    return sum;
  }
};

}  // namespace oblique
