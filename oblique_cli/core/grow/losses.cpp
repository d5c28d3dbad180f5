#include "grow/losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace oblique {

namespace {

// Rows whose gradient is below this share of the largest count as having this share: the loss has settled them, and the
// search measures weights in units of the least.
constexpr double kFaint = 0x1p-20;
// The longest step of a leaf in log odds, before shrinkage.
constexpr double kLongest = 10.0;

// The smallest value among the rows such that the rows up to it hold the given share of the weight. rows : reordered
double quantile_of(const BoostedRows& all, const std::vector<double>& number, double share, std::uint32_t* first,
                   std::uint32_t* last) {
  std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
    return number[a] < number[b] || (number[a] == number[b] && a < b);
  });
  double total = 0.0, below = 0.0;
  for (const std::uint32_t* row = first; row != last; ++row) total += all.weight(*row);
  for (const std::uint32_t* row = first; row != last; ++row)
    if ((below += all.weight(*row)) >= share * total * (1.0 - 1e-12)) return number[*row];
  return number[last[-1]];
}

std::vector<std::uint32_t> numbers_to(std::size_t n) {
  std::vector<std::uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  return out;
}

}  // namespace

// ---- classes
// -------------------------------------------------------------------------------------------------------------

LogLoss::LogLoss(const LabeledRows& rows, std::size_t n_features, std::size_t n_classes,
                 const std::vector<double>& baseline)
    : FollowedRows(rows, n_features), y_(rows.y), n_classes_(n_classes), n_scores_(baseline.size()),
      shares_(rows.n * n_classes) {
  if (rows.start)
    scores_.assign(rows.start, rows.start + rows.n * n_scores_);
  else
    for (std::size_t i = 0; i < rows.n; ++i) scores_.insert(scores_.end(), baseline.begin(), baseline.end());
  update();
}

std::vector<double> LogLoss::baseline_of(const LabeledRows& rows, std::size_t n_classes) {
  std::vector<double> of_class(n_classes, 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const double w = rows.weight(i);
    of_class[static_cast<std::size_t>(rows.y[i])] += w;
    total += w;
  }
  for (double& each : of_class)
    each = std::log(std::max(each / total, 1e-12));  // a class may occur in the validation rows only
  if (n_classes == 2) return {of_class[1] - of_class[0]};
  return of_class;
}

double LogLoss::prepare(TrainingRows& data, const BoostingOptions& how) const {
  double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows_.n; ++i) {
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

void LogLoss::fit(const BoostingOptions& how, std::vector<double>& values) const {
  const std::size_t first = n_classes_ == 2 ? 1 : 0;  // the class of the first score
  values.assign(n_leaves_ * n_scores_, 0.0);
  std::vector<double> curvature(values.size(), 0.0);
  for (std::size_t i = 0; i < rows_.n; ++i)
    for (std::size_t k = 0; k < n_scores_; ++k) {
      const std::size_t at = leaf(i) * n_scores_ + k, code = first + k;
      const bool is_class = static_cast<std::size_t>(y_[i]) == code;
      const double p = share(i, code), w = rows_.weight(i);
      values[at] += w * (is_class ? 1.0 - p : -p);
      curvature[at] += w * p * (1.0 - p);
    }
  // The diagonal of the multinomial curvature overstates a simultaneous step in all scores (Friedman 2001, equation
  // 34).
  const double share = n_classes_ > 2 ? static_cast<double>(n_classes_ - 1) / static_cast<double>(n_classes_) : 1.0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    const double below = curvature[at] + how.l2;
    const double step = below > 0.0 ? share * values[at] / below : 0.0;
    values[at] = how.learning_rate * std::clamp(step, -kLongest, kLongest);
  }
}

void LogLoss::add(const double* values) {
  for (std::size_t i = 0; i < rows_.n; ++i)
    for (std::size_t k = 0; k < n_scores_; ++k) scores_[i * n_scores_ + k] += values[leaf(i) * n_scores_ + k];
  update();
}

double LogLoss::mean() const {
  double sum = 0.0, total = 0.0;
  for (std::size_t i = 0; i < rows_.n; ++i) {
    sum -= rows_.weight(i) * std::log(std::max(own_share(i), std::numeric_limits<double>::min()));
    total += rows_.weight(i);
  }
  return sum / total;
}

void LogLoss::update() {
  for (std::size_t i = 0; i < rows_.n; ++i) {
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
    for (std::size_t k = 0; k < n_scores_; ++k) total += p[k] = std::exp(f[k] - highest);
    for (std::size_t k = 0; k < n_scores_; ++k) p[k] /= total;
  }
}

// ---- numbers
// -------------------------------------------------------------------------------------------------------------

NumberLoss::NumberLoss(const NumberedRows& rows, std::size_t n_features, const NumberLossOptions& loss,
                       const std::vector<double>& baseline)
    : FollowedRows(rows, n_features), loss_(loss), residual_(rows.y, rows.y + rows.n) {
  for (double& r : residual_) r -= baseline[0];
}

std::vector<double> NumberLoss::baseline_of(const NumberedRows& rows, const NumberLossOptions& loss) {
  if (!loss.squared) {
    std::vector<std::uint32_t> row = numbers_to(rows.n);
    return {quantile_of(rows, {rows.y, rows.y + rows.n}, loss.quantile, row.data(), row.data() + rows.n)};
  }
  double sum = 0.0, total = 0.0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    sum += rows.weight(i) * rows.y[i];
    total += rows.weight(i);
  }
  return {sum / total};
}

double NumberLoss::prepare(TrainingRows& data, const BoostingOptions& how) const {
  for (std::size_t i = 0; i < rows_.n; ++i) {
    const double r = residual_[i];
    data.targets[i] = loss_.squared ? r : r > 0.0 ? loss_.quantile : r < 0.0 ? loss_.quantile - 1.0 : 0.0;
  }
  return how.min_weight;
}

void NumberLoss::fit_linear(const BoostingOptions& how, std::vector<double>& values) {
  if (!ridge_) ridge_.emplace(rows_.x, rows_.n, n_features_);
  std::vector<std::size_t> leaves(rows_.n);
  std::vector<double> weights(rows_.n);
  for (std::size_t i = 0; i < rows_.n; ++i) {
    leaves[i] = leaf(i);
    weights[i] = rows_.weight(i);
  }
  ridge_->fit(leaves, n_leaves_, weights, residual_, how.l2, how.learning_rate, values);
}

void NumberLoss::fit(const BoostingOptions& how, std::vector<double>& values) {
  if (loss_.linear) return fit_linear(how, values);
  values.assign(n_leaves_, 0.0);
  std::vector<double> weight(n_leaves_, 0.0);
  for (std::size_t i = 0; i < rows_.n; ++i) {
    const double w = rows_.weight(i);
    weight[leaf(i)] += w;
    values[leaf(i)] += w * residual_[i];
  }
  if (!loss_.squared) {
    std::vector<std::uint32_t> row = numbers_to(rows_.n);
    std::stable_sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) { return leaf(a) < leaf(b); });
    for (std::size_t first = 0, last; first < row.size(); first = last) {
      const std::size_t at = leaf(row[first]);
      for (last = first + 1; last < row.size() && leaf(row[last]) == at;) ++last;
      values[at] = weight[at] * quantile_of(rows_, residual_, loss_.quantile, row.data() + first, row.data() + last);
    }
  }
  for (std::size_t at = 0; at < n_leaves_; ++at)
    values[at] = weight[at] > 0.0 ? how.learning_rate * values[at] / (weight[at] + how.l2) : 0.0;
}

void NumberLoss::add(const double* values) {
  const std::size_t width = n_features_ + 3;
  for (std::size_t i = 0; i < rows_.n; ++i)
    residual_[i] -=
        loss_.linear ? said_by(values + leaf(i) * width, rows_.x + i * n_features_, n_features_) : values[leaf(i)];
}

double NumberLoss::mean() const {
  double sum = 0.0, total = 0.0;
  for (std::size_t i = 0; i < rows_.n; ++i) {
    const double r = residual_[i], size = r > 0.0 ? loss_.quantile * r : (loss_.quantile - 1.0) * r;
    sum += rows_.weight(i) * (loss_.squared ? r * r : size);
    total += rows_.weight(i);
  }
  return sum / total;
}

}  // namespace oblique
