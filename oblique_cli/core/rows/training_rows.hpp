// The rows that all trees of a forest share.
#pragma once

#include "rows/rotation.hpp"

namespace oblique {

struct TrainingRows {
  Columns x;
  std::vector<int32_t> y;
  std::vector<double> weights;     // empty if all are 1
  std::vector<uint32_t> by_class;  // row numbers, by class and then by number
  std::vector<double> targets;     // numbers that trees predict, by output and then by row, all rows being of one
                                   // class; else empty
  std::vector<double> half_range;  // of each feature; the range might overflow
  Vector inverse_scale;            // of each feature, if trees rotate them
  size_t n_classes = 0;

  size_t n_outputs() const { return targets.size() / x.n; }
  const double* output(size_t k) const { return targets.data() + k * x.n; }

  // rotated : unit of the features before rotations, if trees rotate; ranked : whether ranks are needed
  TrainingRows(const double* rows, const int32_t* codes, const double* w, size_t n, size_t p, size_t classes,
               std::optional<Scaling> rotated, bool ranked)
      : y(codes, codes + n), n_classes(classes) {
    x.resize(n, p);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p; ++j) x.values[j * n + i] = rows[i * p + j];
    if (w) weights.assign(w, w + n);
    by_class.resize(n);
    std::iota(by_class.begin(), by_class.end(), 0u);
    std::stable_sort(by_class.begin(), by_class.end(), [this](uint32_t a, uint32_t b) { return y[a] < y[b]; });
    for (size_t j = 0; j < p; ++j) {
      const Range r = range_of(x.column(j), n);
      half_range.push_back(0.5 * r.high - 0.5 * r.low);
      if (!rotated && ranked) x.rank(j);
    }
    if (rotated) inverse_scale = inverse_scales(x, w, *rotated);
  }
};

}  // namespace oblique
