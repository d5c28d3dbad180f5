// The interface of local searches for a hyperplane (OC1, CART-LC).
#pragma once

#include "common/options.hpp"
#include "heuristic/climbing/moving_plane.hpp"
#include "heuristic/heuristic.hpp"
#include "split/front.hpp"
#include "split/node.hpp"

namespace oblique {

// Moves a plane at a node repeatedly; the plane records the best hyperplane.
class Climb {
 public:
  virtual ~Climb() = default;

  // A node with at most this weight per feature uses the axis-parallel split.
  virtual double rows_per_feature() const = 0;
  // Climbs from the best axis-parallel cut `start` (order -1: none). The plane has begun at the node.
  virtual void climb(const Node& node, const Cut& start) = 0;

  MovingPlane plane;

 protected:
  Climb(const SearchOptions& options, bool direct) : plane(options, direct) {}
};

}  // namespace oblique
