// Sums over the rows of a node that determine the directions of some heuristics.
#pragma once

#include <cstddef>

#include "common/eigen.hpp"
#include "heuristic/clustering_planes.hpp"

namespace oblique {

// The sums over the rows of a node: the classes alone, the covariance of each class, the scatter of its unit rows, or
// the moments about the origin. Each kind needs separate passes over blocks of rows.
enum class Sums { classes, covariances, unit_rows, origin };

// Selects principal axes of the classes.
// unit_rows      of the scatter of unit rows (thesis 5.3), else of the covariance (thesis 3.5)
// tolerance      leaves out eigenvalues up to this share of the largest
// sign           of the first component
// dominant_only  only the first axis of each class
// shrinkage      shrinks covariances of small classes, see `shrink`
struct ClassAxes {
  bool unit_rows;
  double tolerance, sign;
  bool dominant_only, shrinkage;
};

// The moments of one node, in memory or in blocks. Classes are those present, by index.
class RowMoments {
 public:
  virtual ~RowMoments() = default;

  virtual std::size_t n_features() const = 0;
  virtual int n_classes() const = 0;
  virtual double weight(int k) const = 0;
  // (p, p); false if all rows of the class are equal.
  virtual bool covariance(int k, Vector& out) = 0;
  virtual bool unit_scatter(int k, Vector& out) = 0;
  // Variance of every feature within the classes.
  virtual void pooled_variances(Vector& out) = 0;
  // The axes of every class present, appended class by class.
  virtual void add_axes(const ClassAxes& axes, Vector& out);
  // The better bisector of the clustering hyperplanes of the largest class and the rest, by its gain over all classes
  // or, with super_classes, over two groups (the largest class and all others). The first on a tie, or if neither has
  // any gain; nullptr if there is none.
  virtual const Plane* better_bisector(bool super_classes) = 0;

 private:
  SymmetricEigen eigen_;
  Vector matrix_, pooled_;
};

}  // namespace oblique
