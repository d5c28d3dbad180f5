// Trees of a forest, axis-parallel, MPSVM and HHCART, grown without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/eigen.hpp"
#include "common/random.hpp"
#include "forest/axis_search.hpp"
#include "forest/columns.hpp"
#include "grow/sides.hpp"
#include "heuristic/family_split.hpp"
#include "heuristic/heterogeneous.hpp"
#include "heuristic/mpsvm.hpp"
#include "heuristic/reflected_search.hpp"
#include "rows/bagged_rows.hpp"
#include "rows/feature_draw.hpp"
#include "rows/gathered.hpp"
#include "rows/training_rows.hpp"
#include "tree/forest_tree.hpp"

namespace oblique {

// Grows one tree after another. All that is random is drawn from streams named after the seed of the tree and the path
// of the node.
class ForestTreeGrower {
 public:
  ForestTreeGrower(TrainingRows& data, const ForestOptions& options);
  // number : of the tree in its forest
  ForestTree grow(std::uint64_t tree_seed, std::size_t number);
  // Least weight of a child in further trees of families.
  void require(double min_leaf) { family_.require(min_leaf); }

 private:
  // A node that waits, and the place of its rows.
  struct Open {
    std::size_t first, last, first_run;
    std::uint64_t path;
    std::int32_t id, depth;
    bool axis_only;
  };

  void begin_tree(std::size_t number);
  std::int32_t add_node();
  void visit(Open node);
  void make_leaf(std::int32_t id);
  bool split(Open& node);
  bool draw_again(std::uint64_t path);
  bool divide_own(const Bag& own);
  bool find(Open& node);
  bool find_axis(Stream& stream, std::size_t first);
  void gather(std::size_t count);
  bool find_by_family(std::uint64_t path);
  bool find_rank(std::uint64_t path);
  bool accept(const Split& split);
  bool find_bisector(bool& axis_only);
  bool find_classifier();
  bool best_plane();
  bool find_reflected(Stream& stream);
  void commit(const Open& node);
  void credit();

  TrainingRows& data_;
  const ForestOptions options_;
  // The tree.
  std::uint64_t seed_ = 0;
  ForestTree tree_;
  Columns* x_ = nullptr;  // its features
  Columns rotated_;
  std::size_t drawn_per_node_ = 0;
  BaggedRows rows_;
  std::vector<Open> open_;
  // The node at hand.
  Bag bag_;
  FeatureDraw drawn_;
  std::vector<double> gathered_, z_;
  Gathered columns_;
  AxisSearch axis_;
  MpsvmSplit mpsvm_;
  HeterogeneousSplit heterogeneous_;
  std::vector<Plane> planes_;
  ReflectedSearch reflected_;
  FamilySplit family_;
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
