#include "grow/boosting.hpp"

#include "grow/histogram_grower.hpp"
#include "grow/leaf_ridge.hpp"
#include "tree/tree_walk.hpp"

namespace oblique {

// Least gradient of a row, as a share of the largest: the search measures weights in units of the least.
inline constexpr double kFaint = 0x1p-20;

// The longest step of a leaf in log odds, before shrinkage.
inline constexpr double kLongest = 10.0;

// The smallest value among the rows such that the rows up to it hold the given share of the weight. rows : reordered
inline double quantile_of(const BoostedRows& all, const std::vector<double>& number, double share, uint32_t* first,
                          uint32_t* last) {
  std::sort(first, last,
            [&](uint32_t a, uint32_t b) { return number[a] < number[b] || (number[a] == number[b] && a < b); });
  double total = 0.0, below = 0.0;
  for (const uint32_t* row = first; row != last; ++row) total += all.weight(*row);
  for (const uint32_t* row = first; row != last; ++row)
    if ((below += all.weight(*row)) >= share * total * (1.0 - 1e-12)) return number[*row];
  return number[last[-1]];
}

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
  FollowedRows(const BoostedRows& rows, size_t n_features) : rows_(rows), n_features_(n_features), leaf_(rows.n) {}

  void follow(const ForestTree& tree) {
    n_leaves_ = tree.n_leaves();
    if (rows_.n > 0) walk_.leaves_of(tree, rows_.x, rows_.n, n_features_, leaf_.data());
    for (int32_t& leaf : leaf_) leaf = ~tree.nodes[leaf].left;
  }

 protected:
  size_t leaf(size_t i) const { return static_cast<size_t>(leaf_[i]); }

  const BoostedRows rows_;
  size_t n_leaves_ = 0;
  const size_t n_features_;

 private:
  std::vector<int32_t> leaf_;
  TreeWalk walk_;
};

// The multinomial log loss of scores by softmax, the logistic loss of one score for two classes.
class LogLoss : public FollowedRows {
 public:
  // Logarithms of the class shares, or log odds of the second of two classes.
  static std::vector<double> baseline_of(const LabeledRows& rows, size_t n_classes) {
    std::vector<double> of_class(n_classes, 0.0);
    double total = 0.0;
    for (size_t i = 0; i < rows.n; ++i) {
      const double w = rows.weight(i);
      of_class[rows.y[i]] += w;
      total += w;
    }
    for (double& each : of_class)
      each = std::log(std::max(each / total, 1e-12));  // a class may occur in the validation rows only
    if (n_classes == 2) return {of_class[1] - of_class[0]};
    return of_class;
  }

  LogLoss(const LabeledRows& rows, size_t n_features, size_t n_classes, const std::vector<double>& baseline)
      : FollowedRows(rows, n_features), y_(rows.y), n_classes_(n_classes), n_scores_(baseline.size()),
        shares_(rows.n * n_classes) {
    if (rows.start)
      scores_.assign(rows.start, rows.start + rows.n * n_scores_);
    else
      for (size_t i = 0; i < rows.n; ++i) scores_.insert(scores_.end(), baseline.begin(), baseline.end());
    update();
  }

  double prepare(TrainingRows& data, const BoostingOptions& how) const {
    double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < rows_.n; ++i) {
      data.weights[i] = rows_.weight(i) * (1.0 - own_share(i));
      largest = std::max(largest, data.weights[i]);
    }
    for (double& w : data.weights) {
      w = largest > 0.0 ? std::max(w, kFaint * largest) : 1.0;
      smallest = std::min(smallest, w);
    }
    for (double& w : data.weights) w /= smallest;
    return std::max(how.min_weight / smallest, 1.0);
  }

  // One Newton step for each leaf and score, with shrinkage.
  void fit(const BoostingOptions& how, std::vector<double>& values) const {
    const size_t first = n_classes_ == 2 ? 1 : 0;  // the class of the first score
    values.assign(n_leaves_ * n_scores_, 0.0);
    std::vector<double> curvature(values.size(), 0.0);
    for (size_t i = 0; i < rows_.n; ++i)
      for (size_t k = 0; k < n_scores_; ++k) {
        const size_t at = leaf(i) * n_scores_ + k, code = first + k;
        const bool is_class = static_cast<size_t>(y_[i]) == code;
        const double p = share(i, code), w = rows_.weight(i);
        values[at] += w * (is_class ? 1.0 - p : -p);
        curvature[at] += w * p * (1.0 - p);
      }
    // The diagonal of the curvature overstates a simultaneous step in all scores (Friedman 2001, equation 34).
    const double share = n_classes_ > 2 ? static_cast<double>(n_classes_ - 1) / static_cast<double>(n_classes_) : 1.0;
    for (size_t at = 0; at < values.size(); ++at) {
      const double below = curvature[at] + how.l2;
      const double step = below > 0.0 ? share * values[at] / below : 0.0;
      values[at] = how.learning_rate * std::clamp(step, -kLongest, kLongest);
    }
  }

  void add(const double* values) {
    for (size_t i = 0; i < rows_.n; ++i)
      for (size_t k = 0; k < n_scores_; ++k) scores_[i * n_scores_ + k] += values[leaf(i) * n_scores_ + k];
    update();
  }

  double mean() const {
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < rows_.n; ++i) {
      sum -= rows_.weight(i) * std::log(std::max(own_share(i), std::numeric_limits<double>::min()));
      total += rows_.weight(i);
    }
    return sum / total;
  }

 private:
  double share(size_t i, size_t k) const { return shares_[i * n_classes_ + k]; }
  double own_share(size_t i) const { return share(i, static_cast<size_t>(y_[i])); }

  void update() {
    for (size_t i = 0; i < rows_.n; ++i) {
      const double* f = scores_.data() + i * n_scores_;
      double* p = shares_.data() + i * n_classes_;
      if (n_scores_ == 1 && n_classes_ == 2) {
        // Computes the smaller of the two shares, so that neither loses digits.
        const double small = std::exp(-std::fabs(f[0])) / (1.0 + std::exp(-std::fabs(f[0])));
        p[f[0] >= 0.0 ? 0 : 1] = small;
        p[f[0] >= 0.0 ? 1 : 0] = 1.0 - small;
        continue;
      }
      const double highest = *std::max_element(f, f + n_scores_);
      double total = 0.0;
      for (size_t k = 0; k < n_scores_; ++k) total += p[k] = std::exp(f[k] - highest);
      for (size_t k = 0; k < n_scores_; ++k) p[k] /= total;
    }
  }

  const int32_t* y_;
  const size_t n_classes_, n_scores_;
  std::vector<double> scores_, shares_;
};

// The squared loss, scaled so that its gradient is the residual, and quantile losses.
class NumberLoss : public FollowedRows {
 public:
  // The mean of the targets, or their quantile.
  static std::vector<double> baseline_of(const NumberedRows& rows, const NumberLossOptions& loss) {
    if (!loss.squared) {
      std::vector<uint32_t> row = numbers_to(rows.n);
      return {quantile_of(rows, {rows.y, rows.y + rows.n}, loss.quantile, row.data(), row.data() + rows.n)};
    }
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < rows.n; ++i) {
      sum += rows.weight(i) * rows.y[i];
      total += rows.weight(i);
    }
    return {sum / total};
  }

  NumberLoss(const NumberedRows& rows, size_t n_features, const NumberLossOptions& loss,
             const std::vector<double>& baseline)
      : FollowedRows(rows, n_features), loss_(loss), residual_(rows.y, rows.y + rows.n) {
    for (double& r : residual_) r -= baseline[0];
  }

  double prepare(TrainingRows& data, const BoostingOptions& how) const {
    for (size_t i = 0; i < rows_.n; ++i) {
      const double r = residual_[i];
      data.targets[i] = loss_.squared ? r : r > 0.0 ? loss_.quantile : r < 0.0 ? loss_.quantile - 1.0 : 0.0;
    }
    return how.min_weight;
  }

  void fit(const BoostingOptions& how, std::vector<double>& values) {
    if (loss_.linear) return fit_linear(how, values);
    values.assign(n_leaves_, 0.0);
    std::vector<double> weight(n_leaves_, 0.0);
    for (size_t i = 0; i < rows_.n; ++i) {
      const double w = rows_.weight(i);
      weight[leaf(i)] += w;
      values[leaf(i)] += w * residual_[i];
    }
    if (!loss_.squared) {
      std::vector<uint32_t> row = numbers_to(rows_.n);
      std::stable_sort(row.begin(), row.end(), [&](uint32_t a, uint32_t b) { return leaf(a) < leaf(b); });
      for (size_t first = 0, last; first < row.size(); first = last) {
        const size_t at = leaf(row[first]);
        for (last = first + 1; last < row.size() && leaf(row[last]) == at;) ++last;
        values[at] = weight[at] * quantile_of(rows_, residual_, loss_.quantile, row.data() + first, row.data() + last);
      }
    }
    for (size_t at = 0; at < n_leaves_; ++at)
      values[at] = weight[at] > 0.0 ? how.learning_rate * values[at] / (weight[at] + how.l2) : 0.0;
  }

  void add(const double* values) {
    const size_t width = n_features_ + 3;
    for (size_t i = 0; i < rows_.n; ++i)
      residual_[i] -=
          loss_.linear ? said_by(values + leaf(i) * width, rows_.x + i * n_features_, n_features_) : values[leaf(i)];
  }

  double mean() const {
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < rows_.n; ++i) {
      const double r = residual_[i], size = r > 0.0 ? loss_.quantile * r : (loss_.quantile - 1.0) * r;
      sum += rows_.weight(i) * (loss_.squared ? r * r : size);
      total += rows_.weight(i);
    }
    return sum / total;
  }

 private:
  void fit_linear(const BoostingOptions& how, std::vector<double>& values) {
    if (!ridge_) ridge_.emplace(rows_.x, rows_.n, n_features_);
    std::vector<size_t> leaves(rows_.n);
    std::vector<double> weights(rows_.n);
    for (size_t i = 0; i < rows_.n; ++i) {
      leaves[i] = leaf(i);
      weights[i] = rows_.weight(i);
    }
    ridge_->fit(leaves, n_leaves_, weights, residual_, how.l2, how.learning_rate, values);
  }

  const NumberLossOptions loss_;
  std::vector<double> residual_;
  std::optional<LeafRidge> ridge_;  // set at the first fit if leaves are linear
};

namespace {

// Boosts with trees that `grower` grows on `data`, which the loss prepares.
template <class TreeGrower, BoostingLoss Loss>
void boost_with(TreeGrower& grower, TrainingRows& data, Forest& forest, Loss& trained, Loss& validated, bool is_checked,
                const BoostingOptions& how, Boosted& out) {
  std::vector<double> values;
  double least = is_checked ? validated.mean() : 0.0;
  size_t best = 0;
  std::vector<size_t> ends;
  for (size_t t = 0; t < how.n_trees; ++t) {
    checkpoint(data.x.n * (forest.n_classes + 8));
    grower.require(trained.prepare(data, how));
    const size_t number = forest.first_number + t;
    forest.trees.push_back(grower.grow(seed_of_tree(forest.seed, number), number));
    const ForestTree& tree = forest.trees.back();
    trained.follow(tree);
    trained.fit(how, values);
    trained.add(values.data());
    out.leaf_values.insert(out.leaf_values.end(), values.begin(), values.end());
    ends.push_back(out.leaf_values.size());
    out.training_loss.push_back(trained.mean());
    ++forest.finished;
    if (!is_checked) continue;
    validated.follow(tree);
    validated.add(values.data());
    out.validation_loss.push_back(validated.mean());
    if (t == 0 || out.validation_loss.back() < least - how.tolerance) {
      least = out.validation_loss.back();
      best = t;
    } else if (t - best >= how.patience) {
      break;
    }
  }
  if (is_checked && !ends.empty()) {
    forest.trees.resize(best + 1);
    out.leaf_values.resize(ends[best]);
  }
}

}  // namespace

Boosted boost(Forest& forest, const LabeledRows& rows, const LabeledRows& validation, const ForestOptions& options,
              const BoostingOptions& how) {
  const std::vector<double> ones(rows.n, 1.0);
  TrainingRows data(rows.x, rows.y, ones.data(), rows.n, forest.n_features, forest.n_classes, options.rotated(),
                    options.ranked());
  Boosted out;
  out.width = out.n_scores = scores_of(forest.n_classes);
  out.baseline = LogLoss::baseline_of(rows, forest.n_classes);
  LogLoss trained(rows, forest.n_features, forest.n_classes, out.baseline);
  LogLoss validated(validation, forest.n_features, forest.n_classes, out.baseline);
  if (how.max_bins == 0) {
    ForestTreeGrower grower(data, options);
    boost_with(grower, data, forest, trained, validated, validation.n > 0, how, out);
  } else {
    HistogramGrower grower(data, rows.weights, options, how.max_bins, how.most_terms);
    boost_with(grower, data, forest, trained, validated, validation.n > 0, how, out);
  }
  return out;
}

Boosted boost(Forest& forest, const NumberedRows& rows, const NumberedRows& validation, const ForestOptions& options,
              const BoostingOptions& how, const NumberLossOptions& loss) {
  const std::vector<int32_t> one_class(rows.n, 0);
  TrainingRows data(rows.x, one_class.data(), rows.weights, rows.n, forest.n_features, 1, std::nullopt, true);
  data.targets.assign(rows.n, 0.0);
  Boosted out;
  out.n_scores = 1;
  out.width = loss.linear ? forest.n_features + 3 : 1;
  out.baseline = NumberLoss::baseline_of(rows, loss);
  NumberLoss trained(rows, forest.n_features, loss, out.baseline);
  NumberLoss validated(validation, forest.n_features, loss, out.baseline);
  HistogramGrower grower(data, rows.weights, options, how.max_bins, how.most_terms);
  boost_with(grower, data, forest, trained, validated, validation.n > 0, how, out);
  return out;
}

}  // namespace oblique
