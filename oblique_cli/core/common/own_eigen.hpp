// Eigenvectors of small symmetric matrices without LAPACK: faster where the call costs more than the work, and with the
// same bits on every processor. LAPACK does not promise this: OpenBLAS has different kernels for each processor.
// Householder's reduction to tridiagonal form, largest diagonal first, then QR steps with Wilkinson's shift for all
// eigenvectors. For the dominant eigenvector alone: Laguerre's iteration from above, then inverse iteration.
#pragma once

#include "common/standard.hpp"

namespace oblique {

class OwnEigen {
 public:
  // Largest size for which this solver is the faster one. Larger matrices take a tenth of a
  // second or more, and LAPACK then runs in a separate thread.
  static constexpr int kLargest = 400;

  // Eigenvalues of a, (p, p) and symmetric, in ascending order, and eigenvectors as columns of length p; NaN if an
  // entry is not finite. False if the iteration does not converge, which has not been observed.
  bool solve(const double* a, int p, double* values, double* vectors);

  // The largest eigenvalue and its eigenvector. False if another eigenvalue lies within kRepeated of it, relatively, or
  // if it is not well above zero compared with the least: the caller then needs all of them.
  bool dominant(const double* a, int p, double& value, double* vector);

  static constexpr double kRepeated = 1e-10;

 private:
  // Fills matrix_ with a, sorted by its diagonal and scaled to entries of at most 1, and reduces it. False if an entry
  // is not finite.
  bool reduce(const double* a, int p);
  bool largest_root(double& root) const;
  // The eigenvector of the tridiagonal matrix for `root`, its largest eigenvalue, in vector_.
  bool invert(double root);

  size_t p_ = 0, stride_ = 0;
  int power_ = 0;                      // entries were multiplied by 2^-power
  std::vector<size_t> order_;          // place -> index in a
  std::vector<double> matrix_, room_;  // matrix_: columns of stride_, after reduction those of the reflections
  std::vector<double> diagonal_, beside_, half_squares_, cosines_, sines_, vector_;
};

}  // namespace oblique
