#include "grow/drawn_nodes.hpp"

#include <algorithm>

#include "rows/rotation.hpp"

namespace oblique {

namespace {

// Numbers of random streams: kTreeFeatures of a tree, for its features; the next of a node, for the bootstrap of its
// rows. The number before them belongs to the heuristic (forest_grower.cpp).
constexpr std::uint64_t kTreeFeatures = (std::uint64_t{1} << 32) + 1, kNodeRows = kTreeFeatures + 1;

}  // namespace

void DrawnNodes::begin_tree(std::uint64_t tree_seed, SparsePlanes& tree) {
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

bool DrawnNodes::take(const Place& place, std::uint64_t path) {
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

// Double random forests: the split of a large node is chosen on a bootstrap sample of its rows (Han, Kim & Lee 2020).
// False if the node has at most a tenth of the tree's rows, or if the sample has only one class.
bool DrawnNodes::draw_again() {
  if (10 * bag_.n <= rows_.size()) return false;
  draw_bootstrap(Stream(seed_, path_, kNodeRows), bag_.n, bag_.n, draws_);
  sampled_row_.clear();
  sampled_weight_.clear();
  sampled_runs_.clear();
  std::size_t i = 0;
  bool counts = bag_.counts;
  for (const ClassRun& run : *bag_.runs) {
    ClassRun again{run.code, 0, 0.0};
    for (const std::size_t end = i + run.n; i < end; ++i) {
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

// After a split was chosen on a sample, the sides of all rows of the node are computed again: the present sides belong
// to the sample.
bool DrawnNodes::divide(const Place& place, DrawnSplit& split, Place& left, Place& right) {
  if (is_sampled_) {
    bag_ = rows_.bag(place);
    z_.resize(std::max(z_.size(), bag_.n));
    if (split.feature >= 0) {
      const double* x = x_->column(static_cast<std::size_t>(split.feature));
      for (std::size_t i = 0; i < bag_.n; ++i) z_[i] = x[bag_.row[i]];
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

int DrawnNodes::way_of(const DrawnSplit& split) const {
  if (split.feature >= 0) return signs()[static_cast<std::size_t>(split.feature)];
  return way_across(drawn_signs(split.normal.size()), split.normal.data());
}

Signs DrawnNodes::drawn_signs(std::size_t count) const {
  Signs drawn;
  for (std::size_t j = 0; j < count && !signs().empty(); ++j)
    drawn.push_back(signs()[static_cast<std::size_t>(drawn_[j])]);
  return drawn;
}

const Gathered& DrawnNodes::gather(std::size_t count) {
  gathered_.resize(std::max(gathered_.size(), bag_.n * count));
  for (std::size_t j = 0; j < count; ++j) {
    const double* x = x_->column(static_cast<std::size_t>(drawn_[j]));
    double* out = gathered_.data() + j * bag_.n;
    for (std::size_t i = 0; i < bag_.n; ++i) out[i] = x[bag_.row[i]];
  }
  columns_ = {gathered_.data(), bag_.n, count};
  z_.resize(std::max(z_.size(), bag_.n));
  return columns_;
}

AxisFeature DrawnNodes::axis(std::int32_t feature) {
  const std::size_t j = static_cast<std::size_t>(feature);
  const bool in_order = rows_.presorted();
  return {x_->column(j), wishes_.ranked ? x_->rank(j) : nullptr,
          in_order ? rows_.sorted_keys(j, place_.first) : nullptr, in_order ? rows_.facts() : nullptr};
}

}  // namespace oblique
