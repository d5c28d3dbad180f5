// Class weights by bins of a projection.
#pragma once

#include "common/kernels.hpp"
#include "split/node_rows.hpp"

namespace oblique {

// Class weights left of the edges of equal-width bins, and buffers for the bounds. T is float for counts, which it
// represents exactly, and double for sample weights; each criterion's slack covers the rounding errors of float.
template <class T>
struct BinTable {
  int n_bins = 0, n_classes = 0;
  size_t stride = 0;
  std::vector<T> totals, cum;                                        // class k at edge e: cum[k * stride + e]
  std::vector<T> s, left_square, right_square, left_max, right_max;  // at edges, see edge_sums
  std::vector<T> bound;
  std::vector<double> multiplier, exact_bound;  // buffers of criteria with bounds in double

  void resize(int classes, int bins, const double* of_class) {
    n_classes = classes;
    n_bins = bins;
    stride = (static_cast<size_t>(bins) + 32) / 16 * 16;  // of the widest registers
    if (cum.size() < static_cast<size_t>(classes) * stride + 16) cum.resize(static_cast<size_t>(classes) * stride + 16);
    totals.resize(static_cast<size_t>(classes));
    for (int k = 0; k < classes; ++k) totals[k] = static_cast<T>(of_class[k]);
    for (auto* v : {&s, &left_square, &right_square, &left_max, &right_max, &bound})
      if (v->size() < stride + 16) v->resize(stride + 16);
  }
  T* of_class(int k) { return cum.data() + static_cast<size_t>(k) * stride; }
  const T* of_class(int k) const { return cum.data() + static_cast<size_t>(k) * stride; }
  ClassEdges<T> edges() const { return {cum.data(), stride, totals.data(), n_classes, n_bins + 1}; }

  bool filled(int b) const { return s[b + 1] > s[b]; }
  int last_filled() const {
    int b = n_bins - 1;
    while (b > 0 && !filled(b)) --b;
    return b;
  }

  EdgeSums<T> sums() { return {s.data(), left_square.data(), right_square.data(), left_max.data(), right_max.data()}; }
};

// The relative error of one rounding, with allowance for a sum over the classes.
template <class T>
double rounding(const Totals& t) {
  return (t.n_classes + 16.0) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

}  // namespace oblique
