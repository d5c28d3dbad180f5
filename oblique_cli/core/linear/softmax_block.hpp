// The inner loops of softmax regression, over a block of rows that stays in the cache. Each gives the same bits on
// every processor.
#pragma once

#include <cstddef>

namespace oblique {

// out[i] += w_0 x_0[i] + w_1 x_1[i] + ... of p columns that are `stride` apart.
void add_combined(const double* w, const double* columns, std::size_t stride, std::size_t p, double* out,
                  std::size_t n);

// out[j] += x_j . s of p columns that are `stride` apart.
void add_products(const double* s, const double* columns, std::size_t stride, std::size_t p, double* out,
                  std::size_t n);

// x[i] = exp(x[i] - top[i]), which is not above 1; sum[i] += x[i]. Below exp(-700) it is that.
void add_powers(double* x, const double* top, double* sum, std::size_t n);

// top[i] = max(top[i], x[i])
void raise_to(const double* x, double* top, std::size_t n);

// x[i] *= by[i]
void scale_by(double* x, const double* by, std::size_t n);

}  // namespace oblique
