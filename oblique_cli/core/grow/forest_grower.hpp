// Growth of the trees of a forest in compiled code, for any sampler and heuristic of forests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "grow/best_proposal.hpp"
#include "grow/drawn_nodes.hpp"
#include "grow/forest_options.hpp"
#include "rows/bagged_rows.hpp"
#include "rows/training_rows.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Grows one tree after another and reuses its buffers.
class ForestTreeGrower {
 public:
  ForestTreeGrower(TrainingRows& data, const ForestOptions& options);
  ForestTreeGrower(const ForestTreeGrower&) = delete;
  ForestTreeGrower& operator=(const ForestTreeGrower&) = delete;

  // number : of the tree in its forest
  ForestTree grow(std::uint64_t tree_seed, std::size_t number);
  // Least weight of a child in the next trees, for all families.
  void require(double min_leaf) { heuristic_.heuristic()->require(min_leaf); }

 private:
  TrainingRows& data_;
  const ForestOptions options_;
  BaggedRows rows_;
  BestProposal heuristic_;
  DrawnNodes sampler_;
};

}  // namespace oblique
