// Trees by histograms of directions, for boosting, where directions persist from round to round, and for regression
// forests, where each tree has its own directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "grow/best_bin.hpp"
#include "grow/binned_directions.hpp"
#include "grow/drawn_nodes.hpp"
#include "grow/forest_grower.hpp"
#include "grow/forest_options.hpp"
#include "grow/output_components.hpp"
#include "rows/bagged_rows.hpp"
#include "rows/training_rows.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// The families grow small trees on few rows, whose planes become directions; the large tree takes the best cuts between
// bins. With numeric targets, the two classes of a small tree are the rows above and below some number, weighted by
// their distance to it: the two classes of Loh (2002), whose Gini gain equals the gain of the squares except for the
// weights in the denominators. With several outputs, the number of a row is its score along a principal component of
// the outputs, which each small tree draws with probability proportional to the component's variance among the rows
// that it may use.
class HistogramGrower {
 public:
  // mass : as in BinnedDirections
  HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options, std::size_t max_bins);
  HistogramGrower(const HistogramGrower&) = delete;
  HistogramGrower& operator=(const HistogramGrower&) = delete;

  // A tree of boosting, with a small tree in every other round; with numeric targets the small tree separates gradients
  // above 0 from those below.
  // round : number of the tree
  ForestTree grow(std::uint64_t tree_seed, std::size_t round);
  // A tree of a regression forest: four small trees, each with the target of a random row as its middle, and with a
  // random component if there are several outputs.
  ForestTree grow_alone(std::uint64_t tree_seed, std::size_t number);
  // Least weight of a child in the next trees.
  void require(double min_leaf) { min_leaf_ = min_leaf; }

 private:
  ForestTree tree_of(std::uint64_t tree_seed, std::size_t round);
  void find_planes(std::uint64_t tree_seed, std::size_t round);
  // values : target of each row
  ForestTree small_tree(std::uint64_t seed, std::size_t number, const double* values, double middle,
                        std::optional<std::uint64_t> features_seed = std::nullopt);

  TrainingRows& data_;
  const ForestOptions options_;
  double min_leaf_ = 1.0;
  BinnedDirections directions_;
  std::optional<ForestTreeGrower> small_;  // for classes
  BaggedRows rows_;
  BestBin best_;
  DrawnNodes sampler_;
  std::optional<OutputComponents> components_;  // for several outputs
  std::vector<std::uint32_t> draws_, seen_;     // seen_ : rows that small trees with numeric targets may use
};

}  // namespace oblique
