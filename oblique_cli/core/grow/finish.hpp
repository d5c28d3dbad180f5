// What becomes of the split that a heuristic has found: a local search from there, and a preference for axes.
#pragma once

#include <optional>

#include "common/options.hpp"
#include "heuristic/climbing/oc1_climb.hpp"
#include "split/candidates.hpp"
#include "split/node.hpp"

namespace oblique {

// polish      perturb the hyperplane as OC1 does, and keep what is better
// split_cost  c: a split with k non-zero coefficients of p has to beat the best axis-parallel one by more than
//             c (k - 1) / p of the node's impurity
struct Finishing {
  bool polish = false;
  double split_cost = 0.0;
};

// Reads the options `polish` and `split_cost`.
Finishing finishing_of(const Options& options);

// Finishes the splits of one tree.
class Finish {
 public:
  Finish(const SearchOptions& options, const Finishing& finishing);

  // Changes the split, or leaves it. The search of the node is used.
  void apply(const Node& node, Split& split);

 private:
  void polish(const Node& node, Split& split);
  void prefer_axis(const Node& node, Split& split);

  const Finishing finishing_;
  std::optional<OC1Climb> climb_;
  Candidates axes_;
  CandidateSearch search_;
  Split other_;
};

}  // namespace oblique
