// Trees of a forest, axis-parallel, MPSVM and HHCART, grown without Python.
//
// A tree keeps the rows it drew as one array of row numbers, grouped by class within every node; a split partitions
// that array in place. All that is random is drawn from streams named after the seed of the tree and the path of the
// node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "forest/axis_search.hpp"
#include "forest/columns.hpp"
#include "common/divide.hpp"
#include "forest/forest_tree.hpp"
#include "growth/growth.hpp"
#include "forest/mpsvm.hpp"
#include "common/random.hpp"
#include "forest/rotation.hpp"
#include "forest/sorted_rows.hpp"

namespace oblique {

enum class ForestSplit { axis, mpsvm, hhcart };

struct ForestOptions {
  ForestSplit split = ForestSplit::axis;
  Regularisation regularisation = Regularisation::tikhonov;
  double delta = 0.01;
  std::size_t mtry = 0;            // features drawn at a node, 0: all (of the rotated ones)
  std::size_t group_size = 0;      // of a rotation, 0: none
  Scaling scaling = Scaling::range;   // before a rotation
  bool bootstrap = true;
  double minleaf = 1.0;            // an impure node of this many rows or fewer is a leaf, repeats counted
  int max_depth = -1;
  std::size_t reflections = 1;     // HHCART: eigenvectors drawn at a node
  bool dominant_only = true;       // HHCART: of every class its first eigenvector only
  double tau = 0.05;
};

// What all trees of a forest share.
struct TrainingRows {
  Columns x;
  std::vector<std::int32_t> y;
  std::vector<double> weights;              // empty if all are 1
  std::vector<std::uint32_t> by_class;      // row numbers, by class and then by number
  std::vector<double> half_range;           // of each feature; the range itself may overflow
  Vector inverse_scale;                     // of each feature, where trees rotate them
  std::size_t n_classes = 0;

  TrainingRows(const double* rows, const std::int32_t* codes, const double* w, std::size_t n, std::size_t p,
               std::size_t classes, const ForestOptions& options)
      : y(codes, codes + n), n_classes(classes) {
    x.resize(n, p);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < p; ++j) x.values[j * n + i] = rows[i * p + j];
    if (w) weights.assign(w, w + n);
    by_class.resize(n);
    std::iota(by_class.begin(), by_class.end(), 0u);
    std::stable_sort(by_class.begin(), by_class.end(), [this](std::uint32_t a, std::uint32_t b) { return y[a] < y[b]; });
    for (std::size_t j = 0; j < p; ++j) {
      const Range r = range_of(x.column(j), n);
      half_range.push_back(0.5 * r.high - 0.5 * r.low);
      if (options.group_size == 0) x.rank(j);
    }
    if (options.group_size > 0) inverse_scale = inverse_scales(x, w, options.scaling);
  }
};

class ForestTreeGrower {
 public:
  ForestTreeGrower(TrainingRows& data, const ForestOptions& options) : data_(data), options_(options) {
    mpsvm_.configure(options.regularisation, options.delta);
    reflected_.configure(false, 1.0, false);
  }

  ForestTree grow(std::uint64_t tree_seed) {
    seed_ = tree_seed;
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
    drawn_per_node_ = options_.mtry == 0 ? x_->p : std::min(options_.mtry, x_->p);
    tree_.width = options_.split == ForestSplit::axis ? 0 : drawn_per_node_;
    features_.resize(x_->p);
    std::iota(features_.begin(), features_.end(), 0);
    draw_rows();
    add_node();
    while (!open_.empty()) {
      const Open node = open_.back();
      open_.pop_back();
      runs_.assign(run_arena_.begin() + static_cast<std::ptrdiff_t>(node.first_run), run_arena_.end());
      run_arena_.resize(node.first_run);
      visit(node);
    }
    return std::move(tree_);
  }

 private:
  struct Open {
    std::size_t first, last, first_run;
    std::uint64_t path;
    std::int32_t id, depth;
    bool axis_only;
  };

  void draw_rows() {
    const std::size_t n = x_->n;
    if (options_.bootstrap) draw_bootstrap(Stream(seed_, 0, 1), n, draws_of_row_);
    row_.clear();
    weight_.clear();
    draws_.clear();
    run_arena_.clear();
    const bool weighted = !data_.weights.empty();
    counts_ = !weighted && data_.n_classes <= 0xffff;
    for (const std::uint32_t row : data_.by_class) {
      const std::uint32_t draws = options_.bootstrap ? draws_of_row_[row] : 1;
      if (draws == 0) continue;
      const double w = weighted ? draws * data_.weights[row] : draws;
      counts_ = counts_ && draws <= 0xffff;
      if (run_arena_.empty() || run_arena_.back().code != data_.y[row]) run_arena_.push_back({data_.y[row], 0, 0.0});
      ++run_arena_.back().n;
      run_arena_.back().weight += w;
      row_.push_back(row);
      weight_.push_back(w);
      if (weighted) draws_.push_back(draws);
    }
    presorted_ = counts_ && options_.split == ForestSplit::axis && drawn_per_node_ == x_->p;
    if (presorted_) {
      sorted_.sort(*x_, row_);
      facts_.resize(n);
      for (std::size_t i = 0; i < row_.size(); ++i)
        facts_[row_[i]] = static_cast<std::uint32_t>(data_.y[row_[i]]) << 16 | static_cast<std::uint32_t>(weight_[i]);
    }
    side_.resize(row_.size());
    spare_.resize(row_.size() * sizeof(double));
    open_.assign(1, Open{0, row_.size(), 0, kRootPath, 0, 0, options_.split == ForestSplit::axis});
  }

  std::int32_t add_node() {
    tree_.nodes.emplace_back();
    return static_cast<std::int32_t>(tree_.size()) - 1;
  }

  void visit(Open node) {
    tree_.depth = std::max(tree_.depth, node.depth);
    const bool pure = runs_.size() == 1;
    const bool deep = options_.max_depth >= 0 && node.depth >= options_.max_depth;
    if (pure || deep || samples(node) <= options_.minleaf || !split(node)) make_leaf(node.id);
  }

  // Rows drawn into a node, repeats counted.
  double samples(const Open& node) const {
    if (draws_.empty()) {
      double sum = 0.0;
      for (const ClassRun& run : runs_) sum += run.weight;
      return sum;
    }
    double sum = 0.0;
    for (std::size_t i = node.first; i < node.last; ++i) sum += draws_[i];
    return sum;
  }

  void make_leaf(std::int32_t id) {
    tree_.nodes[id].left = ~static_cast<std::int32_t>(tree_.n_leaves());
    const ClassRun* heaviest = &runs_[0];
    for (const ClassRun& run : runs_) {
      if (run.weight > heaviest->weight) heaviest = &run;
      tree_.leaf_class.push_back(run.code);
      tree_.leaf_weight.push_back(run.weight);
    }
    tree_.label.push_back(heaviest->code);
    tree_.leaf_start.push_back(static_cast<std::uint32_t>(tree_.leaf_class.size()));
  }

  // Splits a node if any feature varies among its rows.
  bool split(Open node) {
    bag_ = Bag{row_.data() + node.first, weight_.data() + node.first, node.last - node.first, &runs_, counts_};
    Stream stream(seed_, node.path, 0);
    const Draw draw(*this, stream);
    bool found = false;
    if (!node.axis_only && x_->p > 0)
      found = options_.split == ForestSplit::mpsvm ? find_bisector(node.axis_only) : find_reflected(stream);
    if (!found && !find_axis(stream, node.first)) return false;
    commit(node);
    return true;
  }

  // The first features of a random order, drawn as they are needed and put back at the end.
  class Draw {
   public:
    Draw(ForestTreeGrower& grower, Stream& stream) : grower_(grower) {
      grower_.swapped_.clear();
      grower_.n_drawn_ = 0;
      while (grower_.n_drawn_ < grower_.drawn_per_node_) grower_.draw_feature(stream);
    }
    ~Draw() {
      for (std::size_t i = grower_.swapped_.size(); i-- > 0;)
        std::swap(grower_.features_[i], grower_.features_[grower_.swapped_[i]]);
    }
    Draw(const Draw&) = delete;
    Draw& operator=(const Draw&) = delete;

   private:
    ForestTreeGrower& grower_;
  };

  void draw_feature(Stream& stream) {
    const std::size_t other = n_drawn_ + stream.below(x_->p - n_drawn_);
    std::swap(features_[n_drawn_++], features_[other]);
    swapped_.push_back(other);
  }

  // The best cut of the features drawn; if none of them varies, of the next that does.
  bool find_axis(Stream& stream, std::size_t first) {
    search_.begin(bag_);
    for (std::size_t at = 0; at < x_->p; ++at) {
      if (at >= n_drawn_) {
        if (search_.best.feature >= 0) break;
        draw_feature(stream);
      }
      const std::int32_t j = features_[at];
      if (presorted_)
        search_.sorted_feature(j, sorted_.of(static_cast<std::size_t>(j), first), facts_.data());
      else
        search_.feature(j, x_->rank(static_cast<std::size_t>(j)));
    }
    if (search_.best.feature < 0) return false;
    found_axis_ = true;
    value_ = search_.best.value;
    const std::size_t j = static_cast<std::size_t>(search_.best.feature);
    const std::uint32_t* rank = x_->rank(j);
    const double* x = x_->column(j);
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < bag_.n; ++i) {
      const std::uint32_t row = bag_.row[i];
      side_[i] = rank[row] > search_.best.rank;
      if (side_[i])
        high = std::min(high, x[row]);
      else
        low = std::max(low, x[row]);
    }
    threshold_ = middle_of_gap(low, high);
    return true;
  }

  void gather() {
    gathered_.resize(std::max(gathered_.size(), bag_.n * drawn_per_node_));
    for (std::size_t j = 0; j < drawn_per_node_; ++j) {
      const double* x = x_->column(static_cast<std::size_t>(features_[j]));
      double* out = gathered_.data() + j * bag_.n;
      for (std::size_t i = 0; i < bag_.n; ++i) out[i] = x[bag_.row[i]];
    }
  }

  // Projections of the gathered rows by the arithmetic of prediction.
  void project(const double* w, double* z) const {
    const double* first = gathered_.data();
    for (std::size_t i = 0; i < bag_.n; ++i) z[i] = w[0] * first[i];
    for (std::size_t j = 1; j < drawn_per_node_; ++j) {
      const double* x = gathered_.data() + j * bag_.n;
      const double c = w[j];
      for (std::size_t i = 0; i < bag_.n; ++i) z[i] += c * x[i];
    }
  }

  // The better of the two MPSVM bisectors, the first on a tie. False if neither has rows on both sides; axis_only is set
  // if the rule says so.
  bool find_bisector(bool& axis_only) {
    gather();
    bool singular = false;
    const bool any = mpsvm_.find(bag_, {gathered_.data(), bag_.n, drawn_per_node_}, planes_, singular);
    if (singular && options_.regularisation == Regularisation::axis) axis_only = true;
    if (!any) return false;
    z_.resize(std::max(z_.size(), bag_.n));
    other_side_.resize(std::max(other_side_.size(), bag_.n));
    bool found = false;
    for (const Plane& plane : planes_) {
      project(plane.w.data(), z_.data());
      double value = 0.0;
      if (!divides(plane.t, value) || (found && !(value > value_ * kBeats))) continue;
      std::copy_n(other_side_.begin(), bag_.n, side_.begin());
      value_ = value;
      normal_ = plane.w;
      threshold_ = plane.t;
      found = true;
    }
    found_axis_ = false;
    return found;
  }

  // Sends z_ to other_side_ and returns whether both sides have rows; `value` is that of the cut.
  bool divides(double threshold, double& value) {
    double left_squares = 0.0, left = 0.0, right_squares = 0.0, right = 0.0;
    std::size_t i = 0, n_right = 0;
    for (const ClassRun& run : runs_) {
      double r = 0.0;
      for (const std::size_t end = i + run.n; i < end; ++i) {
        const bool goes_right = z_[i] > threshold;
        other_side_[i] = goes_right;
        n_right += goes_right;
        r += goes_right ? bag_.weight[i] : 0.0;
      }
      const double l = run.weight - r;
      left_squares += l * l;
      left += l;
      right_squares += r * r;
      right += r;
    }
    if (n_right == 0 || n_right == bag_.n || !(left > 0.0) || !(right > 0.0)) return false;
    value = gini_value(left_squares, left, right_squares, right);
    return true;
  }

  // The best cut along the axes of a few reflections of the features drawn: each sends an eigenvector, drawn among those
  // of the classes at the node, to the first axis (thesis 3.5). The original axes where no class has an eigenvector.
  bool find_reflected(Stream& stream) {
    gather();
    rows_.columns.clear();
    for (std::size_t j = 0; j < drawn_per_node_; ++j) rows_.columns.push_back(gathered_.data() + j * bag_.n);
    rows_.weights = bag_.weight;
    rows_.n = bag_.n;
    rows_.n_classes = static_cast<int>(runs_.size());
    offsets_.assign(1, 0);
    for (const ClassRun& run : runs_) offsets_.push_back(offsets_.back() + run.n);
    rows_.first_row = offsets_.data();
    spread_.measure(rows_);
    draw_spaces(stream);
    reflected_.begin(rows_);
    search_spaces(reflected_, rows_, spread_, spaces_, 0, xu_);
    const Cut cut = reflected_.front().winner();
    if (cut.order < 0) return false;
    normal_ = normal_of(spaces_, drawn_per_node_, cut.order);
    threshold_ = cut.threshold;
    z_.resize(std::max(z_.size(), bag_.n));
    other_side_.resize(std::max(other_side_.size(), bag_.n));
    project(normal_.data(), z_.data());
    if (!settle(z_.data(), bag_.n, threshold_) || !divides(threshold_, value_)) return false;
    std::copy_n(other_side_.begin(), bag_.n, side_.begin());
    found_axis_ = false;
    return true;
  }

  void draw_spaces(Stream& stream) {
    moments_.begin(*std::max_element(spread_.range.begin(), spread_.range.end()));
    const std::size_t per_class = options_.dominant_only ? 1 : drawn_per_node_;
    pool_.resize(runs_.size() * per_class);
    std::iota(pool_.begin(), pool_.end(), std::size_t{0});
    vectors_.clear();
    // Classes without spread, and eigenvectors without variance, are drawn in vain and do not count.
    std::size_t kept = 0;
    for (std::size_t at = 0; at < pool_.size() && kept < options_.reflections; ++at) {
      std::swap(pool_[at], pool_[at + stream.below(pool_.size() - at)]);
      const std::size_t k = pool_[at] / per_class, which = pool_[at] % per_class;
      if (!moments_.covariance(rows_, offsets_[k], offsets_[k + 1], covariance_)) continue;
      axes_.clear();
      const int found = principal_axes(eigen_, covariance_.data(), static_cast<int>(drawn_per_node_), 1e-10, -1.0,
                                       options_.dominant_only, axes_);
      if (static_cast<int>(which) >= found) continue;
      const auto first = axes_.begin() + static_cast<std::ptrdiff_t>(which * drawn_per_node_);
      vectors_.insert(vectors_.end(), first, first + static_cast<std::ptrdiff_t>(drawn_per_node_));
      ++kept;
    }
    spaces_.clear();
    add_reflections(vectors_, drawn_per_node_, options_.tau, false, spaces_);
    if (spaces_.empty()) spaces_.push_back(Space{});
  }

  // Writes the split that was found, and opens the children.
  void commit(const Open& node) {
    credit();
    const std::int32_t left = add_node(), right = add_node();
    tree_.nodes[node.id] = {threshold_, left,
                            found_axis_ ? ~search_.best.feature : static_cast<std::int32_t>(tree_.n_oblique())};
    if (!found_axis_)
      for (std::size_t j = 0; j < tree_.width; ++j) tree_.terms.push_back({normal_[j], features_[j]});
    const std::size_t n = bag_.n;
    const std::size_t left_runs = run_arena_.size();
    std::size_t i = 0, n_left = 0;
    right_runs_.clear();
    for (const ClassRun& run : runs_) {
      ClassRun l{run.code, 0, 0.0}, r{run.code, 0, 0.0};
      for (const std::size_t end = i + run.n; i < end; ++i) {
        ClassRun& to = side_[i] ? r : l;
        ++to.n;
        to.weight += bag_.weight[i];
      }
      if (l.n) run_arena_.push_back(l);
      if (r.n) right_runs_.push_back(r);
      n_left += l.n;
    }
    // Children that are leaves are not searched.
    if (presorted_ && (run_arena_.size() - left_runs > 1 || right_runs_.size() > 1))
      sorted_.divide(node.first, n, row_.data() + node.first, side_.data());
    divide(row_.data() + node.first, n);
    divide(weight_.data() + node.first, n);
    if (!draws_.empty()) divide(draws_.data() + node.first, n);
    // The last opened is visited first: left before right. Its runs must lie on top of the arena.
    const std::size_t middle = node.first + n_left;
    left_runs_.assign(run_arena_.begin() + static_cast<std::ptrdiff_t>(left_runs), run_arena_.end());
    run_arena_.resize(left_runs);
    run_arena_.insert(run_arena_.end(), right_runs_.begin(), right_runs_.end());
    open_.push_back({middle, node.last, left_runs, child_path(node.path, true), right, node.depth + 1, node.axis_only});
    const std::size_t top = run_arena_.size();
    run_arena_.insert(run_arena_.end(), left_runs_.begin(), left_runs_.end());
    open_.push_back({node.first, middle, top, child_path(node.path, false), left, node.depth + 1, node.axis_only});
  }

  // Shares the reduction in impurity among the original features by the size of their coefficients times their range.
  void credit() {
    double squares = 0.0, total = 0.0;
    for (const ClassRun& run : runs_) {
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
      add(search_.best.feature, 1.0);
    else
      for (std::size_t j = 0; j < tree_.width; ++j) add(features_[j], normal_[j]);
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

  template <class T>
  void divide(T* values, std::size_t n) {
    const auto* side = side_.data();
    divide_in_order(values, n, reinterpret_cast<T*>(spare_.data()),
                    [side](std::size_t i, const T&) -> std::size_t { return side[i]; });
  }

  TrainingRows& data_;
  const ForestOptions options_;
  std::uint64_t seed_ = 0;
  ForestTree tree_;
  Columns* x_ = nullptr;
  Columns rotated_;
  bool counts_ = true;
  std::size_t drawn_per_node_ = 0, n_drawn_ = 0;
  std::vector<std::int32_t> features_;           // a permutation; the first n_drawn_ are drawn
  std::vector<std::size_t> swapped_;
  std::vector<std::uint32_t> row_, draws_, draws_of_row_;   // draws_ only where rows have weights
  std::vector<double> weight_, gathered_, z_;
  std::vector<unsigned char> side_, other_side_;
  std::vector<std::byte> spare_;
  std::vector<Open> open_;
  std::vector<ClassRun> run_arena_, runs_, left_runs_, right_runs_;
  std::vector<std::pair<std::int32_t, double>> shares_;
  Bag bag_;
  AxisSearch search_;
  bool presorted_ = false;                    // whether all features are searched at every node
  SortedRows sorted_;
  std::vector<std::uint32_t> facts_;             // of every row: class and draws, as sorted_feature takes them
  MpsvmSplit mpsvm_;
  std::vector<Plane> planes_;
  // The split found.
  bool found_axis_ = true;
  double threshold_ = 0.0, value_ = 0.0;
  Vector normal_;
  // HHCART.
  NodeRows rows_;
  std::vector<std::size_t> offsets_, pool_;
  Spread spread_;
  ClassMoments moments_;
  SymmetricEigen eigen_;
  Vector covariance_, axes_, vectors_, xu_;
  std::vector<Space> spaces_;
  SplitSearch<Gini> reflected_;
};

}  // namespace oblique
