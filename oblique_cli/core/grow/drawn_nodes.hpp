// The sampler of a forest: it draws rows and features for a tree and at its nodes, and rotates features.
#pragma once

#include "grow/forest_options.hpp"
#include "rows/bagged_rows.hpp"

namespace oblique {

// Numbers of random streams: kTreeFeatures of a tree, for its features; the next of a node, for the bootstrap of its
// rows. The number before them belongs to the heuristic (forest_grower.hpp).
inline constexpr uint64_t kTreeFeatures = (uint64_t{1} << 32) + 1, kNodeRows = kTreeFeatures + 1;

// The sides of the best cut so far, and those of the cut under trial.
class Sides {
 public:
  void resize(size_t n) {
    best_.resize(n);
    tried_.resize(n);
  }
  unsigned char* best() { return best_.data(); }

  // Tries the cut of projections z at a threshold, of value `value`; false if a side has no rows.
  bool try_cut(const Bag& bag, const double* z, double threshold, double& value) {
    double left_squares = 0.0, left = 0.0, right_squares = 0.0, right = 0.0;
    size_t i = 0, n_right = 0;
    for (const ClassRun& run : *bag.runs) {
      double r = 0.0;
      for (const size_t end = i + run.n; i < end; ++i) {
        const bool goes_right = z[i] > threshold;
        tried_[i] = goes_right;
        n_right += goes_right;
        r += goes_right ? bag.weight[i] : 0.0;
      }
      const double l = run.weight - r;
      left_squares += l * l;
      left += l;
      right_squares += r * r;
      right += r;
    }
    if (n_right == 0 || n_right == bag.n || !(left > 0.0) || !(right > 0.0)) return false;
    value = gini_value(left_squares, left, right_squares, right);
    return true;
  }
  void keep(size_t n) { std::copy_n(tried_.begin(), n, best_.begin()); }

 private:
  std::vector<unsigned char> best_, tried_;
};

// A cut of a feature of the tree, or a plane over the drawn features or over others.
// value : by gini_value
struct DrawnSplit {
  int32_t feature = -1;  // -1: a plane
  Vector normal;
  const SparsePlanes::Term* terms = nullptr;  // of a plane that is not over the drawn features
  double threshold = 0.0, value = 0.0;
  double uncut = -1.0;  // the value without a cut, negative if it follows from the classes
};

// Draws for one tree after another, from streams named after the seed of the tree and the path of the node.
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
  void begin_tree(uint64_t tree_seed, SparsePlanes& tree) {
    seed_ = tree_seed;
    x_ = &data_.x;
    if (options_.group_size > 0) {
      tree.rotation = draw_rotation(seed_, data_.x, data_.weights.empty() ? nullptr : data_.weights.data(),
                                    data_.inverse_scale, options_.group_size);
      rotate(tree.rotation, data_.x, rotated_);
      x_ = &rotated_;
    }
    drawn_.begin_tree(x_->p);
    if (options_.tree_features > 0 && options_.tree_features < x_->p)
      drawn_.keep(options_.tree_features, Stream(options_.features_seed.value_or(seed_), 0, kTreeFeatures));
    per_node_ = options_.mtry == 0 ? drawn_.total() : std::min(options_.mtry, drawn_.total());
    tree.width = wishes_.axis_only ? 0 : per_node_;
    const bool all_searched = wishes_.axis_only && per_node_ == x_->p && !options_.node_bootstrap;
    rows_.draw(data_, *x_, options_.rows, all_searched && wishes_.presorted, seed_);
    sides_.resize(rows_.size());
  }

  // The functions of a NodeSampler (grow/grower.hpp).
  bool take(const Place& place, uint64_t path) {
    place_ = place;
    path_ = path;
    bag_ = rows_.bag(place);
    is_sampled_ = options_.node_bootstrap && draw_again();
    drawn_.begin_node();
    stream_ = Stream(seed_, path, 0);
    if (wishes_.in_order && per_node_ == drawn_.total())
      drawn_.take_all();
    else
      while (drawn_.size() < per_node_) drawn_.draw(stream_);
    return true;
  }

  void end_search(bool) {}

  // If a sample chose the split, only the sides of its rows are known; this computes the sides of all rows of the node.
  bool divide(const Place& place, DrawnSplit& split, Place& left, Place& right) {
    if (is_sampled_) {
      bag_ = rows_.bag(place);
      z_.resize(std::max(z_.size(), bag_.n));
      if (split.feature >= 0) {
        const double* x = x_->column(static_cast<size_t>(split.feature));
        for (size_t i = 0; i < bag_.n; ++i) z_[i] = x[bag_.row[i]];
      } else {
        gather_drawn().project(split.normal.data(), z_.data());
      }
      if (!sides_.try_cut(bag_, z_.data(), split.threshold, split.value)) return false;
      sides_.keep(bag_.n);
    }
    if (signs().empty()) {
      rows_.divide(place, sides_.best(), left, right);
      return true;
    }
    // Bounds depend on the rows that go to either side, not on the sample that chose the split.
    const AllowedCuts allowed{place.bounds, way_of(split)};
    double of_left = 0.0, of_right = 0.0;
    rows_.second_shares(place, sides_.best(), of_left, of_right);
    if (!allowed.allow(of_left, of_right)) return false;
    rows_.divide(place, sides_.best(), left, right);
    allowed.hand_down(of_left, of_right, left.bounds, right.bounds);
    return true;
  }

  // The current node.
  const Bag& bag() const { return bag_; }
  Stream& stream() { return stream_; }  // state after the draw of the features
  uint64_t path() const { return path_; }
  size_t n_features() const { return x_->p; }  // of the tree
  // The drawn features. The draw can be extended to all features of the tree, in their order or that of the draw.
  FeatureDraw& drawn() { return drawn_; }
  const FeatureDraw& drawn() const { return drawn_; }
  // The columns of the first `count` drawn features; valid until the next call.
  const Gathered& gather(size_t count) {
    gathered_.resize(std::max(gathered_.size(), bag_.n * count));
    for (size_t j = 0; j < count; ++j) {
      const double* x = x_->column(static_cast<size_t>(drawn_[j]));
      double* out = gathered_.data() + j * bag_.n;
      for (size_t i = 0; i < bag_.n; ++i) out[i] = x[bag_.row[i]];
    }
    columns_ = {gathered_.data(), bag_.n, count};
    z_.resize(std::max(z_.size(), bag_.n));
    return columns_;
  }

  const Gathered& gather_drawn() { return gather(per_node_); }

  AxisFeature axis(int32_t feature) {
    const size_t j = feature;
    const bool in_order = rows_.presorted();
    return {x_->column(j), wishes_.ranked ? x_->rank(j) : nullptr,
            in_order ? rows_.sorted_keys(j, place_.first) : nullptr, in_order ? rows_.facts() : nullptr};
  }

  // The monotone signs of the features of the tree; empty without constraints.
  const Signs& signs() const { return options_.signs; }

  Signs drawn_signs(size_t count) const {
    Signs drawn;
    for (size_t j = 0; j < count && !signs().empty(); ++j) drawn.push_back(signs()[drawn_[j]]);
    return drawn;
  }
  // of the first drawn features
  const Bounds& bounds() const { return place_.bounds; }
  // Buffers for projections of the rows, and for their sides.
  double* projections() { return z_.data(); }
  Sides& sides() { return sides_; }

 private:
  // Double random forests: the split of a large node is chosen on a bootstrap sample of its rows (Han, Kim & Lee 2020).
  // False if the node has at most a tenth of the tree's rows, or if the sample has only one class.
  bool draw_again() {
    if (10 * bag_.n <= rows_.size()) return false;
    draw_bootstrap(Stream(seed_, path_, kNodeRows), bag_.n, bag_.n, draws_);
    sampled_row_.clear();
    sampled_weight_.clear();
    sampled_runs_.clear();
    size_t i = 0;
    bool counts = bag_.counts;
    for (const ClassRun& run : *bag_.runs) {
      ClassRun again{run.code, 0, 0.0};
      for (const size_t end = i + run.n; i < end; ++i) {
        if (draws_[i] == 0) continue;
        const double weight = draws_[i] * bag_.weight[i];
        counts = counts && weight <= 0xffff;
        sampled_row_.push_back(bag_.row[i]);
        sampled_weight_.push_back(weight);
        ++again.n;
        again.weight += weight;
      }
      if (again.n) sampled_runs_.push_back(again);
    }
    if (sampled_runs_.size() < 2) return false;
    bag_ = {sampled_row_.data(), sampled_weight_.data(), sampled_row_.size(), &sampled_runs_, counts};
    return true;
  }

  int way_of(const DrawnSplit& split) const {
    if (split.feature >= 0) return signs()[split.feature];
    return way_across(drawn_signs(split.normal.size()), split.normal.data());
  }

  TrainingRows& data_;
  BaggedRows& rows_;
  const ForestOptions& options_;
  const Wishes wishes_;
  // The tree.
  uint64_t seed_ = 0;
  Columns* x_ = nullptr;  // its features
  Columns rotated_;
  FeatureDraw drawn_;
  size_t per_node_ = 0;
  // The current node.
  Place place_;
  uint64_t path_ = kRootPath;
  Stream stream_{0, 0, 0};
  Bag bag_;
  bool is_sampled_ = false;  // whether bag_ is a bootstrap sample of the node
  std::vector<double> gathered_, z_;
  Gathered columns_;
  Sides sides_;
  std::vector<uint32_t> draws_, sampled_row_;
  std::vector<double> sampled_weight_;
  std::vector<ClassRun> sampled_runs_;
};

}  // namespace oblique
