// Trees of a forest, axis-parallel, MPSVM and HHCART, grown without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/eigen.hpp"
#include "common/random.hpp"
#include "forest/axis_search.hpp"
#include "forest/bagged_rows.hpp"
#include "forest/columns.hpp"
#include "forest/feature_draw.hpp"
#include "forest/forest_tree.hpp"
#include "forest/gathered.hpp"
#include "forest/mpsvm.hpp"
#include "forest/reflected_search.hpp"
#include "forest/sides.hpp"
#include "forest/training_rows.hpp"

namespace oblique {

// Grows one tree after another. All that is random is drawn from streams named after the seed of the tree and the path
// of the node.
class ForestTreeGrower {
 public:
  ForestTreeGrower(TrainingRows& data, const ForestOptions& options);
  ForestTree grow(std::uint64_t tree_seed);

 private:
  // A node that waits, and the place of its rows.
  struct Open {
    std::size_t first, last, first_run;
    std::uint64_t path;
    std::int32_t id, depth;
    bool axis_only;
  };

  void begin_tree();
  std::int32_t add_node();
  void visit(Open node);
  void make_leaf(std::int32_t id);
  bool split(Open& node);
  bool find_axis(Stream& stream, std::size_t first);
  void gather();
  bool find_bisector(bool& axis_only);
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
  std::vector<Plane> planes_;
  ReflectedSearch reflected_;
  // The split found.
  bool found_axis_ = true;
  double threshold_ = 0.0, value_ = 0.0;
  Vector normal_;
  Sides sides_;
  std::vector<std::pair<std::int32_t, double>> shares_;
};

}  // namespace oblique
