#include "linear/row_blocks.hpp"

#include "common/clones.hpp"
#include "common/kernels.hpp"

namespace oblique {
namespace {

// Sums of products over many columns at a time, in registers of 32 or of 64 bytes with the same bits.

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

// out[c * to] += the numbers of column c in order, for columns `stride` apart: several sums at once need not wait.
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

template <class Vector>
OBLIQUE_INLINE void each_product(const double* s, const double* const* columns, size_t count, double* out, size_t n) {
  size_t c = 0;
  for (; c + 4 <= count; c += 4) add_tile<Vector, 1>(&s, columns + c, n, out + c, 0);
  for (; c < count; ++c) out[c] += dot_columns(s, columns[c], n);
}

}  // namespace

OBLIQUE_BY_WIDTH(add_products, (const double* s, const double* const* columns, size_t count, double* out, size_t n),
                 (s, columns, count, out, n), each_product<Pack<double, W>>(s, columns, count, out, n))

OBLIQUE_CLONES
void scale_columns(const double* __restrict h, const double* const* columns, size_t count, double* __restrict scaled,
                   double* __restrict sums, size_t n) {
  for (size_t c = 0; c < count; ++c) {
    const double* __restrict x = columns[c];
    double* __restrict out = scaled + c * n;
    for (size_t i = 0; i < n; ++i) out[i] = h[i] * x[i];
  }
  add_sums(scaled, n, count, sums, 1, n);
}

OBLIQUE_CLONES
void step_margins(const double* __restrict margin, double size, const double* __restrict side,
                  const double* __restrict slope, double* __restrict out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = margin[i] + size * side[i] * slope[i];
}

OBLIQUE_CLONES
void project_columns(const double* __restrict columns, size_t n, const double* __restrict w, size_t p,
                     double* __restrict out) {
  constexpr size_t together = 16;
  double last[together];
  for (size_t i = 0; i < n; i += together) {
    const size_t rows = n - i < together ? n - i : together;
    double* to = rows < together ? last : out + i;
    Four lanes[4][4] = {};
    for (size_t lane = 0; lane < 4; ++lane) {
      Four sum[4] = {};
      for (size_t j = lane; j < p; j += 4) {
        if (w[j] == 0.0) continue;  // adding 0 changes nothing
        const double* x = columns + j * n + i;
        if (rows < together) {
          for (size_t k = 0; k < rows; ++k) sum[k / 4][k % 4] += w[j] * x[k];
        } else {
          for (size_t m = 0; m < 4; ++m) sum[m] += w[j] * load_four(x + 4 * m);
        }
      }
      for (size_t m = 0; m < 4; ++m) lanes[lane][m] = sum[m];
    }
    for (size_t m = 0; m < 4; ++m) {
      const Four sum = (lanes[0][m] + lanes[1][m]) + (lanes[2][m] + lanes[3][m]);
      std::memcpy(to + 4 * m, &sum, sizeof sum);
    }
    if (rows < together) std::memcpy(out + i, last, rows * sizeof(double));
  }
}

OBLIQUE_CLONES
void sides_of_rows(const double* __restrict w, double b, const double* x, size_t p, const uint32_t* rows, size_t n,
                   uint8_t* __restrict left) {
  for (size_t i = 0; i < n; ++i) {
    const double* __restrict row = x + rows[i] * p;
    Four sum = {};
    size_t j = 0;
    for (; j + 4 <= p; j += 4) sum += load_four(w + j) * load_four(row + j);
    for (size_t k = 0; j < p; ++j, ++k) sum[k] += w[j] * row[j];
    left[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]) + b <= 0.0;
  }
}

namespace {

// exp(x) = 2^k exp(r), |r| <= ln 2 / 2, by the Taylor series of exp(r) to r^13: the remainder is below the last bit.
// x <= 0, at least -700.
OBLIQUE_INLINE double power_of(double x) {
  constexpr double least = -700.0, inverse = 1.4426950408889634074, high = 6.93147180369123816490e-01,
                   low = 1.90821492927058770002e-10;
  constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52: adding a number to it rounds off its fraction
  const double bounded = x < least ? least : x;
  const double shifted = bounded * inverse + whole, k = shifted - whole;
  const double r = (bounded - k * high) - k * low;
  double y = 1.0 / 6227020800.0;
  y = y * r + 1.0 / 479001600.0;
  y = y * r + 1.0 / 39916800.0;
  y = y * r + 1.0 / 3628800.0;
  y = y * r + 1.0 / 362880.0;
  y = y * r + 1.0 / 40320.0;
  y = y * r + 1.0 / 5040.0;
  y = y * r + 1.0 / 720.0;
  y = y * r + 1.0 / 120.0;
  y = y * r + 1.0 / 24.0;
  y = y * r + 1.0 / 6.0;
  y = y * r + 0.5;
  y = y * r + 1.0;
  y = y * r + 1.0;
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023u) << 52;  // the integer is in the lowest bits of `shifted`
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return y * power;
}

// log(1 + x) for 0 <= x <= 1: 2 artanh(x / (2 + x)), by its series; the remainder is below the last bit.
OBLIQUE_INLINE double log_above_1(double x) {
  const double s = x / (2.0 + x), square = s * s;
  double y = 1.0 / 33.0;
  y = y * square + 1.0 / 31.0;
  y = y * square + 1.0 / 29.0;
  y = y * square + 1.0 / 27.0;
  y = y * square + 1.0 / 25.0;
  y = y * square + 1.0 / 23.0;
  y = y * square + 1.0 / 21.0;
  y = y * square + 1.0 / 19.0;
  y = y * square + 1.0 / 17.0;
  y = y * square + 1.0 / 15.0;
  y = y * square + 1.0 / 13.0;
  y = y * square + 1.0 / 11.0;
  y = y * square + 1.0 / 9.0;
  y = y * square + 1.0 / 7.0;
  y = y * square + 1.0 / 5.0;
  y = y * square + 1.0 / 3.0;
  return 2.0 * (s + s * (y * square));
}

}  // namespace

OBLIQUE_CLONES
void logistic_losses(const double* __restrict margin, double* __restrict power, double* __restrict losses, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double m = margin[i];
    power[i] = power_of(m > 0.0 ? -m : m);
    losses[i] = log_above_1(power[i]) - (m < 0.0 ? m : 0.0);
  }
}

OBLIQUE_CLONES
void logistic_slopes(const double* __restrict margin, const double* __restrict power, const double* __restrict side,
                     const double* __restrict weight, double* __restrict first, double* __restrict second, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double above = 1.0 + power[i], other = (margin[i] > 0.0 ? power[i] : 1.0) / above;
    first[i] = -weight[i] * side[i] * other;
    second[i] = weight[i] * power[i] / (above * above);
  }
}

// For softmax regression.

namespace {

// Processes some rows for kClasses classes at a time: the sums stay in registers.
template <class Vector, size_t kClasses, size_t kRows>
OBLIQUE_INLINE void combine_tile(const double* w, size_t of_class, const StridedColumns& x, double* out, size_t to) {
  constexpr size_t kEach = sizeof(Vector) / sizeof(double), kVectors = kRows / kEach;
  Vector sum[kClasses][kVectors];
  for (size_t k = 0; k < kClasses; ++k)
    for (size_t v = 0; v < kVectors; ++v) sum[k][v] = load_as<Vector>(out + k * to + v * kEach);
  for (size_t j = 0; j < x.count; ++j) {
    Vector column[kVectors];
    for (size_t v = 0; v < kVectors; ++v) column[v] = load_as<Vector>(x.first + j * x.stride + v * kEach);
    for (size_t k = 0; k < kClasses; ++k) {
      const double by = w[k * of_class + j];
      for (size_t v = 0; v < kVectors; ++v) sum[k][v] += by * column[v];
    }
  }
  for (size_t k = 0; k < kClasses; ++k)
    for (size_t v = 0; v < kVectors; ++v) std::memcpy(out + k * to + v * kEach, &sum[k][v], sizeof(Vector));
}

template <class Vector, size_t kClasses>
OBLIQUE_INLINE void combine_classes(const double* w, size_t of_class, const StridedColumns& x, double* out, size_t to,
                                    size_t n) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    combine_tile<Vector, kClasses, 16>(w, of_class, {x.first + i, x.stride, x.count}, out + i, to);
  for (; i + 8 <= n; i += 8)
    combine_tile<Vector, kClasses, 8>(w, of_class, {x.first + i, x.stride, x.count}, out + i, to);
  for (; i < n; ++i) {
    double sum[kClasses];
    for (size_t k = 0; k < kClasses; ++k) sum[k] = out[k * to + i];
    for (size_t j = 0; j < x.count; ++j)
      for (size_t k = 0; k < kClasses; ++k) sum[k] += w[k * of_class + j] * x.first[j * x.stride + i];
    for (size_t k = 0; k < kClasses; ++k) out[k * to + i] = sum[k];
  }
}

constexpr size_t kChunk = 64;  // rows whose columns stay in the nearest cache for all classes

template <class Vector, size_t kMost>
OBLIQUE_INLINE void combine(const double* w, size_t of_class, size_t n_classes, const StridedColumns& all, double* out,
                            size_t to, size_t n) {
  for (size_t begin = 0; begin < n; begin += kChunk, out += kChunk) {
    const StridedColumns x{all.first + begin, all.stride, all.count};
    const size_t rows = n - begin < kChunk ? n - begin : kChunk;
    size_t k = 0;
    for (; k + kMost <= n_classes; k += kMost)
      combine_classes<Vector, kMost>(w + k * of_class, of_class, x, out + k * to, to, rows);
    if constexpr (kMost > 2)
      for (; k + 2 <= n_classes; k += 2)
        combine_classes<Vector, 2>(w + k * of_class, of_class, x, out + k * to, to, rows);
    for (; k < n_classes; ++k) combine_classes<Vector, 1>(w + k * of_class, of_class, x, out + k * to, to, rows);
  }
}

template <class Vector, size_t kMost>
OBLIQUE_INLINE void products(const StridedColumns& s, const StridedColumns& x, double* out, size_t to, size_t n) {
  size_t b = 0;
  for (; b + 4 <= x.count; b += 4) {
    const double* of_x[4];
    for (size_t m = 0; m < 4; ++m) of_x[m] = x.first + (b + m) * x.stride;
    size_t a = 0;
    for (; a + kMost <= s.count; a += kMost) {
      const double* of_s[kMost];
      for (size_t m = 0; m < kMost; ++m) of_s[m] = s.first + (a + m) * s.stride;
      add_tile<Vector, kMost>(of_s, of_x, n, out + a * to + b, to);
    }
    for (; a < s.count; ++a) {
      const double* of_s = s.first + a * s.stride;
      add_tile<Vector, 1>(&of_s, of_x, n, out + a * to + b, to);
    }
  }
  for (; b < x.count; ++b)
    for (size_t a = 0; a < s.count; ++a)
      out[a * to + b] += dot_columns(s.first + a * s.stride, x.first + b * x.stride, n);
}

}  // namespace

OBLIQUE_BY_WIDTH(add_combined,
                 (const double* w, size_t of_class, size_t n_classes, const StridedColumns& x, double* out, size_t to,
                  size_t n),
                 (w, of_class, n_classes, x, out, to, n),
                 combine<Pack<double, W>, W / 16>(w, of_class, n_classes, x, out, to, n))

OBLIQUE_BY_WIDTH(add_products, (const StridedColumns& s, const StridedColumns& x, double* out, size_t to, size_t n),
                 (s, x, out, to, n), products<Pack<double, W>, W / 32>(s, x, out, to, n))

namespace {

// One right side in each lane. Products are summed as in dot_columns: in eight sums, with the remainder in the first.
template <class Vector>
OBLIQUE_INLINE void solve_lanes(const double* factor, size_t size, double* d, size_t count, double* spare) {
  constexpr size_t kEach = sizeof(Vector) / sizeof(double), kSums = 8;
  for (size_t j = 0; j < size; ++j)
    for (size_t k = 0; k < kEach; ++k) spare[j * kEach + k] = k < count ? d[k * size + j] : 0.0;
  const auto at = [&](size_t j) __attribute__((always_inline)) { return load_as<Vector>(spare + j * kEach); };
  const auto put = [&](size_t j, Vector v) __attribute__((always_inline)) {
    std::memcpy(spare + j * kEach, &v, sizeof v);
  };
  for (size_t j = 0; j < size; ++j) {
    const double* row = factor + j * size;
    Vector sum[kSums] = {};
    size_t i = 0;
    for (; i + kSums <= j; i += kSums)
      for (size_t m = 0; m < kSums; ++m) sum[m] += row[i + m] * at(i + m);
    for (; i < j; ++i) sum[0] += row[i] * at(i);
    const Vector all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    put(j, (at(j) - all) / row[j]);
  }
  for (size_t j = size; j-- > 0;) {
    const double* row = factor + j * size;
    const Vector solved = at(j) / row[j];
    put(j, solved);
    for (size_t i = 0; i < j; ++i) put(i, at(i) - solved * row[i]);
  }
  for (size_t j = 0; j < size; ++j)
    for (size_t k = 0; k < count; ++k) d[k * size + j] = spare[j * kEach + k];
}

template <class Vector>
OBLIQUE_INLINE void solve_by_lanes(const double* factor, size_t size, double* d, size_t count, double* spare) {
  constexpr size_t kEach = sizeof(Vector) / sizeof(double);
  while (count > 4) {
    const size_t now = count < kEach ? count : kEach;
    solve_lanes<Vector>(factor, size, d, now, spare);
    d += now * size;
    count -= now;
  }
  if (count > 0) solve_lanes<Four>(factor, size, d, count, spare);
}

}  // namespace

OBLIQUE_BY_WIDTH(solve_factored, (const double* factor, size_t size, double* d, size_t count, double* spare),
                 (factor, size, d, count, spare), solve_by_lanes<Pack<double, W>>(factor, size, d, count, spare))

OBLIQUE_CLONES
void score_rows(const double* w, const double* const* x, size_t p, double* scores) {
  Four sum[4][2];
  for (size_t r = 0; r < 4; ++r)
    for (size_t h = 0; h < 2; ++h) sum[r][h] = load_four(scores + 8 * r + 4 * h);
  for (size_t j = 0; j < p; ++j) {
    const Four low = load_four(w + 8 * j), high = load_four(w + 8 * j + 4);
    for (size_t r = 0; r < 4; ++r) {
      sum[r][0] += low * x[r][j];
      sum[r][1] += high * x[r][j];
    }
  }
  for (size_t r = 0; r < 4; ++r)
    for (size_t h = 0; h < 2; ++h) std::memcpy(scores + 8 * r + 4 * h, &sum[r][h], sizeof(Four));
}

OBLIQUE_CLONES
void add_column_sums(const StridedColumns& s, double* out, size_t to, size_t n) {
  add_sums(s.first, s.stride, s.count, out, to, n);
}

OBLIQUE_CLONES
void add_powers(double* __restrict x, const double* __restrict top, double* __restrict sum, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    x[i] = power_of(x[i] - top[i]);
    sum[i] += x[i];
  }
}

OBLIQUE_CLONES
void raise_to(const double* __restrict x, double* __restrict top, size_t n) {
  for (size_t i = 0; i < n; ++i) top[i] = x[i] > top[i] ? x[i] : top[i];
}

OBLIQUE_CLONES
void scale_by(double* __restrict x, const double* __restrict by, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= by[i];
}

}  // namespace oblique
