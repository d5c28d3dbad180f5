// The search among candidates of a node with monotone constraints.
#pragma once

#include "split/candidates.hpp"

namespace oblique {

// Constrained features that disagree in a plane make its crossing direction ambiguous. Two planes replace such a plane:
// each has the coefficients that agree with one direction, and 0 for the others. Their thresholds are searched again.
class MonotoneSearch {
 public:
  // The best allowed cut of a node among candidates, the first of equals; false if none has a score. Without an allowed
  // cut of a candidate it searches the axes. The search of the node stays unchanged.
  bool find(const Node& node, const Candidates& candidates, Split& split);

 private:
  bool find_among(const Node& node, const Candidates& candidates, Split& split);

  Vector z_;
};

}  // namespace oblique
