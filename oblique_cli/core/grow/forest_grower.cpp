#include "grow/forest_grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/interrupt.hpp"
#include "rows/rotation.hpp"
#include "split/node_rows.hpp"

namespace oblique {

namespace {

// Numbers of streams: of a tree those of its family and of its features, of a node that of the rows drawn again.
constexpr std::uint64_t kFamily = std::uint64_t{1} << 32, kTreeFeatures = kFamily + 1, kNodeRows = kFamily + 2;

}  // namespace

ForestTreeGrower::ForestTreeGrower(TrainingRows& data, const ForestOptions& options)
    : data_(data), options_(options), stopping_{options.minleaf, 0.0, options.max_depth},
      heuristic_(
          options.heuristic(data.weights.empty() && !options.node_bootstrap && options.rows.takes_all(data.x.n))) {}

ForestTree ForestTreeGrower::grow(std::uint64_t tree_seed, std::size_t number) {
  seed_ = tree_seed;
  const Open root = begin_tree(number);
  add_node();
  grow_down(
      root, [this](Open& node, Open& left, Open& right) { return visit(node, left, right); },
      [](const Open&, const Open&) { return false; });
  return std::move(tree_);
}

ForestTreeGrower::Open ForestTreeGrower::begin_tree(std::size_t number) {
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
  const bool axis_only = !heuristic_;
  drawn_.begin_tree(x_->p);
  if (heuristic_) heuristic_->begin_tree(Stream(seed_, 0, kFamily).next(), number);
  if (options_.tree_features > 0 && options_.tree_features < x_->p)
    drawn_.keep(options_.tree_features, Stream(seed_, 0, kTreeFeatures));
  drawn_per_node_ = options_.mtry == 0 ? drawn_.total() : std::min(options_.mtry, drawn_.total());
  tree_.width = axis_only ? 0 : drawn_per_node_;
  const bool all_searched = axis_only && drawn_per_node_ == x_->p && !options_.node_bootstrap;
  rows_.draw(data_, *x_, options_.rows, all_searched, seed_);
  sides_.resize(rows_.size());
  return {0, rows_.size(), 0, kRootPath, 0, 0, axis_only};
}

std::int32_t ForestTreeGrower::add_node() {
  tree_.nodes.emplace_back();
  return static_cast<std::int32_t>(tree_.size()) - 1;
}

bool ForestTreeGrower::visit(Open& node, Open& left, Open& right) {
  rows_.begin(node.first_run);
  checkpoint(node.last - node.first);
  tree_.depth = std::max(tree_.depth, node.depth);
  const double misrate = rows_.runs().size() == 1 ? 0.0 : 1.0;  // all that is asked is whether there is any
  if (stopping_.is_leaf(rows_.samples(node.first, node.last), misrate, node.depth) || !split(node)) {
    make_leaf(node.id);
    return false;
  }
  commit(node, left, right);
  return true;
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
  const Bag own = rows_.bag(node.first, node.last);
  bag_ = own;
  const bool sampled = options_.node_bootstrap && draw_again(node.path);
  if (!find(node)) return false;
  return !sampled || divide_own(own);
}

// Double random forests: lets the split of a large node be chosen on a bootstrap sample of its rows (Han, Kim & Lee
// 2020). False at a node of a tenth of the tree's rows or fewer, and if the sample has one class only.
bool ForestTreeGrower::draw_again(std::uint64_t path) {
  if (10 * bag_.n <= rows_.size()) return false;
  draw_bootstrap(Stream(seed_, path, kNodeRows), bag_.n, bag_.n, draws_);
  sampled_row_.clear();
  sampled_weight_.clear();
  sampled_runs_.clear();
  std::size_t i = 0;
  bool counts = bag_.counts;
  for (const ClassRun& run : *bag_.runs) {
    ClassRun drawn{run.code, 0, 0.0};
    for (const std::size_t end = i + run.n; i < end; ++i) {
      if (draws_[i] == 0) continue;
      const double weight = draws_[i] * bag_.weight[i];
      counts = counts && weight <= 0xffff;
      sampled_row_.push_back(bag_.row[i]);
      sampled_weight_.push_back(weight);
      ++drawn.n;
      drawn.weight += weight;
    }
    if (drawn.n) sampled_runs_.push_back(drawn);
  }
  if (sampled_runs_.size() < 2) return false;
  bag_ = {sampled_row_.data(), sampled_weight_.data(), sampled_row_.size(), &sampled_runs_, counts};
  return true;
}

// Divides the node's own rows by the split that was found on a sample of them; both sides have the sample's rows.
bool ForestTreeGrower::divide_own(const Bag& own) {
  bag_ = own;
  z_.resize(std::max(z_.size(), own.n));
  if (found_axis_) {
    const double* x = x_->column(static_cast<std::size_t>(axis_.best.feature));
    for (std::size_t i = 0; i < own.n; ++i) z_[i] = x[own.row[i]];
  } else {
    gather(tree_.width);
    columns_.project(normal_.data(), z_.data());
  }
  if (!sides_.try_cut(own, z_.data(), threshold_, value_)) return false;
  sides_.keep(own.n);
  return true;
}

// What the heuristic proposes; where that does not divide the rows, the best cut along an axis.
bool ForestTreeGrower::find(Open& node) {
  drawn_.begin_node();
  Stream stream(seed_, node.path, 0);
  const bool orderly = heuristic_ && heuristic_->is_orderly();
  if (orderly && drawn_per_node_ == drawn_.total())
    drawn_.take_all();
  else
    while (drawn_.size() < drawn_per_node_) drawn_.draw(stream);
  if (!node.axis_only && x_->p > 0) {
    gather(drawn_per_node_);
    proposal_.clear();
    heuristic_->propose({bag_, columns_, stream, node.path}, proposal_);
    if (take_best()) return true;
    node.axis_only = proposal_.axes_below;
  }
  if (!orderly) return find_axis(stream, node.first);
  drawn_.take_all();
  gather(drawn_.size());
  proposal_.clear();
  if (heuristic_->propose_axis({bag_, columns_, stream, node.path}, proposal_)) return take_best();
  return find_rank(stream, node.first);
}

// The best cut of the features drawn; if none of them varies, of the next that does.
bool ForestTreeGrower::find_axis(Stream& stream, std::size_t first) {
  axis_.begin(bag_);
  for (std::size_t at = 0; at < drawn_.total(); ++at) {
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

// Gathers the first `count` features drawn.
void ForestTreeGrower::gather(std::size_t count) {
  gathered_.resize(std::max(gathered_.size(), bag_.n * count));
  for (std::size_t j = 0; j < count; ++j) {
    const double* x = x_->column(static_cast<std::size_t>(drawn_[j]));
    double* out = gathered_.data() + j * bag_.n;
    for (std::size_t i = 0; i < bag_.n; ++i) out[i] = x[bag_.row[i]];
  }
  columns_ = {gathered_.data(), bag_.n, count};
  z_.resize(std::max(z_.size(), bag_.n));
}

// The plane of greatest value among those proposed, the first on a tie. False if none has rows on both sides.
bool ForestTreeGrower::take_best() {
  bool found = false;
  for (const Plane& plane : proposal_.planes) {
    std::size_t axis = 0;
    const bool is_axis = proposal_.keeps_axes && along_axis(plane.w, axis);
    const double* z = is_axis ? columns_.column(axis) : z_.data();
    if (!is_axis) columns_.project(plane.w.data(), z_.data());
    double value = 0.0, threshold = plane.t;
    if (!proposal_.given && !settle(z, bag_.n, threshold)) continue;
    if (!sides_.try_cut(bag_, z, threshold, value) || (found && !(value > value_ * kBeats))) continue;
    sides_.keep(bag_.n);
    value_ = value;
    threshold_ = threshold;
    found_axis_ = is_axis;
    if (is_axis)
      axis_.best.feature = drawn_[axis];
    else
      normal_ = plane.w;
    found = true;
  }
  return found;
}

// Whether a normal is that of an axis, and which of the features drawn it is.
bool ForestTreeGrower::along_axis(const Vector& normal, std::size_t& feature) const {
  std::size_t terms = 0;
  for (std::size_t j = 0; j < normal.size(); ++j)
    if (normal[j] != 0.0) {
      ++terms;
      feature = j;
    }
  return terms == 1 && normal[feature] == 1.0;
}

// The best Gini cut by ranks, which need no arithmetic on features; false if a side of that cut weighs too little.
bool ForestTreeGrower::find_rank(Stream& stream, std::size_t first) {
  if (!find_axis(stream, first)) return false;
  double left = 0.0, right = 0.0;
  for (std::size_t i = 0; i < bag_.n; ++i) (sides_.best()[i] ? right : left) += bag_.weight[i];
  return std::min(left, right) >= heuristic_->min_leaf();
}

// ---- the tree
// --------------------------------------------------------------------------------------------------------

// Writes the split that was found, and opens the children.
void ForestTreeGrower::commit(const Open& node, Open& left, Open& right) {
  credit();
  const std::int32_t left_id = add_node(), right_id = add_node();
  tree_.nodes[node.id] = {threshold_, left_id,
                          found_axis_ ? ~axis_.best.feature : static_cast<std::int32_t>(tree_.n_oblique())};
  if (!found_axis_)
    for (std::size_t j = 0; j < tree_.width; ++j) tree_.terms.push_back({normal_[j], drawn_[j]});
  const BaggedRows::Children at = rows_.divide(node.first, node.last, sides_.best());
  right = {at.middle, node.last, at.right_run, child_path(node.path, true), right_id, node.depth + 1, node.axis_only};
  left = {node.first, at.middle, at.left_run, child_path(node.path, false), left_id, node.depth + 1, node.axis_only};
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
