// Trees by histograms of directions: those of boosting, where directions stay from round to round, and those of a
// forest of numbers, each of which has directions of its own.
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

// The families grow small trees on few rows, whose planes join the directions, and the tree is the best by cuts between
// bins. Where trees predict numbers, a small tree tells rows above some number from those below it, which weigh by how
// far they are from it: the two classes of Loh (2002), whose Gini gain is that of the squares but for the weights that
// divide them. Of several outputs the number of a row is what it has along a principal component of the outputs, which
// each small tree draws by the components' variances among the rows that it may take.
class HistogramGrower {
 public:
  // mass : as in BinnedDirections
  HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options, std::size_t max_bins);
  HistogramGrower(const HistogramGrower&) = delete;
  HistogramGrower& operator=(const HistogramGrower&) = delete;

  // A tree of boosting, whose small tree comes every other round; of numbers it tells gradients above 0 from those
  // below. round : number of the tree
  ForestTree grow(std::uint64_t tree_seed, std::size_t round);
  // A tree of numbers that stands alone: four small trees, each of which takes the number of some row, and a component
  // of several outputs.
  ForestTree grow_alone(std::uint64_t tree_seed, std::size_t number);
  // Least weight of a child in further trees.
  void require(double min_leaf) { min_leaf_ = min_leaf; }

 private:
  ForestTree tree_of(std::uint64_t tree_seed, std::size_t round);
  void find_planes(std::uint64_t tree_seed, std::size_t round);
  // values : number of each row
  ForestTree small_tree(std::uint64_t seed, std::size_t number, const double* values, double middle,
                        std::optional<std::uint64_t> features_seed = std::nullopt);

  TrainingRows& data_;
  const ForestOptions options_;
  double min_leaf_ = 1.0;
  BinnedDirections directions_;
  std::optional<ForestTreeGrower> small_;  // of classes
  BaggedRows rows_;
  BestBin best_;
  DrawnNodes sampler_;
  std::optional<OutputComponents> components_;  // of several outputs
  std::vector<std::uint32_t> draws_, seen_;     // seen_ : rows that small trees of numbers may take
};

}  // namespace oblique
