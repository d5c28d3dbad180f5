// The search among candidates of a node whose answers keep an order.
#pragma once

#include <cstdint>

#include "common/eigen.hpp"
#include "split/candidates.hpp"
#include "split/monotone.hpp"
#include "split/node.hpp"

namespace oblique {

// Constrained features that disagree in a plane cannot cross it in one direction. Two planes stand for such a one: each
// has what agrees with one direction, and the others' coefficients are 0. Their cuts are searched again.
class MonotoneSearch {
 public:
  // The best allowed cut of a node among candidates, the first of equals; false if none scores. Where there is none, an
  // axis is taken. The search of the node is left alone.
  bool find(const Node& node, const Candidates& candidates, Split& split);

 private:
  bool find_among(const Node& node, const Candidates& candidates, Split& split);

  Vector z_;
};

}  // namespace oblique
