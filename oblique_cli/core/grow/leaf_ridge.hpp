// Ridge regressions in the leaves of a boosted tree: the linear increments of the prediction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oblique {

// The model of a leaf is p coefficients, the intercept, and the least and the largest prediction, in the form of
// `Forest::sum_models`. Let z be the features divided by their standard deviations over all rows, minus their means in
// the leaf, and r the residuals. A leaf of weight W predicts rate (sum w r / (W + l2) + b z), where b minimizes sum w
// (r - b z)^2 + l2 |b|^2, limited to rate times the least and the largest r of its rows. Without slopes the prediction
// equals that of a constant leaf. A leaf has no slopes if, without a penalty, the features of its rows are linearly
// dependent.
class LeafRidge {
 public:
  // x : (n, p), not copied
  LeafRidge(const double* x, std::size_t n, std::size_t p);

  std::size_t width() const { return p_ + 3; }

  // The models of the leaves (n_leaves, p + 3). leaf, weight, residual : of each row; models : output
  void fit(const std::vector<std::size_t>& leaf, std::size_t n_leaves, const std::vector<double>& weight,
           const std::vector<double>& residual, double l2, double rate, std::vector<double>& models);

 private:
  void fit_leaf(const std::uint32_t* rows, std::size_t count, const std::vector<double>& weight,
                const std::vector<double>& residual, double l2, double rate, double* model);

  const double* const x_;
  const std::size_t n_, p_;
  std::vector<double> center_, scale_;  // over all rows; a scale of 0 for a constant feature
  std::vector<double> mean_, z_, gram_, slopes_;
};

// Prediction of a model for a row x (p,).
inline double said_by(const double* model, const double* x, std::size_t p) {
  double value = 0.0;
  for (std::size_t j = 0; j < p; ++j) value += model[j] * x[j];
  return std::clamp(value + model[p], model[p + 1], model[p + 2]);
}

}  // namespace oblique
