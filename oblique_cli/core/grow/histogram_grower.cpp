#include "grow/histogram_grower.hpp"

namespace oblique {

namespace {

// Rounds between two small trees, and their number of rows.
constexpr size_t kEvery = 2, kRows = 256;
constexpr int64_t kDepth = 4;
constexpr uint64_t kSmallTree = (uint64_t{1} << 32) + 16;  // stream number of the small tree
constexpr uint64_t kComponents = kSmallTree + 1;           // stream number of the components that small trees use
constexpr size_t kSmallTrees = 4;                          // per tree of a forest
constexpr double kFaintest = 0x1p-20;                      // least ratio of a row's weight to the largest

size_t drawn_of(const RowDraw& rows, size_t n) { return rows.count == 0 ? n : std::min(rows.count, n); }

ForestOptions small(ForestOptions options, size_t n) {
  options.rows.count = std::min(drawn_of(options.rows, n), kRows);
  options.max_depth = kDepth;
  return options;
}

}  // namespace

HistogramGrower::HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options, size_t max_bins)
    : data_(data), options_(options), directions_(data, mass, max_bins), best_(data, directions_),
      sampler_(data, rows_, options_, {false, true, false, false}) {
  if (data.targets.empty()) {
    small_.emplace(data, small(options, data.x.n));
    return;
  }
  seen_.resize(data.x.n);
  std::iota(seen_.begin(), seen_.end(), 0u);
}

ForestTree HistogramGrower::grow(uint64_t tree_seed, size_t round) {
  if (round % kEvery == 0) find_planes(tree_seed, round);
  return tree_of(tree_seed, round);
}

ForestTree HistogramGrower::grow_alone(uint64_t tree_seed, size_t number) {
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

ForestTree HistogramGrower::tree_of(uint64_t tree_seed, size_t round) {
  TreeOfForest growth(data_);
  sampler_.begin_tree(tree_seed, growth.tree);
  best_.begin_tree(round, min_leaf_);
  using Splitter = SplitterOf<DrawnNodes&, BestBin&>;
  const auto make = [&] { return std::unique_ptr<Splitter>(new Splitter{sampler_, best_}); };
  // Rows of one class still differ in their targets.
  const double is_settled = data_.targets.empty() ? 0.0 : -1.0;
  Grower grower(rows_, {options_.minleaf, is_settled, options_.max_depth}, growth, make, nullptr);
  grower.grow({.place = rows_.root()});
  return std::move(growth.tree);
}

// Finds planes by a small tree. The least weight of its children is the same share of its rows as the least weight of
// the large tree's children is of all drawn rows.
void HistogramGrower::find_planes(uint64_t tree_seed, size_t round) {
  const uint64_t seed = Stream(tree_seed, 0, kSmallTree).next();
  if (!small_) return directions_.add(small_tree(seed, round / kEvery, data_.targets.data(), 0.0), round);
  const size_t drawn = drawn_of(options_.rows, data_.x.n);
  const double share = static_cast<double>(std::min(drawn, kRows)) / static_cast<double>(drawn);
  small_->require(std::max(1.0, share * min_leaf_));
  directions_.add(small_->grow(seed, round / kEvery), round);
}

// Grows a tree of two classes on few rows: the rows whose number is above `middle`, and the others.
// features_seed : seed of the tree whose features it uses, where trees draw features
ForestTree HistogramGrower::small_tree(uint64_t seed, size_t number, const double* values, double middle,
                                       std::optional<uint64_t> features_seed) {
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
  // The number of rows of mean weight in a child that is the same share of the small tree's rows.
  const double share = static_cast<double>(codes.size()) / static_cast<double>(drawn);
  grower.require(std::max(1.0, share * min_leaf_ * total / static_cast<double>(codes.size())));
  return grower.grow(seed, number);
}

}  // namespace oblique
