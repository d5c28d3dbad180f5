// Fisher's direction between two groups of classes, by whitening the rows of a node.
// The compiled form of oblique_cli/proposers/_discriminant.py: standard scores, whitened rows, a plane as a proposal.
#pragma once

#include "split/candidates.hpp"

namespace oblique {

// Features with mean 0 and variance 1 at the node: x = center + scale * z. The scale of a constant feature is 1.
class StandardScores {
 public:
  Vector center, scale;
  Vector z;  // p columns of n values
  double weight = 0.0;

  void find(const NodeRows& rows, const Spread& spread, double total);
  void find(const Node& node) { find(node.rows, node.spread, node.search.totals().n); }

  size_t n() const { return center.empty() ? 0 : z.size() / center.size(); }
  const double* column(size_t j) const { return z.data() + j * n(); }
  // A direction over z as an oriented unit normal over x, without overflow in any units.
  Vector unit_normal(const Vector& normal) const;
  // Adds the plane normal'z = offset. Unless ties are strict, rows on the plane are on its left, despite rounding.
  void add_plane(const Node& node, const Vector& normal, double offset, Candidates& candidates) const;
};

// A flag for each class present: whether it belongs to the first of two groups.
using Group = std::vector<char>;

class Discriminant {
 public:
  // Means whose distance, in standard deviations of the node, is smaller are equal up to rounding.
  static constexpr double kSameMean = 1e-9;
  static constexpr double kZeroEigenvalue = 1e-10;  // relative to the largest

  // Whitens the rows of a node; components of at most `tolerance` times the largest eigenvalue are left out.
  void begin(const NodeRows& rows, const Spread& spread, const Totals& totals, double tolerance);
  void begin(const Node& node, double tolerance) { begin(node.rows, node.spread, node.search.totals(), tolerance); }
  // One feature instead: that of the largest F of an analysis of variance over the classes. Of features whose shares of
  // variance between classes differ by at most `tie`, the first.
  void begin_with_feature(const Node& node, double tie);

  const StandardScores& standard() const { return standard_; }
  size_t n_components() const { return n_components_; }
  // n_components() vectors over standard scores, of p values: eigenvectors over the roots of their eigenvalues.
  const Vector& components() const { return basis_; }
  // Mean of each class present in whitened coordinates, n_components() each.
  Vector class_means() const;
  // Fisher's direction from the first group to the rest, over standard scores; false if the means are equal.
  bool direction(const Group& first, Vector& normal) const;

 private:
  void find_class_sums(const NodeRows& rows, const Totals& totals);
  void find_basis(const NodeRows& rows, double tolerance);

  StandardScores standard_;
  SymmetricEigen eigen_;
  Vector matrix_, weighted_;
  Vector basis_;       // n_components_ vectors of length p
  Vector class_sums_;  // of standard scores, p for each class present
  Vector class_weights_;
  size_t n_components_ = 0;
};

}  // namespace oblique
