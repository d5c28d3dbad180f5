// The clustering hyperplanes of the geometric decision tree and their angle bisectors (thesis 5.1.1 to 5.1.2).
// Matrices are column-major, as in LAPACK.
#pragma once

#include "split/spread.hpp"

namespace oblique {

class RowSpan;

// Coordinates in which the rows of a node have a range of about 1 around 0: x = center + scale * z, scale a power of 2.
// Solving in them loses no digits to units and offsets; the planes are the same, because a quotient of moments does not
// change under an affine map.
struct Standard {
  Vector center, scale;

  // Coordinates for rows whose features have these centers and ranges.
  static Standard of(const Vector& centers, const Vector& ranges);

  // (w, b) over z to the same plane over x, and back.
  void to_original(double* wb) const;
  void to_standard(double* wb) const;
  // These coordinates for x in units of 2^power.
  Standard over_units_of(int power) const;
};

enum class Hyperplane { full_rank, null_space, range_space, none };

// Finds the plane that maximizes w'Bw / w'Aw, A and B the (m, m) moments of [z 1] (thesis 5.1.2, algorithm 7):
//   A of full rank              leading eigenvector of A^-1 B
//   N(A) not inside N(B)        leading eigenvector of B projected on N(A) (Manwani & Sastry, section II.B)
//   N(A) inside N(B)            leading eigenvector of A^-1 B within the range of A (thesis eq. 5.1.9)
// Ranks are decided in standard coordinates, lengths and right angles are those of the original ones.
class ClusteringHyperplane {
 public:
  // w : (m,). With `span`, x are coordinates in the span, and w (p + 1,) is over the features themselves.
  Hyperplane solve(const double* a, const double* b, int m, const Standard& standard, double* w,
                   const RowSpan* span = nullptr);

 private:
  void take_out_null_space(double* w, size_t size) const;

  // projected_ = Q'bQ for the columns of Q.
  void project(const double* b, const Vector& q, size_t size);

  // w = Q y for the leading eigenvector y of second_. If its eigenvalue is repeated, the solver may return any vector
  // of the space of solutions, so the first vector of the canonical basis of this space is used. In a span the part in
  // null_ is removed first if `within_range`; over all features the caller removes it.
  void leading(const Vector& q, size_t size, double* w, const RowSpan* span, bool within_range);

  SymmetricEigen first_, second_;
  Vector null_, basis_, half_, projected_, solutions_;
};

// A hyperplane w'x <= t with unit w.
struct Plane {
  Vector w;
  double t = 0.0;
};

// Whether a plane has a normal: judged over z, where rows and offsets have similar magnitudes in any units.
bool has_normal(const double* wb, size_t p, const Standard& standard);

// Scales (w, b) so that w has norm 1 and a negative first component; false if w is zero.
bool normalize_plane(double* wb, size_t p);

// The one or two bisectors of the planes first and second (p + 1 coefficients each, normalized): their sum and their
// difference, or the plane midway between them when they are parallel.
void angle_bisectors(const double* first, const double* second, size_t p, std::vector<Plane>& out);

}  // namespace oblique
