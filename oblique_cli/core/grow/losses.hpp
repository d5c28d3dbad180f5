// Losses of boosting: the labels or targets of the next tree, and the steps of its leaves.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "grow/boosting.hpp"
#include "grow/leaf_ridge.hpp"
#include "rows/training_rows.hpp"
#include "tree/plane_tree.hpp"
#include "tree/tree_walk.hpp"

namespace oblique {

// A loss holds the scores of the training rows or of the validation rows.
template <class L>
concept BoostingLoss = requires(L& loss, TrainingRows& data, const ForestTree& tree, const BoostingOptions& how,
                                const double* values, std::vector<double>& steps) {
  // Prepares the rows for the next tree, and returns the least weight of a child.
  { loss.prepare(data, how) } -> std::same_as<double>;
  loss.follow(tree);     // finds the leaves of the rows
  loss.fit(how, steps);  // the steps of these leaves, n_scores each
  loss.add(values);      // applies the steps
  { loss.mean() } -> std::same_as<double>;
};

// Rows and their leaves in the newest tree.
class FollowedRows {
 public:
  FollowedRows(const BoostedRows& rows, std::size_t n_features) : rows_(rows), n_features_(n_features), leaf_(rows.n) {}

  void follow(const ForestTree& tree) {
    n_leaves_ = tree.n_leaves();
    if (rows_.n > 0) walk_.leaves_of(tree, rows_.x, rows_.n, n_features_, leaf_.data());
    for (std::int32_t& leaf : leaf_) leaf = ~tree.nodes[static_cast<std::size_t>(leaf)].left;
  }

 protected:
  std::size_t leaf(std::size_t i) const { return static_cast<std::size_t>(leaf_[i]); }

  const BoostedRows rows_;
  std::size_t n_leaves_ = 0;
  const std::size_t n_features_;

 private:
  std::vector<std::int32_t> leaf_;
  TreeWalk walk_;
};

// The multinomial log loss of scores by softmax, the logistic loss of one score for two classes.
class LogLoss : public FollowedRows {
 public:
  // Logarithms of the class shares, or log odds of the second of two classes.
  static std::vector<double> baseline_of(const LabeledRows& rows, std::size_t n_classes);

  LogLoss(const LabeledRows& rows, std::size_t n_features, std::size_t n_classes, const std::vector<double>& baseline);

  double prepare(TrainingRows& data, const BoostingOptions& how) const;
  // One Newton step for each leaf and score, with shrinkage.
  void fit(const BoostingOptions& how, std::vector<double>& values) const;
  void add(const double* values);
  double mean() const;

 private:
  double share(std::size_t i, std::size_t k) const { return shares_[i * n_classes_ + k]; }
  double own_share(std::size_t i) const { return share(i, static_cast<std::size_t>(y_[i])); }
  void update();

  const std::int32_t* y_;
  const std::size_t n_classes_, n_scores_;
  std::vector<double> scores_, shares_;
};

// The squared loss, scaled so that its gradient is the residual, and quantile losses.
class NumberLoss : public FollowedRows {
 public:
  // The mean of the targets, or their quantile.
  static std::vector<double> baseline_of(const NumberedRows& rows, const NumberLossOptions& loss);

  NumberLoss(const NumberedRows& rows, std::size_t n_features, const NumberLossOptions& loss,
             const std::vector<double>& baseline);

  double prepare(TrainingRows& data, const BoostingOptions& how) const;
  void fit(const BoostingOptions& how, std::vector<double>& values);
  void add(const double* values);
  double mean() const;

 private:
  void fit_linear(const BoostingOptions& how, std::vector<double>& values);

  const NumberLossOptions loss_;
  std::vector<double> residual_;
  std::optional<LeafRidge> ridge_;  // from the first fit on, for linear leaves
};

}  // namespace oblique
