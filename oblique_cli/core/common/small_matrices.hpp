// Small matrices, factored without LAPACK, whose calls would cost more than the work.
#pragma once

#include "common/eigen.hpp"
#include "common/interrupt.hpp"
#include "common/kernels.hpp"

namespace oblique {

// Eigenvectors of small symmetric matrices by Jacobi rotations, of larger ones by SymmetricEigen. Eigenvalues ascend.
class SmallEigen {
 public:
  Vector values, vectors;  // vectors as columns

  void solve(const Vector& a, size_t size) {
    values.resize(size);
    vectors.resize(size * size);
    if (size >= 2 && size <= kJacobi)
      return with_size<kJacobi>(size, [&](auto N) {
        if constexpr (N() >= 2) jacobi<N()>(a.data());
      });
    general_.solve(a.data(), static_cast<int>(size));
    values = general_.values;
    vectors = general_.vectors;
  }

 private:
  static constexpr size_t kJacobi = 8;  // largest size that is solved by rotations

  // Only the lower triangle of m is used; the rows of v become the eigenvectors.
  template <size_t N>
  void jacobi(const double* a) {
    double m[N][N], v[N][N];
    double on = 0.0;
    for (size_t i = 0; i < N; ++i)
      for (size_t j = 0; j < N; ++j) {
        m[i][j] = a[i * N + j];
        v[i][j] = i == j ? 1.0 : 0.0;
        on += m[i][j] * m[i][j];
      }
    constexpr int sweeps = 30;  // 5 to 7 are enough in practice
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      double off = 0.0;
      for (size_t i = 0; i < N; ++i)
        for (size_t j = 0; j < i; ++j) off += m[i][j] * m[i][j];
      if (!(off > 1e-28 * on)) break;
      for (size_t i = 1; i < N; ++i)
        for (size_t j = 0; j < i; ++j) {
          if (!(m[i][j] * m[i][j] > 1e-30 * on)) continue;  // smaller elements do not continue the sweeps
          // The smaller of the two angles that make m[i][j] zero (Golub & Van Loan, 8.4).
          const double half = 0.5 * (m[i][i] - m[j][j]);
          const double length = std::sqrt(half * half + m[i][j] * m[i][j]);
          const double t = m[i][j] / (half >= 0.0 ? half + length : half - length);
          const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
          m[j][j] -= t * m[i][j];
          m[i][i] += t * m[i][j];
          m[i][j] = 0.0;
          for (size_t k = 0; k < N; ++k) {
            if (k == i || k == j) continue;
            double& x = k < j ? m[j][k] : m[k][j];
            double& y = k < i ? m[i][k] : m[k][i];
            const double p = x, q = y;
            x = c * p - s * q;
            y = s * p + c * q;
          }
          for (size_t k = 0; k < N; ++k) {
            const double p = v[j][k], q = v[i][k];
            v[j][k] = c * p - s * q;
            v[i][k] = s * p + c * q;
          }
        }
    }
    size_t order[N];
    for (size_t i = 0; i < N; ++i) {
      size_t at = i;
      for (; at > 0 && m[order[at - 1]][order[at - 1]] > m[i][i]; --at) order[at] = order[at - 1];
      order[at] = i;
    }
    for (size_t c = 0; c < N; ++c) {
      values[c] = m[order[c]][order[c]];
      for (size_t i = 0; i < N; ++i) vectors[c * N + i] = v[order[c]][i];
    }
  }
  SymmetricEigen general_;
};

// Lower Cholesky factor of a (size x size, row by row) in place; false at the first pivot that is not above `least`.
inline bool cholesky(double* a, size_t size, double least) {
  for (size_t j = 0; j < size; ++j) {
    checkpoint((size - j) * j);
    double pivot = a[j * size + j];
    for (size_t k = 0; k < j; ++k) pivot -= a[j * size + k] * a[j * size + k];
    if (!(pivot > least)) return false;
    const double root = std::sqrt(pivot);
    a[j * size + j] = root;
    for (size_t i = j + 1; i < size; ++i) {
      double sum = a[i * size + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * size + k] * a[j * size + k];
      a[i * size + j] = sum / root;
    }
  }
  return true;
}

// b = a^-1 b with the factor from `cholesky`.
inline void solve_by_factor(const double* factor, size_t size, double* b) {
  for (size_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= factor[i * size + k] * b[k];
    b[i] /= factor[i * size + i];
  }
  for (size_t i = size; i-- > 0;) {
    for (size_t k = i + 1; k < size; ++k) b[i] -= factor[k * size + i] * b[k];
    b[i] /= factor[i * size + i];
  }
}

// Whether a covariance (size x size, overwritten) has a combination of features with variance below `least`. The
// largest pivot comes first: in another order, the rounding errors of earlier pivots would dominate the last one.
inline bool is_singular(double* a, size_t size, double least) {
  for (size_t step = 0; step < size; ++step) {
    checkpoint((size - step) * (size - step));
    size_t at = step;
    for (size_t j = step + 1; j < size; ++j)
      if (a[j * size + j] > a[at * size + at]) at = j;
    const double pivot = a[at * size + at];
    if (!(pivot > least)) return true;
    if (at != step) {
      for (size_t k = 0; k < size; ++k) std::swap(a[at * size + k], a[step * size + k]);
      for (size_t k = 0; k < size; ++k) std::swap(a[k * size + at], a[k * size + step]);
    }
    for (size_t i = step + 1; i < size; ++i) {
      const double factor = a[i * size + step] / pivot;
      for (size_t k = step + 1; k < size; ++k) a[i * size + k] -= factor * a[step * size + k];
    }
  }
  return false;
}

}  // namespace oblique
