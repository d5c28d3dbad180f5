// Ridge regressions in the leaves of a boosted tree: the linear increments of the prediction.
#pragma once

#include "common/small_matrices.hpp"

namespace oblique {

// A feature whose standard deviation is below this share of its largest value is constant up to rounding.
inline constexpr double kConstant = 1e-12;

// The least pivot of a leaf's products, as a share of the largest: without a penalty the products may be singular.
inline constexpr double kLeastPivot = 1e-10;

// The model of a leaf is p coefficients, the intercept, and the least and the largest prediction, in the form of
// `Forest::sum_models`. Let z be the features divided by their standard deviations over all rows, minus their means in
// the leaf, and r the residuals. A leaf of weight W predicts rate (sum w r / (W + l2) + b z), where b minimizes sum w
// (r - b z)^2 + l2 |b|^2, limited to rate times the least and the largest r of its rows. There are no slopes, as in a
// constant leaf, if the features of its rows are linearly dependent and there is no penalty.
class LeafRidge {
 public:
  // x : (n, p), not copied
  LeafRidge(const double* x, size_t n, size_t p)
      : x_(x), n_(n), p_(p), center_(p, 0.0), scale_(p, 0.0), mean_(p), z_(p), gram_(p * p), slopes_(p) {
    std::vector<double> largest(p, 0.0);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p; ++j) {
        center_[j] += x[i * p + j] / static_cast<double>(n);
        largest[j] = std::max(largest[j], std::fabs(x[i * p + j]));
      }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p; ++j) {
        const double off = x[i * p + j] - center_[j];
        scale_[j] += off * off / static_cast<double>(n);
      }
    for (size_t j = 0; j < p; ++j) {
      scale_[j] = std::sqrt(scale_[j]);
      if (!(scale_[j] > kConstant * largest[j])) scale_[j] = 0.0;
    }
  }

  size_t width() const { return p_ + 3; }

  // The models of the leaves (n_leaves, p + 3). leaf, weight, residual : of each row; models : output
  void fit(const std::vector<size_t>& leaf, size_t n_leaves, const std::vector<double>& weight,
           const std::vector<double>& residual, double l2, double rate, std::vector<double>& models) {
    models.assign(n_leaves * width(), 0.0);
    std::vector<size_t> ends(n_leaves + 1, 0);
    for (const size_t at : leaf) ++ends[at + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<uint32_t> rows(n_);
    std::vector<size_t> next(ends.begin(), ends.end() - 1);
    for (uint32_t i = 0; i < n_; ++i) rows[next[leaf[i]]++] = i;
    for (size_t at = 0; at < n_leaves; ++at)
      fit_leaf(rows.data() + ends[at], ends[at + 1] - ends[at], weight, residual, l2, rate,
               models.data() + at * width());
  }

 private:
  void fit_leaf(const uint32_t* rows, size_t count, const std::vector<double>& weight,
                const std::vector<double>& residual, double l2, double rate, double* model) {
    if (count == 0) return;
    double total = 0.0, sum = 0.0, least = residual[rows[0]], largest = least;
    std::fill(mean_.begin(), mean_.end(), 0.0);
    const auto standardized = [&](uint32_t i, size_t j) {
      return scale_[j] > 0.0 ? (x_[i * p_ + j] - center_[j]) / scale_[j] : 0.0;
    };
    for (size_t r = 0; r < count; ++r) {
      const uint32_t i = rows[r];
      total += weight[i];
      sum += weight[i] * residual[i];
      least = std::min(least, residual[i]);
      largest = std::max(largest, residual[i]);
      for (size_t j = 0; j < p_; ++j) mean_[j] += weight[i] * standardized(i, j);
    }
    if (!(total > 0.0)) return;
    for (double& each : mean_) each /= total;
    const double middle = sum / total;
    std::fill(gram_.begin(), gram_.end(), 0.0);
    std::fill(slopes_.begin(), slopes_.end(), 0.0);
    for (size_t r = 0; r < count; ++r) {
      const uint32_t i = rows[r];
      for (size_t j = 0; j < p_; ++j) z_[j] = standardized(i, j) - mean_[j];
      for (size_t j = 0; j < p_; ++j) {
        slopes_[j] += weight[i] * z_[j] * (residual[i] - middle);
        for (size_t k = 0; k <= j; ++k) gram_[j * p_ + k] += weight[i] * z_[j] * z_[k];
      }
      checkpoint(p_ * p_);
    }
    double pivot = 0.0;
    for (size_t j = 0; j < p_; ++j) {
      // A feature that is constant everywhere has slope 0 whatever its diagonal is.
      gram_[j * p_ + j] += scale_[j] > 0.0 ? l2 : 1.0;
      pivot = std::max(pivot, gram_[j * p_ + j]);
    }
    double intercept = sum / (total + l2);
    if (cholesky(gram_.data(), p_, kLeastPivot * pivot)) {
      solve_by_factor(gram_.data(), p_, slopes_.data());
      for (size_t j = 0; j < p_; ++j) {
        if (!(scale_[j] > 0.0)) continue;
        model[j] = rate * slopes_[j] / scale_[j];
        intercept -= slopes_[j] * (mean_[j] + center_[j] / scale_[j]);
      }
    }
    model[p_] = rate * intercept;
    model[p_ + 1] = rate * least;
    model[p_ + 2] = rate * largest;
  }

  const double* const x_;
  const size_t n_, p_;
  std::vector<double> center_, scale_;  // over all rows; a scale of 0 for a constant feature
  std::vector<double> mean_, z_, gram_, slopes_;
};

// Prediction of a model for a row x (p,).
inline double said_by(const double* model, const double* x, size_t p) {
  double value = 0.0;
  for (size_t j = 0; j < p; ++j) value += model[j] * x[j];
  return std::clamp(value + model[p], model[p + 1], model[p + 2]);
}

}  // namespace oblique
