// Loops over all rows of a node for every direction. Each is compiled for several instruction sets, and the loader or
// `use_kernels` chooses one. None uses fused multiply-adds, so all give the same bits.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// The instruction sets of this processor for kernels, in rising order, and the one in use: the last, until
// `use_kernels` names another. Throws std::invalid_argument for a name that is not in the list.
const std::vector<std::string>& kernel_sets();
std::string used_kernels();
void use_kernels(const std::string& name);

struct Range {
  double low;
  double high;
};

// z[i] = x[i] - c * w[i]; returns the smallest and the largest z. n >= 1.
Range project_reflected(const double* x, const double* w, double c, double* z, size_t n);

// The same range, without storing z.
Range range_of_reflected(const double* x, const double* w, double c, size_t n);

// Smallest and largest value of z. n >= 1.
Range range_of(const double* z, size_t n);

// Largest value of x. n >= 1.
float largest_of(const float* x, size_t n);
double largest_of(const double* x, size_t n);

// out[i] = sum over j of u[j] * columns[j][i], added up in the order of j.
void combine_columns(const double* const* columns, const double* u, size_t p, double* out, size_t n);

// combine_columns for four u at once, each with an output of its own, in one pass over the columns; the same bits.
void combine_four(const double* const* columns, const double* const* u, size_t p, double* const* out, size_t n);

// y[i] += a * x[i]
void add_scaled(double a, const double* x, double* y, size_t n);

// Sum of x[i] * y[i], added up in eight fixed lanes.
double dot_columns(const double* x, const double* y, size_t n);

// dot_columns in stretches: adds x[i] * y[i] to the eight lanes, whose sum is the product over all stretches, to the
// bit. The length of every stretch but the last is a multiple of 8.
void add_dot(const double* x, const double* y, size_t n, double* lanes);
double sum_of_lanes(const double* lanes);

// The product that decides the side of a row, in growth and in prediction: four fixed lanes, then their sum.
double dot_row(const double* w, const double* x, size_t p);
// z[i] = dot_row of row rows[i] of a table of p columns.
void dot_rows(const double* w, const double* x, const uint32_t* rows, size_t n, size_t p, double* z);

// bins[i] = min(n_bins - 1, floor((z[i] - low) * scale)). Monotone in z, so equal values share a bin.
void bin_rows(const double* z, double low, double scale, int n_bins, uint8_t* bins, size_t n);

// Divides bins into equal parts: row i of bin b = bins[i] (by bin_rows) gets one of the parts[b] parts of b, which are
// numbered from first[b]. Monotone in z, and all parts are below 256.
void part_rows(const double* z, double low, double scale, const int* first, const double* parts, uint8_t* bins,
               size_t n);

// The steps t = v / c at which v - t c changes sign, as keys in (-1, 1) that increase with t: t / (scale + |t|), which
// is v sign(c) / (scale |c| + |v|). Returns the smallest and the largest key. n >= 1.
Range step_keys(const double* v, const double* c, double scale, double* keys, size_t n);

// Largest |v|. n >= 1.
double largest_magnitude(const double* v, size_t n);

// below[i] : number of z that are less than values[i], for m values.
void count_below(const double* z, size_t n, const double* values, size_t m, uint32_t* below);

// Number and weight of the rows with v - t c <= 0.
size_t count_left(const double* v, const double* c, double t, size_t n);
double weigh_left(const double* v, const double* c, double t, const double* weights, size_t n);

// Sorts n <= 64 keys: the place of each is the number of smaller keys.
void sort_few(uint64_t* keys, size_t n);

// Class weights left of each bin edge, one row per class: class k at edge e is cum[k * stride + e]. Counts are floats,
// exact below 2^24; sample weights are doubles. Reads may extend to the next multiple of 16 edges and one more.
template <class T>
struct ClassEdges {
  const T* cum = nullptr;
  size_t stride = 0;
  const T* totals = nullptr;
  int n_classes = 0;
  int n_edges = 0;
};

// At every edge: sum of l, sum of l^2, sum of (N - l)^2, largest l, largest N - l. Outputs are padded like the rows.
template <class T>
struct EdgeSums {
  T *s, *left_square, *right_square, *left_max, *right_max;
};
void edge_sums(const ClassEdges<float>& edges, const EdgeSums<float>& out);
void edge_sums(const ClassEdges<double>& edges, const EdgeSums<double>& out);

// cum[0] = 0, cum[b + 1] = counts of bins 0..b in both tables; clears both tables. n_bins is a multiple of 16.
void cumulate(uint32_t* counts, uint32_t* more, int n_bins, float* cum);
void cumulate(const double* weights, int n_bins, double* cum);

// Upper bounds of the Gini and the twoing value in every bin (criteria.hpp), padded like cum; n : sum of the totals.
void gini_bounds(const ClassEdges<float>& edges, const EdgeSums<float>& sums, float n, float* bound);
void gini_bounds(const ClassEdges<double>& edges, const EdgeSums<double>& sums, double n, double* bound);
void twoing_bounds(const ClassEdges<float>& edges, const EdgeSums<float>& sums, float n, float* bound);
void twoing_bounds(const ClassEdges<double>& edges, const EdgeSums<double>& sums, double n, double* bound);

// The numbers 0, 1, ..., n - 1.
inline std::vector<uint32_t> numbers_to(size_t n) {
  std::vector<uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  return out;
}

// Returns use(size), with the size as a constant from 1 to Most, or 0 for any larger one.
template <size_t Most, class Use>
decltype(auto) with_size(size_t size, const Use& use) {
  if constexpr (Most > 1)
    if (size < Most) return with_size<Most - 1>(size, use);
  if (size == Most) return use(std::integral_constant<size_t, Most>{});
  return use(std::integral_constant<size_t, 0>{});
}

// Moves the n values that go left before the others, keeping the order of both, and returns their number. No branch
// depends on a side, because no processor can predict it.
// right : buffer for n values; goes_right : 0 or 1 for a place and its value
template <class T, class GoesRight>
size_t divide_in_order(T* values, size_t n, T* right, const GoesRight& goes_right) {
  size_t l = 0, r = 0;
  for (size_t i = 0; i < n; ++i) {
    const T value = values[i];
    const size_t side = goes_right(i, value);
    values[l] = value;
    right[r] = value;
    l += 1u - side;
    r += side;
  }
  std::copy(right, right + r, values + l);
  return l;
}

}  // namespace oblique
