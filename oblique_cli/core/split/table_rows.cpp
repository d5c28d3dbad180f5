#include "split/table_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/interrupt.hpp"

namespace oblique {

namespace {

// T: double or float
template <class T>
void gather_of(const T* x, std::size_t p, const std::uint32_t* row, std::size_t n, std::size_t from, std::size_t to,
               double* out, std::size_t stride) {
  constexpr std::size_t ahead = 16;  // rows lie anywhere in memory
  for (std::size_t i = 0; i < n; ++i) {
#if defined(__GNUC__)
    if (i + ahead < n) {
      const T* next = x + row[i + ahead] * p;
      for (std::size_t j = from; j < to; j += 64 / sizeof(T)) __builtin_prefetch(next + j);
      __builtin_prefetch(next + to - 1);
    }
#endif
    const T* values = x + row[i] * p;
    for (std::size_t j = from; j < to; ++j) out[(j - from) * stride + i] = static_cast<double>(values[j]);
  }
}

}  // namespace

double TableRows::at(std::size_t i, std::size_t j) const {
  const double value = x_.at(row_[i], j, levels_.count.size());
  const std::int32_t count = levels_.count[j];
  if (count == 0) return value;
  const std::int32_t level = level_of(value, count);
  if (!scores_) return static_cast<double>(level);
  if (level < 0) return 0.0;
  const std::size_t q = static_cast<std::size_t>(std::lower_bound(levels_.features.begin(), levels_.features.end(), j) -
                                                 levels_.features.begin());
  return scores_[levels_.offset[q] + static_cast<std::size_t>(level)];
}

void TableRows::gather(std::size_t first, std::size_t last, std::size_t from, std::size_t to, double* out,
                       std::size_t stride) const {
  const std::size_t p = levels_.count.size(), n = last - first;
  if (x_.doubles())
    gather_of(x_.doubles(), p, row_ + first, n, from, to, out, stride);
  else
    gather_of(x_.singles(), p, row_ + first, n, from, to, out, stride);
  for (const std::size_t j : levels_.features) {
    if (j < from || j >= to) continue;
    for (std::size_t i = 0; i < n; ++i) out[(j - from) * stride + i] = at(first + i, j);
  }
  checkpoint(n * (to - from));
}

}  // namespace oblique
