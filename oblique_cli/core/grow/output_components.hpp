// Principal components of the outputs of a tree that predicts several numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/eigen.hpp"
#include "rows/training_rows.hpp"

namespace oblique {

// Along a component the outputs are one number, so rows have two classes: above some number and below it.
class OutputComponents {
 public:
  explicit OutputComponents(const TrainingRows& data)
      : data_(data), n_outputs_(data.n_outputs()), mean_(n_outputs_), covariance_(n_outputs_ * n_outputs_),
        value_(data.x.n) {}

  // Computes the components of some rows. draws : how often each row is drawn; a row counts as often, by its weight
  void find(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& draws) {
    const auto weight = [&](std::uint32_t i) {
      return static_cast<double>(draws[i]) * (data_.weights.empty() ? 1.0 : data_.weights[i]);
    };
    double total = 0.0;
    for (const std::uint32_t i : rows) total += weight(i);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
      double sum = 0.0;
      for (const std::uint32_t i : rows) sum += weight(i) * data_.output(k)[i];
      mean_[k] = sum / total;
    }
    for (std::size_t a = 0; a < n_outputs_; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double sum = 0.0;
        for (const std::uint32_t i : rows)
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
    std::size_t at = n_outputs_ - 1;
    for (double below = std::fmax(eigen_.values[at], 0.0); at > 0 && below <= uniform * total;)
      below += std::fmax(eigen_.values[--at], 0.0);
    double* axis = eigen_.vector(static_cast<int>(at));
    orient(axis, n_outputs_, 1.0);
    value_.assign(data_.x.n, 0.0);
    for (std::size_t k = 0; k < n_outputs_; ++k)
      for (std::size_t i = 0; i < data_.x.n; ++i) value_[i] += axis[k] * data_.output(k)[i];
    return value_.data();
  }

 private:
  const TrainingRows& data_;
  std::size_t n_outputs_;
  Vector mean_, covariance_;
  SymmetricEigen eigen_;
  std::vector<double> value_;  // of each row
};

}  // namespace oblique
