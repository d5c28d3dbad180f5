#include "rows/exact_moments.hpp"

#include "common/clones.hpp"
#include "common/interrupt.hpp"

namespace oblique {

namespace exact {

constexpr size_t kStretch = 512;     // rows at a time: sums of so many multiples of 2^-40 are exact in double
constexpr double kRounder = 6144.0;  // 1.5 * 2^12: adding it rounds to a multiple of 2^-40
constexpr double kUnits = 0x1p40;

// Sum of x[i] * y[i], each product rounded to a multiple of 2^-40: exact, and therefore the same in every order.
OBLIQUE_NARROW
double rounded_dot(const double* __restrict x, const double* __restrict y, size_t n) {
  double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t k = 0; k < 8; ++k) sum[k] += (x[i + k] * y[i + k] + kRounder) - kRounder;
  }
  for (; i < n; ++i) sum[0] += (x[i] * y[i] + kRounder) - kRounder;
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

OBLIQUE_NARROW
void frame_column(const double* __restrict x, double center, double inverse, double* __restrict y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = (x[i] - center) * inverse;
}

OBLIQUE_NARROW
void add_squares(const double* __restrict y, double* __restrict square, size_t n) {
  for (size_t i = 0; i < n; ++i) square[i] += y[i] * y[i];
}

OBLIQUE_NARROW
void multiply(const double* __restrict x, const double* __restrict y, double unit, double* __restrict out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * (y[i] * unit);
}

}  // namespace exact

double value_of(int64_t high, int64_t low) {
  high += low >> 32;
  low &= 0xffffffff;
  return (static_cast<double>(high) * 0x1p32 + static_cast<double>(low)) / exact::kUnits;
}

bool varies(double low, double high) {
  return 0.5 * high - 0.5 * low > 0.5 * kSameValue * std::max(std::fabs(high), std::fabs(low));
}

bool class_frame(const double* low, const double* high, size_t p, double* center, double* inverse) {
  bool distinct = false;
  for (size_t j = 0; j < p; ++j) {
    center[j] = 0.5 * low[j] + 0.5 * high[j];
    inverse[j] = 0.0;
    if (!varies(low[j], high[j])) continue;
    const double reach = std::max(high[j] - center[j], center[j] - low[j]);
    inverse[j] = std::ldexp(1.0, std::clamp(-std::ilogb(reach) - 1, -1020, 1020));
    distinct = true;
  }
  return distinct;
}

double weight_unit(double heaviest) { return std::ldexp(1.0, -std::ilogb(heaviest) - 1); }

void ExactMoments::add(const FramedRows& rows, const double* center, const double* inverse, int64_t* high,
                       int64_t* low) {
  const size_t p = rows.p;
  framed_.resize((p + 1) * exact::kStretch);
  for (size_t first = 0; first < rows.n; first += exact::kStretch) {
    const size_t n = std::min(exact::kStretch, rows.n - first);
    for (size_t j = 0; j < p; ++j)
      exact::frame_column(rows.columns[j] + first, center[j], inverse[j], framed_.data() + j * exact::kStretch, n);
    add_stretch(n, p, rows.weights ? rows.weights + first : nullptr, rows.unit, high, low);
  }
}

void ExactMoments::add_stretch(size_t n, size_t p, const double* weights, double unit, int64_t* high, int64_t* low) {
  std::fill_n(framed_.begin() + (p * exact::kStretch), n, 1.0);
  weighted_.resize(exact::kStretch);
  for (size_t j = 0; j <= p; ++j) {
    const double* y = framed_.data() + j * exact::kStretch;
    if (weights) {
      exact::multiply(y, weights, unit, weighted_.data(), n);
      y = weighted_.data();
    }
    for (size_t k = 0; k <= j; ++k) {
      const double sum = exact::rounded_dot(framed_.data() + k * exact::kStretch, y, n);
      const int64_t units = static_cast<int64_t>(sum * exact::kUnits);
      high[packed(j, k)] += units >> 32;
      low[packed(j, k)] += units & 0xffffffff;
    }
  }
  checkpoint(p * p * n / 2);
}

void ExactMoments::deviations(const FramedRows& rows, size_t first, size_t n, const double* mean, const double* inverse,
                              double factor) {
  framed_.resize((rows.p + 1) * exact::kStretch);
  square_.assign(exact::kStretch, 0.0);
  for (size_t j = 0; j < rows.p; ++j) {
    double* y = framed_.data() + j * exact::kStretch;
    exact::frame_column(rows.columns[j] + first, mean[j], inverse[j] > 0.0 ? factor : 0.0, y, n);
    exact::add_squares(y, square_.data(), n);
  }
  checkpoint(rows.p * n);
}

double ExactMoments::largest_square(const FramedRows& rows, const double* mean, const double* inverse, double factor) {
  double largest = 0.0;
  for (size_t first = 0; first < rows.n; first += exact::kStretch) {
    const size_t n = std::min(exact::kStretch, rows.n - first);
    deviations(rows, first, n, mean, inverse, factor);
    for (size_t i = 0; i < n; ++i) largest = std::max(largest, square_[i]);
  }
  return largest;
}

void ExactMoments::add_unit_rows(const FramedRows& rows, const double* mean, const double* inverse, double factor,
                                 double least, int64_t* high, int64_t* low) {
  for (size_t first = 0; first < rows.n; first += exact::kStretch) {
    const size_t n = std::min(exact::kStretch, rows.n - first);
    deviations(rows, first, n, mean, inverse, factor);
    for (size_t i = 0; i < n; ++i) {
      const double length = std::sqrt(square_[i]);
      square_[i] = length > least ? 1.0 / length : 0.0;
    }
    for (size_t j = 0; j < rows.p; ++j) {
      double* y = framed_.data() + j * exact::kStretch;
      for (size_t i = 0; i < n; ++i) y[i] *= square_[i];
    }
    add_stretch(n, rows.p, rows.weights ? rows.weights + first : nullptr, rows.unit, high, low);
  }
}

void ClassSums::products(Vector& out) const {
  out.assign(p * p, 0.0);
  for (size_t j = 0; j < p; ++j)
    for (size_t k = 0; k <= j; ++k) out[j * p + k] = out[k * p + j] = moment(j, k);
}

void ClassSums::scatter(double factor, double scale, Vector& out) const {
  out.assign(p * p, 0.0);
  const auto back = [&](size_t j) { return factor / inverse[j]; };
  for (size_t j = 0; j < p; ++j) {
    if (!(inverse[j] > 0.0)) continue;
    const double sum = moment(p, j);
    for (size_t k = 0; k <= j; ++k) {
      if (!(inverse[k] > 0.0)) continue;
      const double about_mean = moment(j, k) - sum * (moment(p, k) / total);
      out[j * p + k] = out[k * p + j] = scale * (about_mean * back(j) * back(k));
    }
  }
}

}  // namespace oblique
