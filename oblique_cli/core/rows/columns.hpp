// Training rows of a forest by columns, and the ranks of their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/kernels.hpp"
#include "common/key_sort.hpp"

namespace oblique {

struct Columns {
  std::size_t n = 0, p = 0;
  std::vector<double> values;  // column j from j * n
  // Index of each value among the distinct values of its column, from 0; computed on demand.
  std::vector<std::uint32_t> ranks;
  std::vector<unsigned char> ranked;  // whether the ranks of a column are computed

  void resize(std::size_t rows, std::size_t columns) {
    n = rows;
    p = columns;
    values.resize(n * p);
    ranked.assign(p, 0);
  }
  double* column(std::size_t j) { return values.data() + j * n; }
  const double* column(std::size_t j) const { return values.data() + j * n; }

  // Columns that several threads share must be ranked before.
  const std::uint32_t* rank(std::size_t j) {
    if (!ranked[j]) rank_column(j);
    return ranks.data() + j * n;
  }

 private:
  std::vector<std::uint64_t> keys_;
  KeySort sort_;

  // Distributes values over 2^32 steps of their range first; then sorts the few values within each step.
  void rank_column(std::size_t j) {
    ranks.resize(n * p);
    keys_.resize(n);
    const double* x = column(j);
    const Range range = range_of(x, n);
    const double width = range.high - range.low;
    const double scale = width > 1e-290 && width < 1e290 ? 4294967295.0 / width : 0.0;
    const auto step = [&](double value) {
      return scale > 0.0 ? static_cast<std::uint64_t>(std::min((value - range.low) * scale, 4294967295.0)) : 0u;
    };
    for (std::size_t i = 0; i < n; ++i) keys_[i] = step(x[i]) << 32 | i;
    sort_.sort(keys_.data(), n);
    const auto at = [&](std::size_t i) { return keys_.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto row = [&](std::size_t i) { return static_cast<std::uint32_t>(keys_[i]); };
    for (std::size_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && keys_[end] >> 32 == keys_[i] >> 32;) ++end;
      if (end - i > 1)
        std::sort(at(i), at(end), [x](std::uint64_t a, std::uint64_t b) {
          return x[static_cast<std::uint32_t>(a)] < x[static_cast<std::uint32_t>(b)];
        });
    }
    std::uint32_t* out = ranks.data() + j * n;
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0 && x[row(i)] != x[row(i - 1)]) ++rank;
      out[row(i)] = rank;
    }
    ranked[j] = 1;
  }
};

}  // namespace oblique
