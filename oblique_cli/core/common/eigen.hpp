// Eigenvectors of symmetric matrices, with a basis and a sign that do not depend on the solver.
//
// Matrices of up to OwnEigen::kLargest columns are solved by code of our own, larger ones by LAPACK, column-major as it
// wants them.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "common/kernels.hpp"
#include "common/lapack.hpp"
#include "common/own_eigen.hpp"

namespace oblique {

using Vector = std::vector<double>;

inline double norm(const double* v, std::size_t p) { return std::sqrt(dot_columns(v, v, p)); }

// Eigenvalues ascending, eigenvectors as columns.
class SymmetricEigen {
 public:
  Vector values, vectors;

  // a: (p, p) symmetric, read only. Throws if there is no convergence, which finite input never caused.
  void solve(const double* a, int p);
  // The same where only the largest eigenvalue is wanted: finds it alone, or all if it is repeated.
  void solve_dominant(const double* a, int p);
  // By LAPACK whatever the size.
  void solve_by_lapack(const double* a, int p);
  const double* vector(int i) const { return vectors.data() + static_cast<std::size_t>(i) * p_; }
  double* vector(int i) { return vectors.data() + static_cast<std::size_t>(i) * p_; }

 private:
  int solve_aside(int p);

  std::size_t p_ = 0;
  Vector work_;
  OwnEigen own_;
};

// A component of a unit vector below this counts as zero: its sign may be rounding.
inline constexpr double kZeroComponent = 1e-9;

// Makes the first component that is not zero negative (sign = -1) or positive (sign = +1).
void orient(double* v, std::size_t p, double sign);

// Modified Gram-Schmidt, twice; `columns` are independent.
void orthonormalize(Vector& columns, std::size_t size);

// Replaces `count` orthonormal columns of length p by the basis of the same space that projecting e_1, e_2, ... on it
// and orthonormalizing gives: unlike the solver's, it depends on the space alone.
void canonical_basis(double* columns, int count, std::size_t p);

// Eigenvectors of a covariance matrix by falling eigenvalue, those above tolerance * largest only, oriented.
// Appends unit vectors of length p to `out`; returns how many.
int principal_axes(SymmetricEigen& eigen, const double* covariance, int p, double tolerance, double sign,
                   bool dominant_only, Vector& out);

// The same of eigenvectors that are found already, values.size() columns of length p.
int axes_of(SymmetricEigen& eigen, int p, double tolerance, double sign, bool dominant_only, Vector& out);

}  // namespace oblique
