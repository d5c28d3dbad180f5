// The loops that touch every row of a node for every direction. Each is compiled for several instruction sets and the
// processor's own is chosen when the library is loaded; none uses fused multiply-adds, so all give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oblique {

struct Range {
  double low;
  double high;
};

// z[i] = x[i] - c * w[i]; returns the smallest and the largest z. n >= 1.
Range project_reflected(const double* x, const double* w, double c, double* z, std::size_t n);

// Smallest and largest value of z. n >= 1.
Range range_of(const double* z, std::size_t n);

// y[i] += a * x[i]
void add_scaled(double a, const double* x, double* y, std::size_t n);

// Sum of x[i] * y[i], added up in eight fixed lanes.
double dot_columns(const double* x, const double* y, std::size_t n);

// The product that decides the side of a row, in growth and in prediction: four fixed lanes, then their sum.
double dot_row(const double* w, const double* x, std::size_t p);

// bins[i] = min(n_bins - 1, floor((z[i] - low) * scale)). Monotone in z, so equal values share a bin.
void bin_rows(const double* z, double low, double scale, int n_bins, std::uint8_t* bins, std::size_t n);

// Running sums of one class' bin counts, and what they add to the sums over classes at the n_bins + 1 bin edges.
// cum has n_bins + 1 entries, cum[0] = 0.
void accumulate_edges(const double* cum, double total, int n_edges, double* s, double* q, double* m);
void cumulate_counts(const std::uint32_t* counts, int n_bins, double* cum);
void cumulate_weights(const double* weights, int n_bins, double* cum);

// What one class adds to the upper bounds of all bins (see criteria.hpp for the formulas).
void gini_bound_terms(const double* cum, double total, int n_bins, const double* inv_lo, const double* inv_nlo,
                      const double* inv_hi, const double* inv_nhi, const double* lambda, double* at_lo, double* at_hi);
// left[e] = max(left[e], l), right[e] = max(right[e], total - l) at every edge.
void largest_class_terms(const double* cum, double total, int n_edges, double* left, double* right);
void twoing_bound_terms(const double* cum, double total, double n, int n_bins, const double* lo, const double* hi,
                        const double* mu, double* at_lo, double* at_hi);

}  // namespace oblique
