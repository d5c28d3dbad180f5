// The sampler of a forest: it draws rows and features for a tree and at its nodes, and rotates features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/eigen.hpp"
#include "common/random.hpp"
#include "grow/forest_options.hpp"
#include "grow/sides.hpp"
#include "rows/bagged_rows.hpp"
#include "rows/columns.hpp"
#include "rows/feature_draw.hpp"
#include "rows/gathered.hpp"
#include "rows/training_rows.hpp"
#include "split/axis_cuts.hpp"
#include "split/bag.hpp"
#include "split/monotone.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// A cut of a feature of the tree, or a plane over the drawn features or over others.
// value : by gini_value
struct DrawnSplit {
  std::int32_t feature = -1;  // -1: a plane
  Vector normal;
  const SparsePlanes::Term* terms = nullptr;  // of a plane that is not over the drawn features
  double threshold = 0.0, value = 0.0;
  double uncut = -1.0;  // the value without a cut, negative if it follows from the classes
};

// Draws for one tree after another. The streams of all random draws are named after the seed of the tree and the path
// of the node.
class DrawnNodes {
 public:
  using Place = BaggedRows::Place;
  using Found = DrawnSplit;

  // axis_only : whether nodes are cut along axes only; in_order : whether all features, if all are used, keep their
  // order; ranked, presorted : whether the search needs ranks, and rows in order
  struct Wishes {
    bool axis_only, in_order, ranked, presorted;
  };
  DrawnNodes(TrainingRows& data, BaggedRows& rows, const ForestOptions& options, const Wishes& wishes)
      : data_(data), rows_(rows), options_(options), wishes_(wishes) {}

  // Draws the parts of a tree: its rotation, features and rows.
  void begin_tree(std::uint64_t tree_seed, SparsePlanes& tree);

  // The functions of a NodeSampler (grow/grower.hpp).
  bool take(const Place& place, std::uint64_t path);
  void end_search(bool) {}
  bool divide(const Place& place, DrawnSplit& split, Place& left, Place& right);

  // The current node.
  const Bag& bag() const { return bag_; }
  Stream& stream() { return stream_; }  // state after the draw of the features
  std::uint64_t path() const { return path_; }
  std::size_t n_features() const { return x_->p; }  // of the tree
  // The drawn features; the draw can be extended to all features of the tree, in their order or in the order of the
  // draw.
  FeatureDraw& drawn() { return drawn_; }
  const FeatureDraw& drawn() const { return drawn_; }
  // The columns of the first `count` drawn features; valid until the next call.
  const Gathered& gather(std::size_t count);
  const Gathered& gather_drawn() { return gather(per_node_); }
  AxisFeature axis(std::int32_t feature);
  // The monotone signs of the features of the tree; empty without constraints.
  const Signs& signs() const { return options_.signs; }
  Signs drawn_signs(std::size_t count) const;  // of the first drawn features
  const Bounds& bounds() const { return place_.bounds; }
  // Buffers for projections of the rows, and for their sides.
  double* projections() { return z_.data(); }
  Sides& sides() { return sides_; }

 private:
  bool draw_again();
  int way_of(const DrawnSplit& split) const;

  TrainingRows& data_;
  BaggedRows& rows_;
  const ForestOptions& options_;
  const Wishes wishes_;
  // The tree.
  std::uint64_t seed_ = 0;
  Columns* x_ = nullptr;  // its features
  Columns rotated_;
  FeatureDraw drawn_;
  std::size_t per_node_ = 0;
  // The current node.
  Place place_;
  std::uint64_t path_ = kRootPath;
  Stream stream_{0, 0, 0};
  Bag bag_;
  bool is_sampled_ = false;  // whether bag_ is a bootstrap sample of the node
  std::vector<double> gathered_, z_;
  Gathered columns_;
  Sides sides_;
  std::vector<std::uint32_t> draws_, sampled_row_;
  std::vector<double> sampled_weight_;
  std::vector<ClassRun> sampled_runs_;
};

}  // namespace oblique
