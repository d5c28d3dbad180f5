#include "rows/exact_moments.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/interrupt.hpp"

// The loader chooses the code for newer processors, with the same bits (common/kernels.cpp).
#if !defined(OBLIQUE_NO_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define OBLIQUE_EXACT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define OBLIQUE_EXACT_CLONES
#endif

namespace oblique {

namespace exact {

std::atomic<std::size_t> above{65536};

constexpr std::size_t kStretch = 512;  // rows at a time: sums of so many multiples of 2^-40 are exact in double
constexpr double kRounder = 6144.0;    // 1.5 * 2^12: adding it rounds to a multiple of 2^-40
constexpr double kUnits = 0x1p40;
constexpr double kSame = 8 * std::numeric_limits<double>::epsilon();  // as in class_moments.cpp

// Sum of x[i] * y[i], each product rounded to a multiple of 2^-40. The sum is exact and therefore the same in every
// order.
OBLIQUE_EXACT_CLONES
double rounded_dot(const double* __restrict x, const double* __restrict y, std::size_t n) {
  double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sum[k] += (x[i + k] * y[i + k] + kRounder) - kRounder;
  }
  for (; i < n; ++i) sum[0] += (x[i] * y[i] + kRounder) - kRounder;
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

OBLIQUE_EXACT_CLONES
void frame_column(const double* __restrict x, double center, double inverse, double* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] - center) * inverse;
}

OBLIQUE_EXACT_CLONES
void add_squares(const double* __restrict y, double* __restrict square, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) square[i] += y[i] * y[i];
}

OBLIQUE_EXACT_CLONES
void multiply(const double* __restrict x, const double* __restrict y, double unit, double* __restrict out,
              std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] * (y[i] * unit);
}

}  // namespace exact

std::size_t exact_sums_above() { return exact::above; }
void set_exact_sums_above(std::size_t rows) { exact::above = rows; }

double value_of(std::int64_t high, std::int64_t low) {
  high += low >> 32;
  low &= 0xffffffff;
  return (static_cast<double>(high) * 0x1p32 + static_cast<double>(low)) / exact::kUnits;
}

bool class_frame(const double* low, const double* high, std::size_t p, double* center, double* inverse) {
  bool distinct = false;
  for (std::size_t j = 0; j < p; ++j) {
    center[j] = 0.5 * low[j] + 0.5 * high[j];
    inverse[j] = 0.0;
    const double largest = std::max(std::fabs(high[j]), std::fabs(low[j]));
    if (!(0.5 * high[j] - 0.5 * low[j] > 0.5 * exact::kSame * largest)) continue;
    const double reach = std::max(high[j] - center[j], center[j] - low[j]);
    inverse[j] = std::ldexp(1.0, std::clamp(-std::ilogb(reach) - 1, -1020, 1020));
    distinct = true;
  }
  return distinct;
}

double weight_unit(double heaviest) { return std::ldexp(1.0, -std::ilogb(heaviest) - 1); }

void ExactMoments::add(const FramedRows& rows, const double* center, const double* inverse, std::int64_t* high,
                       std::int64_t* low) {
  const std::size_t p = rows.p;
  framed_.resize((p + 1) * exact::kStretch);
  for (std::size_t first = 0; first < rows.n; first += exact::kStretch) {
    const std::size_t n = std::min(exact::kStretch, rows.n - first);
    for (std::size_t j = 0; j < p; ++j)
      exact::frame_column(rows.columns[j] + first, center[j], inverse[j], framed_.data() + j * exact::kStretch, n);
    add_stretch(n, p, rows.weights ? rows.weights + first : nullptr, rows.unit, high, low);
  }
}

void ExactMoments::add_stretch(std::size_t n, std::size_t p, const double* weights, double unit, std::int64_t* high,
                               std::int64_t* low) {
  std::fill_n(framed_.begin() + static_cast<std::ptrdiff_t>(p * exact::kStretch), n, 1.0);
  weighted_.resize(exact::kStretch);
  for (std::size_t j = 0; j <= p; ++j) {
    const double* y = framed_.data() + j * exact::kStretch;
    if (weights) {
      exact::multiply(y, weights, unit, weighted_.data(), n);
      y = weighted_.data();
    }
    for (std::size_t k = 0; k <= j; ++k) {
      const double sum = exact::rounded_dot(framed_.data() + k * exact::kStretch, y, n);
      const std::int64_t units = static_cast<std::int64_t>(sum * exact::kUnits);
      high[packed(j, k)] += units >> 32;
      low[packed(j, k)] += units & 0xffffffff;
    }
  }
  checkpoint(p * p * n / 2);
}

void ExactMoments::deviations(const FramedRows& rows, std::size_t first, std::size_t n, const double* mean,
                              const double* inverse, double factor) {
  framed_.resize((rows.p + 1) * exact::kStretch);
  square_.assign(exact::kStretch, 0.0);
  for (std::size_t j = 0; j < rows.p; ++j) {
    double* y = framed_.data() + j * exact::kStretch;
    exact::frame_column(rows.columns[j] + first, mean[j], inverse[j] > 0.0 ? factor : 0.0, y, n);
    exact::add_squares(y, square_.data(), n);
  }
  checkpoint(rows.p * n);
}

double ExactMoments::largest_square(const FramedRows& rows, const double* mean, const double* inverse, double factor) {
  double largest = 0.0;
  for (std::size_t first = 0; first < rows.n; first += exact::kStretch) {
    const std::size_t n = std::min(exact::kStretch, rows.n - first);
    deviations(rows, first, n, mean, inverse, factor);
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, square_[i]);
  }
  return largest;
}

void ExactMoments::add_unit_rows(const FramedRows& rows, const double* mean, const double* inverse, double factor,
                                 double least, std::int64_t* high, std::int64_t* low) {
  for (std::size_t first = 0; first < rows.n; first += exact::kStretch) {
    const std::size_t n = std::min(exact::kStretch, rows.n - first);
    deviations(rows, first, n, mean, inverse, factor);
    for (std::size_t i = 0; i < n; ++i) {
      const double length = std::sqrt(square_[i]);
      square_[i] = length > least ? 1.0 / length : 0.0;
    }
    for (std::size_t j = 0; j < rows.p; ++j) {
      double* y = framed_.data() + j * exact::kStretch;
      for (std::size_t i = 0; i < n; ++i) y[i] *= square_[i];
    }
    add_stretch(n, rows.p, rows.weights ? rows.weights + first : nullptr, rows.unit, high, low);
  }
}

void ClassSums::products(Vector& out) const {
  out.assign(p * p, 0.0);
  for (std::size_t j = 0; j < p; ++j)
    for (std::size_t k = 0; k <= j; ++k) out[j * p + k] = out[k * p + j] = moment(j, k);
}

void ClassSums::scatter(double factor, double scale, Vector& out) const {
  out.assign(p * p, 0.0);
  const auto back = [&](std::size_t j) { return factor / inverse[j]; };
  for (std::size_t j = 0; j < p; ++j) {
    if (!(inverse[j] > 0.0)) continue;
    const double sum = moment(p, j);
    for (std::size_t k = 0; k <= j; ++k) {
      if (!(inverse[k] > 0.0)) continue;
      const double about_mean = moment(j, k) - sum * (moment(p, k) / total);
      out[j * p + k] = out[k * p + j] = scale * (about_mean * back(j) * back(k));
    }
  }
}

}  // namespace oblique
