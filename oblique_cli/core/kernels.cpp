#include "kernels.hpp"

#include <cmath>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define OBLIQUE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define OBLIQUE_CLONES
#endif

namespace oblique {

namespace {
constexpr std::size_t kLanes = 8;
}

OBLIQUE_CLONES
Range project_reflected(const double* __restrict x, const double* __restrict w, double c, double* __restrict z,
                        std::size_t n) {
  double low = x[0] - c * w[0], high = low;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = x[i] - c * w[i];
    z[i] = value;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  return {low, high};
}

OBLIQUE_CLONES
Range range_of(const double* __restrict z, std::size_t n) {
  double low = z[0], high = z[0];
  for (std::size_t i = 0; i < n; ++i) {
    low = z[i] < low ? z[i] : low;
    high = z[i] > high ? z[i] : high;
  }
  return {low, high};
}

OBLIQUE_CLONES
void add_scaled(double a, const double* __restrict x, double* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

OBLIQUE_CLONES
double dot_columns(const double* __restrict x, const double* __restrict y, std::size_t n) {
  double sum[kLanes] = {0, 0, 0, 0, 0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) sum[k] += x[i + k] * y[i + k];
  }
  for (; i < n; ++i) sum[0] += x[i] * y[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

OBLIQUE_CLONES
double dot_row(const double* __restrict w, const double* __restrict x, std::size_t p) {
  double sum[4] = {0, 0, 0, 0};
  std::size_t j = 0;
  for (; j + 4 <= p; j += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += w[j + k] * x[j + k];
  }
  for (std::size_t k = 0; j < p; ++j, ++k) sum[k] += w[j] * x[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

OBLIQUE_CLONES
void bin_rows(const double* __restrict z, double low, double scale, int n_bins, std::uint8_t* __restrict bins,
              std::size_t n) {
  const int last = n_bins - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const int bin = static_cast<int>((z[i] - low) * scale);
    bins[i] = static_cast<std::uint8_t>(bin < last ? bin : last);
  }
}

OBLIQUE_CLONES
void accumulate_edges(const double* __restrict cum, double total, int n_edges, double* __restrict s,
                      double* __restrict q, double* __restrict m) {
  for (int e = 0; e < n_edges; ++e) {
    const double l = cum[e];
    s[e] += l;
    q[e] += l * l;
    m[e] += total * l;
  }
}

void cumulate_counts(const std::uint32_t* __restrict counts, int n_bins, double* __restrict cum) {
  std::uint32_t sum = 0;
  cum[0] = 0.0;
  for (int b = 0; b < n_bins; ++b) {
    sum += counts[b];
    cum[b + 1] = static_cast<double>(sum);
  }
}

void cumulate_weights(const double* __restrict weights, int n_bins, double* __restrict cum) {
  double sum = 0.0;
  cum[0] = 0.0;
  for (int b = 0; b < n_bins; ++b) {
    sum += weights[b];
    cum[b + 1] = sum;
  }
}

OBLIQUE_CLONES
void gini_bound_terms(const double* __restrict cum, double total, int n_bins, const double* __restrict inv_lo,
                      const double* __restrict inv_nlo, const double* __restrict inv_hi,
                      const double* __restrict inv_nhi, const double* __restrict lambda, double* __restrict at_lo,
                      double* __restrict at_hi) {
  for (int b = 0; b < n_bins; ++b) {
    const double left = cum[b], right = cum[b + 1];
    const double d = right - left, sum = left + right, rest = 2.0 * total - sum;
    const double lo = sum * inv_lo[b] - rest * inv_nlo[b] - lambda[b];
    const double hi = sum * inv_hi[b] - rest * inv_nhi[b] - lambda[b];
    at_lo[b] += d * (lo > 0.0 ? lo : 0.0);
    at_hi[b] += d * (hi > 0.0 ? hi : 0.0);
  }
}

OBLIQUE_CLONES
void largest_class_terms(const double* __restrict cum, double total, int n_edges, double* __restrict left,
                         double* __restrict right) {
  for (int e = 0; e < n_edges; ++e) {
    const double l = cum[e], r = total - cum[e];
    left[e] = l > left[e] ? l : left[e];
    right[e] = r > right[e] ? r : right[e];
  }
}

OBLIQUE_CLONES
void twoing_bound_terms(const double* __restrict cum, double total, double n, int n_bins, const double* __restrict lo,
                        const double* __restrict hi, const double* __restrict mu, double* __restrict at_lo,
                        double* __restrict at_hi) {
  for (int b = 0; b < n_bins; ++b) {
    const double a = n * cum[b], c = n * cum[b + 1];
    const double ya = a - total * lo[b], yc = c - total * lo[b];
    const double za = a - total * hi[b], zc = c - total * hi[b];
    const double fa = std::fabs(ya) + mu[b] * ya, fc = std::fabs(yc) + mu[b] * yc;
    const double ga = std::fabs(za) + mu[b] * za, gc = std::fabs(zc) + mu[b] * zc;
    at_lo[b] += fa > fc ? fa : fc;
    at_hi[b] += ga > gc ? ga : gc;
  }
}

}  // namespace oblique
