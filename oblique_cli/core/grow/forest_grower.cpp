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
    : data_(data), options_(options), reflected_(options.reflections, options.dominant_only, options.tau),
      family_(options_.families, data.weights.empty() && !options.node_bootstrap && options.rows.takes_all(data.x.n)) {
  mpsvm_.configure(options.regularization, options.delta);
  heterogeneous_.configure(options.heterogeneous, options.delta);
}

ForestTree ForestTreeGrower::grow(std::uint64_t tree_seed, std::size_t number) {
  seed_ = tree_seed;
  begin_tree(number);
  add_node();
  while (!open_.empty()) {
    const Open node = open_.back();
    open_.pop_back();
    rows_.begin(node.first_run);
    visit(node);
  }
  return std::move(tree_);
}

void ForestTreeGrower::begin_tree(std::size_t number) {
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
  drawn_.begin_tree(x_->p);
  if (options_.split == ForestSplit::family) {
    family_.begin_tree(Stream(seed_, 0, kFamily).next(), number);
    if (options_.tree_features > 0 && options_.tree_features < x_->p)
      drawn_.keep(options_.tree_features, Stream(seed_, 0, kTreeFeatures));
  }
  drawn_per_node_ = options_.mtry == 0 ? drawn_.total() : std::min(options_.mtry, drawn_.total());
  tree_.width = axis_only ? 0 : drawn_per_node_;
  const bool all_searched = axis_only && drawn_per_node_ == x_->p && !options_.node_bootstrap;
  rows_.draw(data_, *x_, options_.rows, all_searched, seed_);
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

bool ForestTreeGrower::find(Open& node) {
  drawn_.begin_node();
  if (options_.split == ForestSplit::family) return find_by_family(node.path);
  Stream stream(seed_, node.path, 0);
  while (drawn_.size() < drawn_per_node_) drawn_.draw(stream);
  if (!node.axis_only && x_->p > 0) {
    gather(drawn_per_node_);
    const ForestSplit kind = options_.split;
    if (kind == ForestSplit::mpsvm           ? find_bisector(node.axis_only)
        : kind == ForestSplit::heterogeneous ? find_classifier()
                                             : find_reflected(stream))
      return true;
  }
  return find_axis(stream, node.first);
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

// The better of the two MPSVM bisectors, the first on a tie. False if neither has rows on both sides; axis_only is set
// if the rule says so.
bool ForestTreeGrower::find_bisector(bool& axis_only) {
  bool singular = false;
  const bool any = mpsvm_.find(bag_, columns_, planes_, singular);
  if (singular && options_.regularization == Regularization::axis) axis_only = true;
  return any && best_plane();
}

// The best of the planes of several linear classifiers. False if none has rows on both sides.
bool ForestTreeGrower::find_classifier() {
  heterogeneous_.find(bag_, columns_, planes_);
  return best_plane();
}

// The plane of greatest value, the first on a tie. False if none has rows on both sides.
bool ForestTreeGrower::best_plane() {
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

// The split of the tree's family; where it finds none, the best cut along the axes of all features of the tree.
bool ForestTreeGrower::find_by_family(std::uint64_t path) {
  if (drawn_per_node_ == drawn_.total()) {
    drawn_.take_all();
  } else {
    Stream stream(seed_, path, 0);
    while (drawn_.size() < drawn_per_node_) drawn_.draw(stream);
  }
  checkpoint(4 * bag_.n * drawn_.size());
  gather(drawn_.size());
  bool ordinary = family_.begin(bag_, columns_);
  if (ordinary)
    if (const Split* split = family_.find(path); split && accept(*split)) return true;
  checkpoint(4 * bag_.n * drawn_.total());
  drawn_.take_all();
  gather(drawn_.size());
  if (ordinary && family_.begin(bag_, columns_)) {
    const Split* split = family_.find_axis(path);
    return split && accept(*split);
  }
  return find_rank(path);
}

// The best Gini cut by ranks, which need no arithmetic on features; false if a side of that cut weighs too little.
bool ForestTreeGrower::find_rank(std::uint64_t path) {
  Stream stream(seed_, path, 0);
  if (!find_axis(stream, 0)) return false;
  double left = 0.0, right = 0.0;
  for (std::size_t i = 0; i < bag_.n; ++i) (sides_.best()[i] ? right : left) += bag_.weight[i];
  return std::min(left, right) >= family_.min_leaf();
}

// Takes a split of the features gathered; false if a side has no rows. One along an axis is kept as such.
bool ForestTreeGrower::accept(const Split& split) {
  std::size_t terms = 0, last = 0;
  for (std::size_t j = 0; j < split.normal.size(); ++j)
    if (split.normal[j] != 0.0) {
      ++terms;
      last = j;
    }
  const bool along_axis = terms == 1 && split.normal[last] == 1.0;
  const double* z = along_axis ? columns_.column(last) : z_.data();
  if (!along_axis) columns_.project(split.normal.data(), z_.data());
  threshold_ = split.threshold;
  if (!split.given && !settle(z, bag_.n, threshold_)) return false;
  if (!sides_.try_cut(bag_, z, threshold_, value_)) return false;
  sides_.keep(bag_.n);
  found_axis_ = along_axis;
  if (along_axis)
    axis_.best.feature = drawn_[last];
  else
    normal_ = split.normal;
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
