#include "linear/margin_block.hpp"

#include "common/kernels.hpp"
#include "linear/lanes.hpp"

namespace oblique {

namespace {

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

OBLIQUE_CLONES
void logistic_slopes(const double* __restrict margin, const double* __restrict power, const double* __restrict side,
                     const double* __restrict weight, double* __restrict first, double* __restrict second, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double above = 1.0 + power[i], other = (margin[i] > 0.0 ? power[i] : 1.0) / above;
    first[i] = -weight[i] * side[i] * other;
    second[i] = weight[i] * power[i] / (above * above);
  }
}

}  // namespace oblique
