// Training rows of a forest by columns, and the ranks of their values.
#pragma once

#include "common/key_sort.hpp"

namespace oblique {

struct Columns {
  size_t n = 0, p = 0;
  std::vector<double> values;  // column j from j * n
  // Index of each value among the distinct values of its column, from 0; computed on demand.
  std::vector<uint32_t> ranks;
  std::vector<unsigned char> ranked;  // whether the ranks of a column are computed

  void resize(size_t rows, size_t columns) {
    n = rows;
    p = columns;
    values.resize(n * p);
    ranked.assign(p, 0);
  }
  double* column(size_t j) { return values.data() + j * n; }
  const double* column(size_t j) const { return values.data() + j * n; }

  // Columns that several threads share must be ranked before.
  const uint32_t* rank(size_t j) {
    if (!ranked[j]) rank_column(j);
    return ranks.data() + j * n;
  }

 private:
  std::vector<uint64_t> keys_;
  KeySort sort_;

  // Distributes values over 2^32 steps of their range first; then sorts the few values within each step.
  void rank_column(size_t j) {
    ranks.resize(n * p);
    keys_.resize(n);
    const double* x = column(j);
    const Range range = range_of(x, n);
    const double width = range.high - range.low;
    const double scale = width > 1e-290 && width < 1e290 ? 4294967295.0 / width : 0.0;
    const auto step = [&](double value) {
      return scale > 0.0 ? static_cast<uint64_t>(std::min((value - range.low) * scale, 4294967295.0)) : 0u;
    };
    for (size_t i = 0; i < n; ++i) keys_[i] = step(x[i]) << 32 | i;
    sort_.sort(keys_.data(), n);
    const auto at = [&](size_t i) { return keys_.begin() + i; };
    const auto row = [&](size_t i) { return static_cast<uint32_t>(keys_[i]); };
    for (size_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && keys_[end] >> 32 == keys_[i] >> 32;) ++end;
      if (end - i > 1)
        std::sort(at(i), at(end),
                  [x](uint64_t a, uint64_t b) { return x[static_cast<uint32_t>(a)] < x[static_cast<uint32_t>(b)]; });
    }
    uint32_t* out = ranks.data() + j * n;
    uint32_t rank = 0;
    for (size_t i = 0; i < n; ++i) {
      if (i > 0 && x[row(i)] != x[row(i - 1)]) ++rank;
      out[row(i)] = rank;
    }
    ranked[j] = 1;
  }
};

}  // namespace oblique
