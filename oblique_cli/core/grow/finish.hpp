// Steps after a heuristic has found a split: local search, a limit on the number of features, and a preference for
// axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/options.hpp"
#include "heuristic/climbing/oc1_climb.hpp"
#include "heuristic/heuristic.hpp"
#include "split/candidates.hpp"
#include "split/node.hpp"

namespace oblique {

// polish      perturb the hyperplane as OC1 does, and accept improvements
// max_terms   most non-zero coefficients, -1 for no limit
// split_cost  c: a split with k of p coefficients non-zero must beat the best axis-parallel split by more than c (k -
// 1) / p of the node's impurity
struct Finishing {
  bool polish = false;
  std::int64_t max_terms = -1;
  double split_cost = 0.0;

  // Whether finishing reads the columns of a node, which then have to be copied.
  bool reads_columns() const { return polish || max_terms > 0; }
};

// Reads the options of these names.
Finishing finishing_of(const Options& options);

inline constexpr double kSameGain = 1e-9;  // relative; closer gains are equal, as in every search (front.hpp)

// Finishes the splits of one tree.
class Finish {
 public:
  Finish(const SearchOptions& options, const Finishing& finishing);

  // Changes the split or leaves it as it is; false if no split remains. Uses the search of the node.
  // heuristic : the heuristic that found the split
  bool apply(const Node& node, Heuristic& heuristic, Split& split);
  void polish(const Node& node, Split& split);

 private:
  bool limit(const Node& node, Heuristic& heuristic, Split& split);
  void choose_terms(const Node& node, const Vector& normal, std::size_t count);
  bool find_on_chosen(const Node& node, Heuristic& heuristic, Split& split);
  void prefer_axis(const Node& node, Split& split);
  double slack(const Node& node) const;

  const Finishing finishing_;
  std::optional<OC1Climb> climb_;
  Candidates axes_;
  CandidateSearch search_;
  Split other_, some_;
  std::vector<std::size_t> chosen_;  // features
  Vector sizes_, sorted_;            // spreads of terms
};

}  // namespace oblique
