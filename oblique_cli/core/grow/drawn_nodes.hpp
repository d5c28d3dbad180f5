// The sampler of a forest: rows and features that are drawn for a tree and at its nodes, and features that are rotated.
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

// A cut of a feature of the tree, or a plane over the features drawn or over others. value : of gini_value
struct DrawnSplit {
  std::int32_t feature = -1;  // -1: a plane
  Vector normal;
  const SparsePlanes::Term* terms = nullptr;  // of a plane that is not over the features drawn
  double threshold = 0.0, value = 0.0;
  double uncut = -1.0;  // the value of no cut, below 0 where it follows from the classes
};

// Of one tree after another. All that is random is drawn from streams named after the seed of the tree and the path of
// the node.
class DrawnNodes {
 public:
  using Place = BaggedRows::Place;
  using Found = DrawnSplit;

  // axis_only : whether nodes are cut along axes only; in_order : whether all features are taken in their order, where
  // all of them are; ranked, presorted : whether the search asks for ranks, and for rows in order
  struct Wishes {
    bool axis_only, in_order, ranked, presorted;
  };
  DrawnNodes(TrainingRows& data, BaggedRows& rows, const ForestOptions& options, const Wishes& wishes)
      : data_(data), rows_(rows), options_(options), wishes_(wishes) {}

  // Draws what the tree has: its rotation, features and rows.
  void begin_tree(std::uint64_t tree_seed, SparsePlanes& tree);

  // As NodeSampler has them (grow/grower.hpp).
  bool take(const Place& place, std::uint64_t path);
  void end_search(bool) {}
  bool divide(const Place& place, DrawnSplit& split, Place& left, Place& right);

  // The node at hand.
  const Bag& bag() const { return bag_; }
  Stream& stream() { return stream_; }  // after the features were drawn
  std::uint64_t path() const { return path_; }
  std::size_t n_features() const { return x_->p; }  // of the tree
  // The features drawn, of which more may be: all that the tree has, in their order or in that of the draw.
  FeatureDraw& drawn() { return drawn_; }
  const FeatureDraw& drawn() const { return drawn_; }
  // The first `count` features drawn, until the next call.
  const Gathered& gather(std::size_t count);
  const Gathered& gather_drawn() { return gather(per_node_); }
  AxisFeature axis(std::int32_t feature);
  // The order that answers keep, by the features of the tree; empty without.
  const Signs& signs() const { return options_.signs; }
  Signs drawn_signs(std::size_t count) const;  // of the first features drawn
  const Bounds& bounds() const { return place_.bounds; }
  // Room for projections of the rows, and their sides.
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
  // The node at hand.
  Place place_;
  std::uint64_t path_ = kRootPath;
  Stream stream_{0, 0, 0};
  Bag bag_;
  bool is_sampled_ = false;  // whether bag_ is drawn again
  std::vector<double> gathered_, z_;
  Gathered columns_;
  Sides sides_;
  std::vector<std::uint32_t> draws_, sampled_row_;
  std::vector<double> sampled_weight_;
  std::vector<ClassRun> sampled_runs_;
};

}  // namespace oblique
