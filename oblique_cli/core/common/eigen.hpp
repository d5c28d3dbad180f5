// Eigenvectors of symmetric matrices, with a basis and a sign that do not depend on the solver. Matrices are
// column-major.
#pragma once

#include "common/kernels.hpp"
#include "common/standard.hpp"

namespace oblique {

using Vector = std::vector<double>;

inline double norm(const double* v, size_t p) { return std::sqrt(dot_columns(v, v, p)); }

// Eigenvalues in ascending order, eigenvectors as columns, with the same bits on every processor; LAPACK does not
// promise them: OpenBLAS has different kernels for each processor.
// Householder's reduction to tridiagonal form, largest diagonal first, then QR steps with Wilkinson's shift for all
// eigenvectors. For the dominant eigenvector alone: Laguerre's iteration from above, then inverse iteration.
class SymmetricEigen {
 public:
  Vector values, vectors;

  // a : (p, p), symmetric, read only; NaN if an entry is not finite. Throws if the iteration does not converge, which
  // no finite input has caused.
  void solve(const double* a, int p);
  // For callers that need only the largest eigenvalue: computes it alone, or all if another lies within a share
  // kRepeated of it, or if it is not well above zero compared with the least.
  void solve_dominant(const double* a, int p);
  const double* vector(int i) const { return vectors.data() + static_cast<size_t>(i) * p_; }
  double* vector(int i) { return vectors.data() + static_cast<size_t>(i) * p_; }

 private:
  static constexpr double kRepeated = 1e-10;

  // Reduces a, sorted by its diagonal and scaled to entries of at most 1, in matrix_. False if an entry is not finite.
  bool reduce(const double* a, int p);
  bool find_dominant(const double* a, int p);
  bool largest_root(double& root) const;
  // The eigenvector of the tridiagonal matrix for `root`, its largest eigenvalue, in vector_.
  bool invert(double root);

  size_t p_ = 0, stride_ = 0;
  int power_ = 0;              // entries were multiplied by 2^-power
  std::vector<size_t> order_;  // place -> index in a
  Vector matrix_, room_;       // matrix_: columns of stride_, after reduction those of the reflections
  Vector diagonal_, beside_, half_squares_, cosines_, sines_, vector_;
};

// A component of a unit vector below this counts as zero, because rounding may decide its sign.
inline constexpr double kZeroComponent = 1e-9;

// Makes the first nonzero of p components negative (sign = -1) or positive (+1). more : further numbers to negate
void orient(double* v, size_t p, double sign, size_t more = 0);

// Modified Gram-Schmidt, twice; `columns` must be independent.
void orthonormalize(Vector& columns, size_t size);

// Replaces `count` orthonormal columns of length p by the basis of the same space that results from projecting e_1,
// e_2, ... onto it and orthonormalizing. This basis depends on the space alone, not on the solver.
void canonical_basis(double* columns, int count, size_t p);

// Eigenvectors of a covariance matrix in descending order of eigenvalue, only those above tolerance * largest,
// oriented. Appends unit vectors of length p to `out`; returns their number.
int principal_axes(SymmetricEigen& eigen, const double* covariance, int p, double tolerance, double sign,
                   bool dominant_only, Vector& out);

// As principal_axes, from eigenvectors that are already computed: values.size() columns of length p.
int axes_of(SymmetricEigen& eigen, int p, double tolerance, double sign, bool dominant_only, Vector& out);

}  // namespace oblique
