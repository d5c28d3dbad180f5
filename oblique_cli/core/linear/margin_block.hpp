// The inner loops of linear classifiers of two sides. Each gives the same bits on every processor, equal to the plain
// loop in its comment.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// out[c] += dot_columns(s, columns[c]) for each of `count` columns of n numbers.
void add_products(const double* s, const double* const* columns, size_t count, double* out, size_t n);

// scaled[c * n + i] = h[i] * columns[c][i]; sums[c] += each of these in turn.
void scale_columns(const double* h, const double* const* columns, size_t count, double* scaled, double* sums, size_t n);

// out[i] = margin[i] + size * side[i] * slope[i]
void step_margins(const double* margin, double size, const double* side, const double* slope, double* out, size_t n);

// out[i] = dot_row(w, row i), for p columns of n finite numbers, one after the other; features of weight 0 are not
// read.
void project_columns(const double* columns, size_t n, const double* w, size_t p, double* out);

// left[i] = dot_row(w, row rows[i] of x) + b <= 0, for rows of p finite numbers.
void sides_of_rows(const double* w, double b, const double* x, size_t p, const uint32_t* rows, size_t n, uint8_t* left);

// First and second derivative of v log(1 + exp(-m)) by w.x + b, with m the margin and power = exp(-|m|).
void logistic_slopes(const double* margin, const double* power, const double* side, const double* weight, double* first,
                     double* second, size_t n);

}  // namespace oblique
