// Trees of boosting by histograms of directions that stay the same from round to round.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grow/best_bin.hpp"
#include "grow/binned_directions.hpp"
#include "grow/drawn_nodes.hpp"
#include "grow/forest_grower.hpp"
#include "grow/forest_options.hpp"
#include "rows/bagged_rows.hpp"
#include "rows/training_rows.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Every other round the families grow a small tree on few rows, whose planes join the directions. The tree of a round
// is the best by cuts between bins.
class HistogramGrower {
 public:
  // mass : as in BinnedDirections
  HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options, std::size_t max_bins);
  HistogramGrower(const HistogramGrower&) = delete;
  HistogramGrower& operator=(const HistogramGrower&) = delete;

  // round : number of the tree
  ForestTree grow(std::uint64_t tree_seed, std::size_t round);
  // Least weight of a child in further trees.
  void require(double min_leaf) { min_leaf_ = min_leaf; }

 private:
  void find_planes(std::uint64_t tree_seed, std::size_t round);

  TrainingRows& data_;
  const ForestOptions options_;
  double min_leaf_ = 1.0;
  BinnedDirections directions_;
  ForestTreeGrower small_;
  BaggedRows rows_;
  BestBin best_;
  DrawnNodes sampler_;
};

}  // namespace oblique
