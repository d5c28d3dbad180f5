// Eigenvectors of small symmetric matrices by code of our own: quicker than LAPACK where calls cost more than work, and
// with the same bits on every processor, which LAPACK does not promise: OpenBLAS has other kernels for each.
//
// Householder's reduction to tridiagonal form, largest diagonal first, then QR steps with Wilkinson's shift for all
// eigenvectors; for the dominant one alone Laguerre's iteration from above and inverse iteration.
#pragma once

#include <cstddef>
#include <vector>

namespace oblique {

class OwnEigen {
 public:
  // Matrices of up to this size are solved here, which is the quicker way (benchmarks/eigen.py). Larger ones take a
  // tenth of a second or more, and LAPACK then works in a thread of its own.
  static constexpr int kLargest = 400;

  // Eigenvalues of a, (p, p) and symmetric, in ascending order, and eigenvectors as columns of length p; NaN if an
  // entry is not finite. False without convergence, which never happened.
  bool solve(const double* a, int p, double* values, double* vectors);

  // The largest eigenvalue and its eigenvector. False if another lies within kRepeated of it, relatively, or if it is
  // not well above zero beside the least one: then all are wanted.
  bool dominant(const double* a, int p, double& value, double* vector);

  static constexpr double kRepeated = 1e-10;

 private:
  // Fills matrix_ with a in the order of its diagonal, scaled to entries of at most 1, and reduces it. False if an
  // entry is not finite.
  bool reduce(const double* a, int p);
  bool largest_root(double& root) const;
  // The eigenvector of the tridiagonal matrix that belongs to `root`, its largest eigenvalue, in vector_.
  bool invert(double root);

  std::size_t p_ = 0, stride_ = 0;
  int power_ = 0;                      // entries were multiplied by 2^-power
  std::vector<std::size_t> order_;     // place -> index in a
  std::vector<double> matrix_, room_;  // matrix_: columns of stride_, those of the reflections when reduced
  std::vector<double> diagonal_, beside_, half_squares_, cosines_, sines_, vector_;
};

}  // namespace oblique
