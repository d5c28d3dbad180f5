// The inner loops of linear classifiers. Each gives the bits of the plain loop in its comment on every processor.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// out[c] += dot_columns(s, columns[c]) for each of `count` columns of n numbers.
void add_products(const double* s, const double* const* columns, size_t count, double* out, size_t n);

// scaled[c * n + i] = h[i] * columns[c][i]; sums[c] += each of these in turn.
void scale_columns(const double* h, const double* const* columns, size_t count, double* scaled, double* sums, size_t n);

// out[i] = margin[i] + size * side[i] * slope[i]
void step_margins(const double* margin, double size, const double* side, const double* slope, double* out, size_t n);

// out[i] = dot_row(w, row i), for p columns of n finite numbers in a row; features of weight 0 are not read.
void project_columns(const double* columns, size_t n, const double* w, size_t p, double* out);

// left[i] = dot_row(w, row rows[i] of x) + b <= 0, for rows of p finite numbers.
void sides_of_rows(const double* w, double b, const double* x, size_t p, const uint32_t* rows, size_t n, uint8_t* left);

// power[i] = exp(-|margin[i]|), losses[i] = log(1 + exp(-margin[i]))
void logistic_losses(const double* margin, double* power, double* losses, size_t n);

// First and second derivative of v log(1 + exp(-m)) by w.x + b, with m the margin and power = exp(-|m|).
void logistic_slopes(const double* margin, const double* power, const double* side, const double* weight, double* first,
                     double* second, size_t n);

// For softmax regression.

// Columns of numbers that are `stride` apart.
struct StridedColumns {
  const double* first;
  size_t stride, count;
};

// out[k * to + i] += w_k0 x_0[i] + w_k1 x_1[i] + ..., added up in this order; w: `of_class` apart for each class k.
void add_combined(const double* w, size_t of_class, size_t n_classes, const StridedColumns& x, double* out, size_t to,
                  size_t n);

// out[a * to + b] += dot_columns(s_a, x_b, n)
void add_products(const StridedColumns& s, const StridedColumns& x, double* out, size_t to, size_t n);

// Of four rows x and eight classes: scores[8 r + k] += w[8 j + k] x_r[j] for one j after the other.
void score_rows(const double* w, const double* const* x, size_t p, double* scores);

// out[a * to] += the n numbers of column a in order.
void add_column_sums(const StridedColumns& s, double* out, size_t to, size_t n);

// Solves L L' d = d for `count` right sides of `size` numbers. L : lower triangle by rows; spare : 8 * size numbers.
void solve_factored(const double* factor, size_t size, double* d, size_t count, double* spare);

// x[i] = exp(x[i] - top[i]), at most 1; sum[i] += x[i]. Exponents below -700 count as -700.
void add_powers(double* x, const double* top, double* sum, size_t n);

// top[i] = max(top[i], x[i])
void raise_to(const double* x, double* top, size_t n);

// x[i] *= by[i]
void scale_by(double* x, const double* by, size_t n);

}  // namespace oblique
