#include "grow/boosting.hpp"

#include "grow/histogram_grower.hpp"
#include "grow/losses.hpp"

namespace oblique {

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
    HistogramGrower grower(data, rows.weights, options, how.max_bins);
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
  HistogramGrower grower(data, rows.weights, options, how.max_bins);
  boost_with(grower, data, forest, trained, validated, validation.n > 0, how, out);
  return out;
}

}  // namespace oblique
