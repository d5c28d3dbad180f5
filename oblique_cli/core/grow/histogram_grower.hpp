// Trees by histograms of directions, which persist over rounds of boosting; each tree of a forest has its own.
#pragma once

#include "grow/binned_directions.hpp"
#include "grow/forest_grower.hpp"

namespace oblique {

// Along a component the outputs are one number, so rows have two classes: above some number and below it.
class OutputComponents {
 public:
  explicit OutputComponents(const TrainingRows& data)
      : data_(data), n_outputs_(data.n_outputs()), mean_(n_outputs_), covariance_(n_outputs_ * n_outputs_),
        value_(data.x.n) {}

  // Computes the components of some rows. draws : how often each row is drawn, which multiplies its weight
  void find(const std::vector<uint32_t>& rows, const std::vector<uint32_t>& draws) {
    const auto weight = [&](uint32_t i) {
      return static_cast<double>(draws[i]) * (data_.weights.empty() ? 1.0 : data_.weights[i]);
    };
    double total = 0.0;
    for (const uint32_t i : rows) total += weight(i);
    for (size_t k = 0; k < n_outputs_; ++k) {
      double sum = 0.0;
      for (const uint32_t i : rows) sum += weight(i) * data_.output(k)[i];
      mean_[k] = sum / total;
    }
    for (size_t a = 0; a < n_outputs_; ++a)
      for (size_t b = 0; b <= a; ++b) {
        double sum = 0.0;
        for (const uint32_t i : rows)
          sum += weight(i) * ((data_.output(a)[i] - mean_[a]) * (data_.output(b)[i] - mean_[b]));
        covariance_[a * n_outputs_ + b] = covariance_[b * n_outputs_ + a] = sum;
      }
    eigen_.solve(covariance_.data(), static_cast<int>(n_outputs_));
  }

  // Draws a component by its variance and returns the score of each row along it. uniform : random number in [0, 1)
  const double* draw(double uniform) {
    double total = 0.0;
    for (const double variance : eigen_.values) total += std::fmax(variance, 0.0);
    // Descending variance.
    size_t at = n_outputs_ - 1;
    for (double below = std::fmax(eigen_.values[at], 0.0); at > 0 && below <= uniform * total;)
      below += std::fmax(eigen_.values[--at], 0.0);
    double* axis = eigen_.vector(static_cast<int>(at));
    orient(axis, n_outputs_, 1.0);
    value_.assign(data_.x.n, 0.0);
    for (size_t k = 0; k < n_outputs_; ++k)
      for (size_t i = 0; i < data_.x.n; ++i) value_[i] += axis[k] * data_.output(k)[i];
    return value_.data();
  }

 private:
  const TrainingRows& data_;
  size_t n_outputs_;
  Vector mean_, covariance_;
  SymmetricEigen eigen_;
  std::vector<double> value_;  // of each row
};

// The families grow small trees on few rows, whose planes become directions; the large tree takes the best cuts between
// bins. With numeric targets, the two classes of a small tree are the rows above and below some number, weighted by
// their distance to it: the two classes of Loh (2002), whose Gini gain equals the gain of the squares except for the
// weights in the denominators. With several outputs, the number of a row is its score along a principal component of
// the outputs, which each small tree draws with probability proportional to the component's variance among the rows
// that it may use.
class HistogramGrower {
 public:
  // mass : as in BinnedDirections; most_terms : of a plane
  HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options, size_t max_bins,
                  size_t most_terms)
      : data_(data), options_(options), most_terms_(most_terms), directions_(data, mass, max_bins),
        best_(data, directions_), sampler_(data, rows_, options_, {false, true, false, false}) {
    if (data.targets.empty()) {
      small_.emplace(data, small(options, data.x.n));
      return;
    }
    seen_ = numbers_to(data.x.n);
  }
  HistogramGrower(const HistogramGrower&) = delete;
  HistogramGrower& operator=(const HistogramGrower&) = delete;

  // A tree of boosting, with a small tree in every other round; with numeric targets the small tree separates gradients
  // above 0 from those below.
  // round : number of the tree
  ForestTree grow(uint64_t tree_seed, size_t round) {
    if (round % kEvery == 0) find_planes(tree_seed, round);
    return tree_of(tree_seed, round);
  }

  // A tree of a regression forest: four small trees, with the target of a random row as middle, on random components.
  ForestTree grow_alone(uint64_t tree_seed, size_t number) {
    directions_.forget_planes();
    // A row that the tree does not draw has no influence.
    options_.rows.draw(tree_seed, data_.x.n, draws_);
    seen_.clear();
    for (uint32_t i = 0; i < data_.x.n; ++i)
      if (draws_[i] > 0) seen_.push_back(i);
    Stream stream(tree_seed, 0, kSmallTree), of_components(tree_seed, 0, kComponents);
    const bool several = data_.n_outputs() > 1;
    if (several && !components_) components_.emplace(data_);
    if (several) components_->find(seen_, draws_);
    for (size_t i = 0; i < kSmallTrees; ++i) {
      const double* values = several ? components_->draw(of_components.uniform()) : data_.targets.data();
      const double middle = values[seen_[stream.below(seen_.size())]];
      directions_.add(small_tree(stream.next(), kSmallTrees * number + i, values, middle, tree_seed), i);
    }
    return tree_of(tree_seed, kSmallTrees);
  }

  // Least weight of a child in the next trees.
  void require(double min_leaf) { min_leaf_ = min_leaf; }

 private:
  static constexpr size_t kEvery = 2, kRows = 256;  // rounds between two small trees, and their number of rows
  static constexpr int64_t kDepth = 4;
  static constexpr uint64_t kSmallTree = (uint64_t{1} << 32) + 16;  // stream number of the small tree
  static constexpr uint64_t kComponents = kSmallTree + 1;  // stream number of the components that small trees use
  static constexpr size_t kSmallTrees = 4;                 // per tree of a forest
  static constexpr double kFaintest = 0x1p-20;             // least ratio of a row's weight to the largest

  static size_t drawn_of(const RowDraw& rows, size_t n) { return rows.count == 0 ? n : std::min(rows.count, n); }

  ForestOptions small(ForestOptions options, size_t n) const {
    options.rows.count = std::min(drawn_of(options.rows, n), kRows);
    options.max_depth = kDepth;
    options.mtry = options.mtry == 0 ? most_terms_ : std::min(options.mtry, most_terms_);
    return options;
  }

  ForestTree tree_of(uint64_t tree_seed, size_t round) {
    TreeOfForest growth(data_);
    sampler_.begin_tree(tree_seed, growth.tree);
    growth.tree.width = std::min(growth.tree.width, most_terms_);
    best_.begin_tree(round, min_leaf_);
    using Splitter = SplitterOf<DrawnNodes&, BestBin&>;
    const auto make = [&] { return std::unique_ptr<Splitter>(new Splitter{sampler_, best_}); };
    // Rows of one class still differ in their targets.
    const double is_settled = data_.targets.empty() ? 0.0 : -1.0;
    Grower grower(rows_, {options_.minleaf, is_settled, options_.max_depth}, growth, make, nullptr);
    grower.grow({.place = rows_.root()});
    return std::move(growth.tree);
  }

  // Finds planes by a small tree. Its children weigh at least the same share of its rows as those of the large tree.
  void find_planes(uint64_t tree_seed, size_t round) {
    const uint64_t seed = Stream(tree_seed, 0, kSmallTree).next();
    if (!small_) return directions_.add(small_tree(seed, round / kEvery, data_.targets.data(), 0.0), round);
    const size_t drawn = drawn_of(options_.rows, data_.x.n);
    const double share = static_cast<double>(std::min(drawn, kRows)) / static_cast<double>(drawn);
    small_->require(std::max(1.0, share * min_leaf_));
    directions_.add(small_->grow(seed, round / kEvery), round);
  }

  // values : target of each row
  ForestTree small_tree(uint64_t seed, size_t number, const double* values, double middle,
                        std::optional<uint64_t> features_seed = std::nullopt) {
    const size_t p = data_.x.p, drawn = drawn_of(options_.rows, data_.x.n);
    RowDraw{false, std::min({drawn, kRows, seen_.size()})}.draw(seed, seen_.size(), draws_);
    std::vector<double> rows, weights;
    std::vector<int32_t> codes;
    for (size_t at = 0; at < seen_.size(); ++at) {
      if (draws_[at] == 0) continue;
      const uint32_t i = seen_[at];
      for (size_t j = 0; j < p; ++j) rows.push_back(data_.x.column(j)[i]);
      const double far = values[i] - middle;
      codes.push_back(far > 0.0);
      weights.push_back(std::fabs(far) * (data_.weights.empty() ? 1.0 : data_.weights[i]));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double smallest = 1.0, total = 0.0;
    for (double& w : weights) smallest = std::min(smallest, w = largest > 0.0 ? std::max(w / largest, kFaintest) : 1.0);
    for (double& w : weights) total += w /= smallest;
    TrainingRows few(rows.data(), codes.data(), weights.data(), codes.size(), p, 2, std::nullopt, options_.ranked());
    ForestOptions how = small(options_, codes.size());
    how.rows = {false, 0};
    how.features_seed = features_seed;
    ForestTreeGrower grower(few, how);
    // The least weight of a child: the same share of the rows as in the large tree, for rows of mean weight.
    const double share = static_cast<double>(codes.size()) / static_cast<double>(drawn);
    grower.require(std::max(1.0, share * min_leaf_ * total / static_cast<double>(codes.size())));
    return grower.grow(seed, number);
  }

  TrainingRows& data_;
  const ForestOptions options_;
  const size_t most_terms_;
  double min_leaf_ = 1.0;
  BinnedDirections directions_;
  std::optional<ForestTreeGrower> small_;  // for classes
  BaggedRows rows_;
  BestBin best_;
  DrawnNodes sampler_;
  std::optional<OutputComponents> components_;  // for several outputs
  std::vector<uint32_t> draws_, seen_;          // seen_ : rows that small trees with numeric targets may use
};

}  // namespace oblique
