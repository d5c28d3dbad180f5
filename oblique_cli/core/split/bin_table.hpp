// Class weights by bins of a projection.
#pragma once

#include "common/kernels.hpp"
#include "split/node_rows.hpp"

namespace oblique {

inline constexpr int kMaxBins = 256;

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

// Counts rows by class and bin, into a table that is read as weights left of its edges.
class RowCounts {
 public:
  // Computes the weights left of the edges of a table. bin : of each row
  void fill(const NodeRows& rows, const uint8_t* bin, BinTable<float>& table) {
    for (int k = 0; k < rows.n_classes; ++k) {
      count(bin, rows.first_row[k], rows.first_row[k + 1]);
      cumulate(even_, odd_, table.n_bins, table.of_class(k));  // and clears both
    }
  }

 private:
  // Two tables in turn, so that a run of equal bins does not wait for its previous store.
  void count(const uint8_t* bin, size_t i, size_t last) {
    uint32_t *even = even_, *odd = odd_;
    for (; i + 8 <= last; i += 8) {
      uint64_t eight;
      std::memcpy(&eight, bin + i, sizeof eight);
      ++even[eight & 255];
      ++odd[eight >> 8 & 255];
      ++even[eight >> 16 & 255];
      ++odd[eight >> 24 & 255];
      ++even[eight >> 32 & 255];
      ++odd[eight >> 40 & 255];
      ++even[eight >> 48 & 255];
      ++odd[eight >> 56];
    }
    for (; i < last; ++i) ++even[bin[i]];
  }

  uint32_t even_[kMaxBins] = {}, odd_[kMaxBins] = {};
};

// The relative error of one rounding, with allowance for a sum over the classes.
template <class T>
double rounding(const Totals& t) {
  return (t.n_classes + 16.0) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

}  // namespace oblique
