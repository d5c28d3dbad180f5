// Sums of products over many columns at a time, in registers of 32 or of 64 bytes with the same bits.
#pragma once

#include "common/clones.hpp"

namespace oblique {

using Four = Pack<double, 32>;
#if defined(OBLIQUE_WIDE)
using Eight = Pack<double, 64>;
#endif

template <class Vector>
OBLIQUE_INLINE Vector load_as(const double* x) {
  Vector v;
  std::memcpy(&v, x, sizeof v);
  return v;
}

OBLIQUE_INLINE Four load_four(const double* x) { return load_as<Four>(x); }

// out[c * to] += the numbers of column c in order, for columns `stride` apart. A single such sum waits for each
// addition; several at once do not.
template <size_t kColumns>
OBLIQUE_INLINE void add_some_sums(const double* columns, size_t stride, double* out, size_t to, size_t n) {
  double sum[kColumns];
  for (size_t m = 0; m < kColumns; ++m) sum[m] = out[m * to];
  for (size_t i = 0; i < n; ++i)
    for (size_t m = 0; m < kColumns; ++m) sum[m] += columns[m * stride + i];
  for (size_t m = 0; m < kColumns; ++m) out[m * to] = sum[m];
}
OBLIQUE_INLINE void add_sums(const double* columns, size_t stride, size_t count, double* out, size_t to, size_t n) {
  size_t c = 0;
  for (; c + 4 <= count; c += 4) add_some_sums<4>(columns + c * stride, stride, out + c * to, to, n);
  for (; c + 2 <= count; c += 2) add_some_sums<2>(columns + c * stride, stride, out + c * to, to, n);
  for (; c < count; ++c) add_some_sums<1>(columns + c * stride, stride, out + c * to, to, n);
}

// Sums eight lanes by pairs of neighbors, then pairs of these, in the order of dot_columns.
OBLIQUE_INLINE void sum_four(const Four (&lanes)[4][2], double* sums) {
  for (size_t m = 0; m < 4; ++m) {
    const Four low = lanes[m][0], high = lanes[m][1];
    sums[m] = ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
  }
}
#if defined(OBLIQUE_WIDE)
OBLIQUE_INLINE void sum_four(const Eight (&lanes)[4][1], double* sums) {
  constexpr Pack<long long, 64> even{0, 2, 4, 6, 8, 10, 12, 14}, odd{1, 3, 5, 7, 9, 11, 13, 15};
  const auto neighbors = [&](Eight a, Eight b) __attribute__((always_inline)) {
    return __builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd);
  };
  const Eight first = neighbors(lanes[0][0], lanes[1][0]), second = neighbors(lanes[2][0], lanes[3][0]);
  const Eight halves = neighbors(first, second), whole = neighbors(halves, halves);
  std::memcpy(sums, &whole, 4 * sizeof(double));
}
#endif

// out[a * stride + b] += dot_columns(s[a], x[b], n) for kS columns s and four columns x.
template <class Vector, size_t kS>
OBLIQUE_INLINE void add_tile(const double* const* s, const double* const* x, size_t n, double* out, size_t stride) {
  constexpr size_t lanes = 8, kVectors = lanes * sizeof(double) / sizeof(Vector), kEach = lanes / kVectors;
  Vector sum[kS][4][kVectors];
#pragma GCC unroll 2
  for (size_t a = 0; a < kS; ++a)
#pragma GCC unroll 4
    for (size_t b = 0; b < 4; ++b)
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) sum[a][b][v] = Vector{};
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      Vector of_x[4];
#pragma GCC unroll 4
      for (size_t b = 0; b < 4; ++b) of_x[b] = load_as<Vector>(x[b] + i + v * kEach);
#pragma GCC unroll 2
      for (size_t a = 0; a < kS; ++a) {
        const Vector of_s = load_as<Vector>(s[a] + i + v * kEach);
#pragma GCC unroll 4
        for (size_t b = 0; b < 4; ++b) sum[a][b][v] += of_s * of_x[b];
      }
    }
  }
#pragma GCC unroll 2
  for (size_t a = 0; a < kS; ++a) {
    if (i < n) {  // the remaining rows go to the first lane
      double first[4];
#pragma GCC unroll 4
      for (size_t b = 0; b < 4; ++b) first[b] = sum[a][b][0][0];
      for (size_t r = i; r < n; ++r)
#pragma GCC unroll 4
        for (size_t b = 0; b < 4; ++b) first[b] += s[a][r] * x[b][r];
#pragma GCC unroll 4
      for (size_t b = 0; b < 4; ++b) sum[a][b][0][0] = first[b];
    }
    double sums[4];
    sum_four(sum[a], sums);
#pragma GCC unroll 4
    for (size_t b = 0; b < 4; ++b) out[a * stride + b] += sums[b];
  }
}

}  // namespace oblique
