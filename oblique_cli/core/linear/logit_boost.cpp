#include "linear/logit_boost.hpp"

#include <algorithm>
#include <cmath>

#include "common/interrupt.hpp"

namespace oblique {
namespace {

constexpr double kLargestResponse = 3.0;  // Friedman, Hastie & Tibshirani (2000), section 4: 2 to 4
constexpr double kLeastWeight = 1e-12;    // relative to the row's own weight
constexpr double kNoSpread = 1e-12;       // relative to the second moment: a feature with less variance is constant

}  // namespace

bool LogitBoost::step(const ClassRows& rows, std::vector<double>& scores, Scores& w) {
  const std::size_t n = rows.n, p = rows.p, C = rows.n_classes;
  if (C < 2) return false;
  probability_.resize(C * n);
  response_.resize(n);
  weight_.resize(n);
  weighted_.resize(n);
  scaled_.resize(n);
  change_.assign(C * (p + 1), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double top = scores[i], sum = 0.0;
    for (std::size_t k = 1; k < C; ++k) top = std::max(top, scores[k * n + i]);
    for (std::size_t k = 0; k < C; ++k) sum += probability_[k * n + i] = std::exp(scores[k * n + i] - top);
    for (std::size_t k = 0; k < C; ++k) probability_[k * n + i] /= sum;
  }
  bool any = false;
  for (std::size_t k = 0; k < C; ++k) {
    double total = 0.0, of_response = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double q = probability_[k * n + i];
      const bool here = static_cast<std::size_t>(rows.y[i]) == k;
      // (y - q) / (q (1 - q)), which is 1 / q or -1 / (1 - q).
      const double z = here ? std::min(1.0 / q, kLargestResponse) : -std::min(1.0 / (1.0 - q), kLargestResponse);
      response_[i] = z;
      weight_[i] = rows.weight[i] * std::max(((here ? 1.0 : 0.0) - q) / z, kLeastWeight);
      total += weight_[i];
      of_response += weight_[i] * z;
    }
    // Centered first: where the scores are certain of a class, responses differ by little.
    const double mean_response = of_response / total;
    for (std::size_t i = 0; i < n; ++i) weighted_[i] = weight_[i] * (response_[i] - mean_response);
    double best = -1.0, slope = 0.0, mean = 0.0;
    std::size_t feature = p;
    for (std::size_t j = 0; j < p; ++j) {
      const double* x = rows.columns + j * n;
      const double x_mean = dot_columns(weight_.data(), x, n) / total;
      const double cross = dot_columns(weighted_.data(), x, n);
      for (std::size_t i = 0; i < n; ++i) scaled_[i] = weight_[i] * x[i];
      const double square = dot_columns(scaled_.data(), x, n);
      const double spread = square - total * x_mean * x_mean;
      if (!(spread > kNoSpread * square)) continue;
      const double explained = cross * cross / spread;
      if (!(explained > best)) continue;
      best = explained;
      slope = cross / spread;
      mean = x_mean;
      feature = j;
    }
    any = any || feature < p || std::abs(mean_response) > kNoSpread;
    if (feature < p) change_[k * (p + 1) + feature] = slope;
    change_[k * (p + 1) + p] = mean_response - slope * mean;
  }
  checkpoint(n * C * (3 * p + 8));
  if (!any) return false;
  // Centered over the classes, since their scores sum to 0.
  const double share = static_cast<double>(C - 1) / static_cast<double>(C);
  for (std::size_t j = 0; j <= p; ++j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < C; ++k) sum += change_[k * (p + 1) + j];
    for (std::size_t k = 0; k < C; ++k) {
      double& value = change_[k * (p + 1) + j];
      value = share * (value - sum / static_cast<double>(C));
    }
  }
  add_scores(change_, rows.columns, n, p, C, scores.data());
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += change_[j];
  return true;
}

}  // namespace oblique
