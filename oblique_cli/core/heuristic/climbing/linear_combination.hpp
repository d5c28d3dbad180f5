// CART-LC at one node (Breiman, Friedman, Olshen & Stone 1984, section 5.2, in the form of Murthy et al. 1994): one
// deterministic climb from the best axis-parallel cut, over features of mean 0 and standard deviation 1.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "heuristic/climbing/climb.hpp"

namespace oblique {

class LinearCombination final : public Climb {
 public:
  explicit LinearCombination(const Options& options)
      : Climb(search_of(options), false), sweep_tol_(options.number("sweep_tol")),
        rows_per_feature_(options.number("rows_per_feature")), standardization_(options.choice("standardization")),
        backward_elimination_(options.flag("backward_elimination")) {}

  double rows_per_feature() const override { return rows_per_feature_; }

  // Climbs from the best axis-parallel cut, if there is one; the plane keeps where the climb ends.
  void climb(const Node&, const Cut& start) override;

 private:
  static constexpr double kNone = MovingPlane::kNone;
  static constexpr double kLeastImportance = 0.2;  // below this share of the most important one, a feature goes

  // Mean 0 at the node, and as unit the standard deviation or the range there; or all as it was given.
  void standardize();

  // The hyperplane kept, over the features that the plane had before.
  void back_to_scaled();

  double weight(std::size_t i) const { return plane.rows().weights ? plane.rows().weights[i] : 1.0; }

  // A sweep takes the best of three steps for each feature, about three different places, and then the best step of the
  // constant. Sweeps follow each other until one gains too little.
  void sweep_until_flat();

  void improve_coefficient(std::size_t m);

  void improve_threshold();

  // Drops the feature whose loss costs least if that is a small part of what the most important one's would:
  // coefficient 0, the threshold searched anew. Returns whether one was dropped.
  bool eliminate();

  const double sweep_tol_;         // least gain of a sweep that is followed by another
  const double rows_per_feature_;  // a node of no more keeps the axis-parallel split
  const std::string standardization_;
  const bool backward_elimination_;
  std::vector<std::size_t> active_;  // features that may have a coefficient
  Vector mean_, deviation_, direction_, without_;
};

}  // namespace oblique
