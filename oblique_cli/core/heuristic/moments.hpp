// What adds up over the rows of a node, from which some heuristics know where to look.
#pragma once

#include <cstddef>

#include "common/eigen.hpp"
#include "heuristic/clustering_planes.hpp"

namespace oblique {

// What of a node adds up: nothing but the classes, the covariance of each class, the scatter of its unit rows, or the
// moments about the origin. Each takes passes of its own over blocks of rows.
enum class Sums { classes, covariances, unit_rows, origin };

// Which principal axes of the classes are meant.
//
// unit_rows      of the scatter of unit rows (thesis 5.3), else of the covariance (thesis 3.5)
// tolerance      eigenvalues up to this share of the largest are left out
// sign           of the first component
// dominant_only  of every class its first axis only
// shrinkage      covariances of small classes are shrunk, see `shrink`
struct ClassAxes {
  bool unit_rows;
  double tolerance, sign;
  bool dominant_only, shrinkage;
};

// The moments of one node, wherever its rows are. Classes are those present, by place.
class RowMoments {
 public:
  virtual ~RowMoments() = default;

  virtual std::size_t n_features() const = 0;
  virtual int n_classes() const = 0;
  virtual double weight(int k) const = 0;
  // (p, p); false if the rows of the class are all the same.
  virtual bool covariance(int k, Vector& out) = 0;
  virtual bool unit_scatter(int k, Vector& out) = 0;
  // Variance of every feature within the classes.
  virtual void pooled_variances(Vector& out) = 0;
  // The axes of every class present, appended class by class.
  virtual void add_axes(const ClassAxes& axes, Vector& out);
  // The bisector of the clustering hyperplanes of the largest class and the rest that has the greater gain, by all
  // classes or, with super_classes, by the largest against all others joined. The first on a tie, or if neither has any
  // gain; nullptr if there is none.
  virtual const Plane* better_bisector(bool super_classes) = 0;

 private:
  SymmetricEigen eigen_;
  Vector matrix_, pooled_;
};

}  // namespace oblique
