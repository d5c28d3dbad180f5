// The inner loops of softmax regression, over a block of rows that stays in the cache. Each gives the same bits on
// every processor.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Columns of numbers that are `stride` apart.
struct Columns {
  const double* first;
  size_t stride, count;
};

// out[k * to + i] += w_k0 x_0[i] + w_k1 x_1[i] + ..., added up in this order; w: `of_class` apart for each class k.
void add_combined(const double* w, size_t of_class, size_t n_classes, const Columns& x, double* out, size_t to,
                  size_t n);

// out[a * to + b] += dot_columns(s_a, x_b, n)
void add_products(const Columns& s, const Columns& x, double* out, size_t to, size_t n);

// Of four rows x and eight classes: scores[8 r + k] += w[8 j + k] x_r[j] for one j after the other.
void score_rows(const double* w, const double* const* x, size_t p, double* scores);

// out[a * to] += the n numbers of column a in order.
void add_column_sums(const Columns& s, double* out, size_t to, size_t n);

// Solves L L' d = d for `count` right sides of `size` numbers, one after the other. L : lower triangle by rows; spare :
// buffer of 8 * size numbers.
void solve_factored(const double* factor, size_t size, double* d, size_t count, double* spare);

// x[i] = exp(x[i] - top[i]), at most 1; sum[i] += x[i]. Exponents below -700 count as -700.
void add_powers(double* x, const double* top, double* sum, size_t n);

// top[i] = max(top[i], x[i])
void raise_to(const double* x, double* top, size_t n);

// x[i] *= by[i]
void scale_by(double* x, const double* by, size_t n);

}  // namespace oblique
