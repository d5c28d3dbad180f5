// Ridge regressions in the leaves of a tree that is boosted: what linear leaves add to the numbers predicted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oblique {

// A model of a leaf is p coefficients, the intercept, and the least and the largest that the leaf may say, as
// `Forest::sum_models` takes it. With z the features over their standard deviations among all rows, less their means in
// the leaf, and r what is left over, a leaf of weight W says rate (sum w r / (W + l2) + b z), b being of the least sum
// of w (r - b z)^2 + l2 |b|^2, cut off at rate times the least and the largest r of its rows. Without slopes that is
// what a constant leaf says; it has none where, without a penalty, features of its rows depend on each other.
class LeafRidge {
 public:
  // x : (n, p), which are not copied
  LeafRidge(const double* x, std::size_t n, std::size_t p);

  std::size_t width() const { return p_ + 3; }

  // The models of the leaves (n_leaves, p + 3). leaf, weight, residual : of each row; models : set
  void fit(const std::vector<std::size_t>& leaf, std::size_t n_leaves, const std::vector<double>& weight,
           const std::vector<double>& residual, double l2, double rate, std::vector<double>& models);

 private:
  void fit_leaf(const std::uint32_t* rows, std::size_t count, const std::vector<double>& weight,
                const std::vector<double>& residual, double l2, double rate, double* model);

  const double* const x_;
  const std::size_t n_, p_;
  std::vector<double> center_, scale_;  // of all rows; a scale of 0 for a constant feature
  std::vector<double> mean_, z_, gram_, slopes_;
};

// What a model says of a row x (p,).
inline double said_by(const double* model, const double* x, std::size_t p) {
  double value = 0.0;
  for (std::size_t j = 0; j < p; ++j) value += model[j] * x[j];
  return std::clamp(value + model[p], model[p + 1], model[p + 2]);
}

}  // namespace oblique
