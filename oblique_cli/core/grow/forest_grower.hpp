// Trees of a forest, by any heuristic of forests, grown without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/eigen.hpp"
#include "common/random.hpp"
#include "forest/axis_search.hpp"
#include "forest/columns.hpp"
#include "grow/sides.hpp"
#include "grow/top_down.hpp"
#include "heuristic/forest_split.hpp"
#include "rows/bagged_rows.hpp"
#include "rows/feature_draw.hpp"
#include "rows/gathered.hpp"
#include "rows/training_rows.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Grows one tree after another. All that is random is drawn from streams named after the seed of the tree and the path
// of the node.
class ForestTreeGrower {
 public:
  ForestTreeGrower(TrainingRows& data, const ForestOptions& options);
  // number : of the tree in its forest
  ForestTree grow(std::uint64_t tree_seed, std::size_t number);
  // Least weight of a child in further trees of families.
  void require(double min_leaf) { heuristic_->require(min_leaf); }

 private:
  // A node that waits, and the place of its rows.
  struct Open {
    std::size_t first = 0, last = 0, first_run = 0;
    std::uint64_t path = 0;
    std::int32_t id = 0, depth = 0;
    bool axis_only = false;
  };

  Open begin_tree(std::size_t number);
  std::int32_t add_node();
  bool visit(Open& node, Open& left, Open& right);
  void make_leaf(std::int32_t id);
  bool split(Open& node);
  bool draw_again(std::uint64_t path);
  bool divide_own(const Bag& own);
  bool find(Open& node);
  bool find_axis(Stream& stream, std::size_t first);
  bool find_rank(Stream& stream, std::size_t first);
  void gather(std::size_t count);
  bool take_best();
  bool along_axis(const Vector& normal, std::size_t& feature) const;
  void commit(const Open& node, Open& left, Open& right);
  void credit();

  TrainingRows& data_;
  const ForestOptions options_;
  const StoppingRule stopping_;
  // The tree.
  std::uint64_t seed_ = 0;
  ForestTree tree_;
  Columns* x_ = nullptr;  // its features
  Columns rotated_;
  std::size_t drawn_per_node_ = 0;
  BaggedRows rows_;
  // The node at hand.
  Bag bag_;
  FeatureDraw drawn_;
  std::vector<double> gathered_, z_;
  Gathered columns_;
  AxisSearch axis_;
  std::unique_ptr<ForestHeuristic> heuristic_;  // nullptr: cuts along axes only
  Proposal proposal_;
  // Rows drawn again at the node.
  std::vector<std::uint32_t> draws_, sampled_row_;
  std::vector<double> sampled_weight_;
  std::vector<ClassRun> sampled_runs_;
  // The split found.
  bool found_axis_ = true;
  double threshold_ = 0.0, value_ = 0.0;
  Vector normal_;
  Sides sides_;
  std::vector<std::pair<std::int32_t, double>> shares_;
};

}  // namespace oblique
