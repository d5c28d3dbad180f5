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

  // Climbs from the best axis-parallel cut, if there is one; the plane records the result.
  void climb(const Node&, const Cut& start) override;

 private:
  static constexpr double kNone = MovingPlane::kNone;
  static constexpr double kLeastImportance = 0.2;  // a feature below this share of the largest importance is dropped

  // Scales features to mean 0 at the node and to units of the standard deviation or of the range there, or leaves them
  // unscaled.
  void standardize();

  // Returns to the recorded hyperplane, over the scaled features.
  void back_to_scaled();

  double weight(std::size_t i) const { return plane.rows().weights ? plane.rows().weights[i] : 1.0; }

  // A sweep takes for each feature the best of three steps, about three different places, and then the best step of the
  // constant. Sweeps repeat until one gains too little.
  void sweep_until_flat();

  void improve_coefficient(std::size_t m);

  void improve_threshold();

  // Drops the feature with the smallest loss of value if this loss is a small share of the largest: coefficient 0, with
  // a new search for the threshold. Returns whether a feature was dropped.
  bool eliminate();

  const double sweep_tol_;         // least gain of a sweep for another sweep to follow
  const double rows_per_feature_;  // a node with at most this weight per feature keeps the axis-parallel split
  const std::string standardization_;
  const bool backward_elimination_;
  std::vector<std::size_t> active_;  // features that may have a coefficient
  Vector mean_, deviation_, direction_, without_;
};

}  // namespace oblique
