#include "grow/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/interrupt.hpp"
#include "grow/forest_grower.hpp"
#include "grow/histogram_grower.hpp"
#include "tree/tree_walk.hpp"

namespace oblique {

namespace {

// Rows whose gradient is smaller than this share of the largest count as that light: they are settled, and the search
// measures weights in units of the least.
constexpr double kFaint = 0x1p-20;
// The longest step of a leaf in log odds, before shrinkage.
constexpr double kLongest = 10.0;

// Scores and class shares of some rows.
class Scored {
 public:
  Scored(const LabeledRows& rows, std::size_t n_classes, const std::vector<double>& baseline)
      : rows_(rows), n_classes_(n_classes), n_scores_(baseline.size()), shares_(rows.n * n_classes), leaf_(rows.n) {
    for (std::size_t i = 0; i < rows.n; ++i) scores_.insert(scores_.end(), baseline.begin(), baseline.end());
    update();
  }

  double share(std::size_t i, std::size_t k) const { return shares_[i * n_classes_ + k]; }
  double own_share(std::size_t i) const { return share(i, static_cast<std::size_t>(rows_.y[i])); }
  double weight(std::size_t i) const { return rows_.weights ? rows_.weights[i] : 1.0; }

  // Number of the leaf of each row in a tree.
  const std::vector<std::int32_t>& leaves(const ForestTree& tree, std::size_t n_features) {
    if (rows_.n > 0) walk_.leaves_of(tree, rows_.x, rows_.n, n_features, leaf_.data());
    for (std::int32_t& leaf : leaf_) leaf = ~tree.nodes[static_cast<std::size_t>(leaf)].left;
    return leaf_;
  }
  // Adds the values of the leaves that `leaves` found last.
  void add(const double* values) {
    for (std::size_t i = 0; i < rows_.n; ++i)
      for (std::size_t k = 0; k < n_scores_; ++k)
        scores_[i * n_scores_ + k] += values[static_cast<std::size_t>(leaf_[i]) * n_scores_ + k];
    update();
  }

  // Mean log loss.
  double loss() const {
    double sum = 0.0, total = 0.0;
    for (std::size_t i = 0; i < rows_.n; ++i) {
      sum -= weight(i) * std::log(std::max(own_share(i), std::numeric_limits<double>::min()));
      total += weight(i);
    }
    return sum / total;
  }

 private:
  void update() {
    for (std::size_t i = 0; i < rows_.n; ++i) {
      const double* f = scores_.data() + i * n_scores_;
      double* p = shares_.data() + i * n_classes_;
      if (n_scores_ == 1 && n_classes_ == 2) {
        // Of the two shares the smaller one is computed, so that neither loses its digits.
        const double small = std::exp(-std::fabs(f[0])) / (1.0 + std::exp(-std::fabs(f[0])));
        p[f[0] >= 0.0 ? 0 : 1] = small;
        p[f[0] >= 0.0 ? 1 : 0] = 1.0 - small;
        continue;
      }
      const double highest = *std::max_element(f, f + n_scores_);
      double total = 0.0;
      for (std::size_t k = 0; k < n_scores_; ++k) total += p[k] = std::exp(f[k] - highest);
      for (std::size_t k = 0; k < n_scores_; ++k) p[k] /= total;
    }
  }

  const LabeledRows& rows_;
  const std::size_t n_classes_, n_scores_;
  std::vector<double> scores_, shares_;
  std::vector<std::int32_t> leaf_;
  TreeWalk walk_;
};

// Logarithms of the class shares, or log odds of the second of two classes.
std::vector<double> baseline_of(const LabeledRows& rows, std::size_t n_classes) {
  std::vector<double> of_class(n_classes, 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const double w = rows.weights ? rows.weights[i] : 1.0;
    of_class[static_cast<std::size_t>(rows.y[i])] += w;
    total += w;
  }
  for (double& each : of_class)
    each = std::log(std::max(each / total, 1e-12));  // a class may be in the validation rows
  if (n_classes == 2) return {of_class[1] - of_class[0]};
  return of_class;
}

// One Newton step a leaf and score, shrunk.
void fit_leaves(const Scored& scored, const LabeledRows& rows, const std::vector<std::int32_t>& leaf,
                std::size_t n_leaves, std::size_t n_classes, const BoostingOptions& how, std::vector<double>& values) {
  const std::size_t n_scores = scores_of(n_classes);
  const std::size_t first = n_classes == 2 ? 1 : 0;  // the class of the first score
  values.assign(n_leaves * n_scores, 0.0);
  std::vector<double> curvature(values.size(), 0.0);
  for (std::size_t i = 0; i < rows.n; ++i)
    for (std::size_t k = 0; k < n_scores; ++k) {
      const std::size_t at = static_cast<std::size_t>(leaf[i]) * n_scores + k, code = first + k;
      const bool own = static_cast<std::size_t>(rows.y[i]) == code;
      const double p = scored.share(i, code), w = scored.weight(i);
      values[at] += w * (own ? 1.0 - p : -p);
      curvature[at] += w * p * (1.0 - p);
    }
  // The diagonal of the multinomial curvature overstates a step in all scores at once (Friedman 2001, equation 34).
  const double share = n_classes > 2 ? static_cast<double>(n_classes - 1) / static_cast<double>(n_classes) : 1.0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    const double below = curvature[at] + how.l2;
    const double step = below > 0.0 ? share * values[at] / below : 0.0;
    values[at] = how.learning_rate * std::clamp(step, -kLongest, kLongest);
  }
}

// Boosts with the trees that `grower` makes of rows whose weights in `data` are those of the round.
template <class TreeGrower>
Boosted boost_with(TreeGrower& grower, TrainingRows& data, Forest& forest, const LabeledRows& rows,
                   const LabeledRows& validation, const BoostingOptions& how) {
  const std::size_t n_classes = forest.n_classes;
  Boosted out;
  out.n_scores = scores_of(n_classes);
  out.baseline = baseline_of(rows, n_classes);
  Scored scored(rows, n_classes, out.baseline), kept(validation, n_classes, out.baseline);
  std::vector<double> values;
  double least = validation.n > 0 ? kept.loss() : 0.0;
  std::size_t best = 0;
  std::vector<std::size_t> ends;
  for (std::size_t t = 0; t < how.n_trees; ++t) {
    checkpoint(rows.n * (n_classes + 8));
    double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows.n; ++i) {
      data.weights[i] = scored.weight(i) * (1.0 - scored.own_share(i));
      largest = std::max(largest, data.weights[i]);
    }
    for (double& w : data.weights) {
      w = largest > 0.0 ? std::max(w, kFaint * largest) : 1.0;
      smallest = std::min(smallest, w);
    }
    for (double& w : data.weights) w /= smallest;
    grower.require(std::max(how.min_weight / smallest, 1.0));
    forest.trees.push_back(grower.grow(seed_of_tree(forest.seed, t), t));
    const ForestTree& tree = forest.trees.back();
    fit_leaves(scored, rows, scored.leaves(tree, forest.n_features), tree.n_leaves(), n_classes, how, values);
    scored.add(values.data());
    out.leaf_values.insert(out.leaf_values.end(), values.begin(), values.end());
    ends.push_back(out.leaf_values.size());
    out.training_loss.push_back(scored.loss());
    if (validation.n == 0) continue;
    kept.leaves(tree, forest.n_features);
    kept.add(values.data());
    out.validation_loss.push_back(kept.loss());
    if (t == 0 || out.validation_loss.back() < least - how.tolerance) {
      least = out.validation_loss.back();
      best = t;
    } else if (t - best >= how.patience) {
      break;
    }
  }
  if (validation.n > 0 && !ends.empty()) {
    forest.trees.resize(best + 1);
    out.leaf_values.resize(ends[best]);
  }
  return out;
}

}  // namespace

Boosted boost(Forest& forest, const LabeledRows& rows, const LabeledRows& validation, const ForestOptions& options,
              const BoostingOptions& how) {
  const std::vector<double> ones(rows.n, 1.0);
  TrainingRows data(rows.x, rows.y, ones.data(), rows.n, forest.n_features, forest.n_classes, options.rotated(),
                    options.ranked());
  if (how.max_bins == 0) {
    ForestTreeGrower grower(data, options);
    return boost_with(grower, data, forest, rows, validation, how);
  }
  HistogramGrower grower(data, rows.weights, options, how.max_bins);
  return boost_with(grower, data, forest, rows, validation, how);
}

}  // namespace oblique
