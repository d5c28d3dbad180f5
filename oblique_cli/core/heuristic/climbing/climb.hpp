// The interface of a way to climb.
#pragma once

#include "common/options.hpp"
#include "heuristic/climbing/moving_plane.hpp"
#include "heuristic/heuristic.hpp"
#include "split/front.hpp"
#include "split/node.hpp"

namespace oblique {

// Moves its plane at a node, again and again, and lets the plane keep the best hyperplane.
class Climb {
 public:
  virtual ~Climb() = default;

  // A node of no more weight per feature keeps the axis-parallel split.
  virtual double rows_per_feature() const = 0;
  // Climbs from the best axis-parallel cut `start` (order -1: none). The plane has begun at the node.
  virtual void climb(const Node& node, const Cut& start) = 0;

  MovingPlane plane;

 protected:
  Climb(const SearchOptions& options, bool direct) : plane(options, direct) {}
};

}  // namespace oblique
