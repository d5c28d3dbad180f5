#include "linear/softmax_block.hpp"

#include <cstdint>
#include <cstring>

#include "common/clones.hpp"
#include "common/kernels.hpp"
#include "linear/lanes.hpp"

namespace oblique {
OBLIQUE_CLONES
void add_combined(const double* w, const double* columns, std::size_t stride, std::size_t p, double* __restrict out,
                  std::size_t n) {
  std::size_t j = 0;
  for (; j + 4 <= p; j += 4) {
    const double* __restrict a = columns + j * stride;
    const double* __restrict b = a + stride;
    const double* __restrict c = b + stride;
    const double* __restrict d = c + stride;
    const double u = w[j], v = w[j + 1], s = w[j + 2], t = w[j + 3];
    for (std::size_t i = 0; i < n; ++i) out[i] = (((out[i] + u * a[i]) + v * b[i]) + s * c[i]) + t * d[i];
  }
  for (; j < p; ++j) {
    const double* __restrict a = columns + j * stride;
    for (std::size_t i = 0; i < n; ++i) out[i] += w[j] * a[i];
  }
}

OBLIQUE_CLONES
void add_products(const double* __restrict s, const double* columns, std::size_t stride, std::size_t p,
                  double* __restrict out, std::size_t n) {
  constexpr std::size_t lanes = 8;
  std::size_t j = 0;
  for (; j + 4 <= p; j += 4) {
    const double* __restrict a = columns + j * stride;
    const double* __restrict b = a + stride;
    const double* __restrict c = b + stride;
    const double* __restrict d = c + stride;
    Four of[4][2] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const Four first = load_four(s + i), second = load_four(s + i + 4);
      of[0][0] += first * load_four(a + i);
      of[0][1] += second * load_four(a + i + 4);
      of[1][0] += first * load_four(b + i);
      of[1][1] += second * load_four(b + i + 4);
      of[2][0] += first * load_four(c + i);
      of[2][1] += second * load_four(c + i + 4);
      of[3][0] += first * load_four(d + i);
      of[3][1] += second * load_four(d + i + 4);
    }
    double sum[4][lanes];
    std::memcpy(sum, of, sizeof sum);
    for (; i < n; ++i) {
      sum[0][0] += s[i] * a[i];
      sum[1][0] += s[i] * b[i];
      sum[2][0] += s[i] * c[i];
      sum[3][0] += s[i] * d[i];
    }
    for (std::size_t m = 0; m < 4; ++m) {
      const double* v = sum[m];
      out[j + m] += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    }
  }
  for (; j < p; ++j) out[j] += dot_columns(s, columns + j * stride, n);
}

// By halves of ln 2: exp(x) = 2^k exp(r), |r| <= ln 2 / 2, and the Taylor series of exp(r) to r^13, whose remainder is
// below the last bit.
OBLIQUE_CLONES
void add_powers(double* __restrict x, const double* __restrict top, double* __restrict sum, std::size_t n) {
  constexpr double least = -700.0, inverse = 1.4426950408889634074, high = 6.93147180369123816490e-01,
                   low = 1.90821492927058770002e-10;
  constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52: a number that is added to it loses its fraction
  for (std::size_t i = 0; i < n; ++i) {
    const double value = x[i] - top[i], bounded = value < least ? least : value;
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
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023u) << 52;  // the whole number is in the lowest bits of `shifted`
    double power;
    std::memcpy(&power, &bits, sizeof power);
    x[i] = y * power;
    sum[i] += x[i];
  }
}

OBLIQUE_CLONES
void raise_to(const double* __restrict x, double* __restrict top, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) top[i] = x[i] > top[i] ? x[i] : top[i];
}

OBLIQUE_CLONES
void scale_by(double* __restrict x, const double* __restrict by, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= by[i];
}

}  // namespace oblique
