#include "forest/forest_grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/interrupt.hpp"
#include "forest/rotation.hpp"
#include "search/node_rows.hpp"

namespace oblique {

ForestTreeGrower::ForestTreeGrower(TrainingRows& data, const ForestOptions& options)
    : data_(data), options_(options), reflected_(options) {
  mpsvm_.configure(options.regularization, options.delta);
}

ForestTree ForestTreeGrower::grow(std::uint64_t tree_seed) {
  seed_ = tree_seed;
  begin_tree();
  add_node();
  while (!open_.empty()) {
    const Open node = open_.back();
    open_.pop_back();
    rows_.begin(node.first_run);
    visit(node);
  }
  return std::move(tree_);
}

void ForestTreeGrower::begin_tree() {
  tree_ = ForestTree{};
  tree_.importance.assign(data_.x.p, 0.0);
  tree_.leaf_start.push_back(0);
  x_ = &data_.x;
  if (options_.group_size > 0) {
    tree_.rotation = draw_rotation(seed_, data_.x, data_.weights.empty() ? nullptr : data_.weights.data(),
                                   data_.inverse_scale, options_.group_size);
    rotate(tree_.rotation, data_.x, rotated_);
    x_ = &rotated_;
  }
  const bool axis_only = options_.split == ForestSplit::axis;
  drawn_per_node_ = options_.mtry == 0 ? x_->p : std::min(options_.mtry, x_->p);
  tree_.width = axis_only ? 0 : drawn_per_node_;
  drawn_.begin_tree(x_->p);
  rows_.draw(data_, *x_, options_.bootstrap, axis_only && drawn_per_node_ == x_->p, seed_);
  sides_.resize(rows_.size());
  open_.assign(1, Open{0, rows_.size(), 0, kRootPath, 0, 0, axis_only});
}

std::int32_t ForestTreeGrower::add_node() {
  tree_.nodes.emplace_back();
  return static_cast<std::int32_t>(tree_.size()) - 1;
}

void ForestTreeGrower::visit(Open node) {
  checkpoint(node.last - node.first);
  tree_.depth = std::max(tree_.depth, node.depth);
  const bool pure = rows_.runs().size() == 1;
  const bool deep = options_.max_depth >= 0 && node.depth >= options_.max_depth;
  if (pure || deep || rows_.samples(node.first, node.last) <= options_.minleaf || !split(node))
    make_leaf(node.id);
  else
    commit(node);
}

void ForestTreeGrower::make_leaf(std::int32_t id) {
  tree_.nodes[id].left = ~static_cast<std::int32_t>(tree_.n_leaves());
  const ClassRun* heaviest = &rows_.runs()[0];
  for (const ClassRun& run : rows_.runs()) {
    if (run.weight > heaviest->weight) heaviest = &run;
    tree_.leaf_class.push_back(run.code);
    tree_.leaf_weight.push_back(run.weight);
  }
  tree_.label.push_back(heaviest->code);
  tree_.leaf_start.push_back(static_cast<std::uint32_t>(tree_.leaf_class.size()));
}

// ---- the split of a node
// ---------------------------------------------------------------------------------------------

// Finds the split of a node, if any feature varies among its rows.
bool ForestTreeGrower::split(Open& node) {
  bag_ = rows_.bag(node.first, node.last);
  Stream stream(seed_, node.path, 0);
  drawn_.begin_node();
  while (drawn_.size() < drawn_per_node_) drawn_.draw(stream);
  if (!node.axis_only && x_->p > 0) {
    gather();
    if (options_.split == ForestSplit::mpsvm ? find_bisector(node.axis_only) : find_reflected(stream)) return true;
  }
  return find_axis(stream, node.first);
}

// The best cut of the features drawn; if none of them varies, of the next that does.
bool ForestTreeGrower::find_axis(Stream& stream, std::size_t first) {
  axis_.begin(bag_);
  for (std::size_t at = 0; at < x_->p; ++at) {
    if (at >= drawn_.size()) {
      if (axis_.best.feature >= 0) break;
      drawn_.draw(stream);
    }
    checkpoint(4 * bag_.n);
    const std::int32_t j = drawn_[at];
    if (rows_.presorted())
      axis_.sorted_feature(j, rows_.sorted_keys(static_cast<std::size_t>(j), first), rows_.facts());
    else
      axis_.feature(j, x_->rank(static_cast<std::size_t>(j)));
  }
  if (axis_.best.feature < 0) return false;
  found_axis_ = true;
  value_ = axis_.best.value;
  const std::size_t j = static_cast<std::size_t>(axis_.best.feature);
  const std::uint32_t* rank = x_->rank(j);
  const double* x = x_->column(j);
  unsigned char* side = sides_.best();
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < bag_.n; ++i) {
    const std::uint32_t row = bag_.row[i];
    side[i] = rank[row] > axis_.best.rank;
    if (side[i])
      high = std::min(high, x[row]);
    else
      low = std::max(low, x[row]);
  }
  threshold_ = middle_of_gap(low, high);
  return true;
}

void ForestTreeGrower::gather() {
  gathered_.resize(std::max(gathered_.size(), bag_.n * drawn_per_node_));
  for (std::size_t j = 0; j < drawn_per_node_; ++j) {
    const double* x = x_->column(static_cast<std::size_t>(drawn_[j]));
    double* out = gathered_.data() + j * bag_.n;
    for (std::size_t i = 0; i < bag_.n; ++i) out[i] = x[bag_.row[i]];
  }
  columns_ = {gathered_.data(), bag_.n, drawn_per_node_};
  z_.resize(std::max(z_.size(), bag_.n));
}

// The better of the two MPSVM bisectors, the first on a tie. False if neither has rows on both sides; axis_only is set
// if the rule says so.
bool ForestTreeGrower::find_bisector(bool& axis_only) {
  bool singular = false;
  const bool any = mpsvm_.find(bag_, columns_, planes_, singular);
  if (singular && options_.regularization == Regularization::axis) axis_only = true;
  if (!any) return false;
  bool found = false;
  for (const Plane& plane : planes_) {
    columns_.project(plane.w.data(), z_.data());
    double value = 0.0;
    if (!sides_.try_cut(bag_, z_.data(), plane.t, value) || (found && !(value > value_ * kBeats))) continue;
    sides_.keep(bag_.n);
    value_ = value;
    normal_ = plane.w;
    threshold_ = plane.t;
    found = true;
  }
  found_axis_ = false;
  return found;
}

// The best cut along the axes of a few reflections, its threshold in the middle of its gap.
bool ForestTreeGrower::find_reflected(Stream& stream) {
  if (!reflected_.find(bag_, columns_, stream, normal_, threshold_)) return false;
  columns_.project(normal_.data(), z_.data());
  if (!settle(z_.data(), bag_.n, threshold_) || !sides_.try_cut(bag_, z_.data(), threshold_, value_)) return false;
  sides_.keep(bag_.n);
  found_axis_ = false;
  return true;
}

// ---- the tree
// --------------------------------------------------------------------------------------------------------

// Writes the split that was found, and opens the children.
void ForestTreeGrower::commit(const Open& node) {
  credit();
  const std::int32_t left = add_node(), right = add_node();
  tree_.nodes[node.id] = {threshold_, left,
                          found_axis_ ? ~axis_.best.feature : static_cast<std::int32_t>(tree_.n_oblique())};
  if (!found_axis_)
    for (std::size_t j = 0; j < tree_.width; ++j) tree_.terms.push_back({normal_[j], drawn_[j]});
  const BaggedRows::Children at = rows_.divide(node.first, node.last, sides_.best());
  // The last opened is visited first: left before right.
  open_.push_back(
      {at.middle, node.last, at.right_run, child_path(node.path, true), right, node.depth + 1, node.axis_only});
  open_.push_back(
      {node.first, at.middle, at.left_run, child_path(node.path, false), left, node.depth + 1, node.axis_only});
}

// Shares the reduction in impurity among the original features by the size of their coefficients times their range.
void ForestTreeGrower::credit() {
  double squares = 0.0, total = 0.0;
  for (const ClassRun& run : rows_.runs()) {
    squares += run.weight * run.weight;
    total += run.weight;
  }
  const double gain = std::max(value_ - squares / total, 0.0);
  shares_.clear();
  const auto add = [&](std::int32_t feature, double w) {
    if (!tree_.rotation.given()) {
      shares_.push_back({feature, w});
      return;
    }
    for (std::int32_t t = tree_.rotation.start[feature]; t < tree_.rotation.start[feature + 1]; ++t)
      shares_.push_back({tree_.rotation.feature[t], w * tree_.rotation.coef[t]});
  };
  if (found_axis_)
    add(axis_.best.feature, 1.0);
  else
    for (std::size_t j = 0; j < tree_.width; ++j) add(drawn_[j], normal_[j]);
  double sum = 0.0;
  for (auto& [feature, w] : shares_) {
    w = std::fabs(w) * data_.half_range[feature];
    sum += w;
  }
  if (!std::isfinite(sum)) {
    sum = 0.0;
    for (auto& [feature, w] : shares_) sum += w *= 0x1p-64;
  }
  if (sum > 0.0)
    for (const auto& [feature, w] : shares_) tree_.importance[feature] += gain * (w / sum);
}

}  // namespace oblique
