// The split of a node of a forest's tree: the best proposal of its heuristic, or the best axis-parallel cut.
#pragma once

#include <cstddef>
#include <memory>

#include "common/eigen.hpp"
#include "grow/drawn_nodes.hpp"
#include "heuristic/forest_split.hpp"
#include "split/axis_search.hpp"

namespace oblique {

// If the heuristic fails at a node, this node and all nodes below it are cut along axes, for heuristics that request
// so.
class BestProposal {
 public:
  // heuristic : nullptr for axis-parallel cuts only; without : tactics that the search leaves out
  BestProposal(std::unique_ptr<ForestHeuristic> heuristic, const std::vector<std::string>& without)
      : heuristic_(std::move(heuristic)), axis_(without) {}

  ForestHeuristic* heuristic() { return heuristic_.get(); }
  bool is_orderly() const { return heuristic_ && heuristic_->is_orderly(); }
  const AxisSearch& axis_search() const { return axis_; }

  bool find(DrawnNodes& node, DrawnSplit& split, bool& given_up);
  void end_search(bool) {}

 private:
  bool find_axis(DrawnNodes& node, DrawnSplit& split);
  bool take_best(DrawnNodes& node, const Gathered& columns, DrawnSplit& split) const;

  std::unique_ptr<ForestHeuristic> heuristic_;
  Proposal proposal_;
  AxisSearch axis_;
};

}  // namespace oblique
