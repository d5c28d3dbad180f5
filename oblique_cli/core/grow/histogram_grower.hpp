// Trees by histograms of directions, for boosting, where directions persist from round to round, and for regression
// forests, where each tree has its own directions.
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

  // Computes the components of some rows. draws : how often each row is drawn; a row counts as often, by its weight
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
  // mass : as in BinnedDirections
  HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options, size_t max_bins);
  HistogramGrower(const HistogramGrower&) = delete;
  HistogramGrower& operator=(const HistogramGrower&) = delete;

  // A tree of boosting, with a small tree in every other round; with numeric targets the small tree separates gradients
  // above 0 from those below.
  // round : number of the tree
  ForestTree grow(uint64_t tree_seed, size_t round);
  // A tree of a regression forest: four small trees, each with the target of a random row as its middle, and with a
  // random component if there are several outputs.
  ForestTree grow_alone(uint64_t tree_seed, size_t number);
  // Least weight of a child in the next trees.
  void require(double min_leaf) { min_leaf_ = min_leaf; }

 private:
  ForestTree tree_of(uint64_t tree_seed, size_t round);
  void find_planes(uint64_t tree_seed, size_t round);
  // values : target of each row
  ForestTree small_tree(uint64_t seed, size_t number, const double* values, double middle,
                        std::optional<uint64_t> features_seed = std::nullopt);

  TrainingRows& data_;
  const ForestOptions options_;
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
