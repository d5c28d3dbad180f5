#include "refinement/leaf_fits.hpp"

#include <algorithm>
#include <cmath>

#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "linear/softmax_block.hpp"

namespace oblique {
LogisticFits::LogisticFits(const RefinementRows& rows, const LeafLogistic& wanted)
    : rows_(rows), x_(wanted.x), p_(wanted.p), l2_(wanted.l2), columns_(p_ * rows.n),
      prior_(rows.n_classes * rows.n, 0.0) {
  for (std::size_t i = 0; i < rows.n; ++i)
    for (std::size_t j = 0; j < p_; ++j) columns_[j * rows.n + i] = wanted.x[i * p_ + j];
  add_scores(wanted.prior, columns_.data(), rows.n, p_, rows.n_classes, prior_.data());
}

LeafFit LogisticFits::fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start,
                          double tolerance) const {
  const std::size_t C = rows_.n_classes;
  std::vector<double> columns(p_ * n), scores(C * n), weight(n);
  std::vector<std::int32_t> y(n);
  for (std::size_t j = 0; j < p_; ++j)
    for (std::size_t i = 0; i < n; ++i) columns[j * n + i] = columns_[j * rows_.n + which[i]];
  for (std::size_t k = 0; k < C; ++k)
    for (std::size_t i = 0; i < n; ++i) scores[k * n + i] = prior_[k * rows_.n + which[i]];
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = rows_.y[which[i]];
    weight[i] = rows_.weight[which[i]];
  }
  checkpoint(n * (p_ + C));
  LeafFit out;
  out.scores = solver.solve({columns.data(), n, p_, C, y.data(), weight.data(), scores.data()}, l2_, tolerance, start);
  out.cost = solver.objective();
  return out;
}

void LogisticFits::losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const {
  constexpr std::size_t kRows = 4, kClasses = 8;  // of score_rows
  const std::size_t C = rows_.n_classes, chunks = (C + kClasses - 1) / kClasses, padded = chunks * kClasses;
  std::vector<double> w(padded * p_, 0.0), scores_of_rows(kRows * padded);
  for (std::size_t k = 0; k < C; ++k) {
    const double* of_class = model.data() + k * (p_ + 1);
    double* weights = w.data() + k / kClasses * kClasses * p_ + k % kClasses;
    for (std::size_t j = 0; j < p_; ++j) weights[kClasses * j] = of_class[j];
  }
  for (std::size_t begin = 0; begin < n; begin += kRows) {
    const std::size_t count = std::min(kRows, n - begin);
    const double* x[kRows];
    for (std::size_t r = 0; r < kRows; ++r) x[r] = x_ + which[std::min(begin + r, n - 1)] * p_;  // the last again
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      double* scores = scores_of_rows.data() + chunk * kRows * kClasses;
      for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t i = 0; i < kClasses; ++i) {
          const std::size_t k = chunk * kClasses + i, row = which[std::min(begin + r, n - 1)];
          scores[r * kClasses + i] = k < C ? prior_[k * rows_.n + row] + model[k * (p_ + 1) + p_] : 0.0;
        }
      score_rows(w.data() + chunk * kClasses * p_, x, p_, scores);
    }
    const auto score = [&](std::size_t r, std::size_t k) {
      return scores_of_rows[k / kClasses * kRows * kClasses + r * kClasses + k % kClasses];
    };
    for (std::size_t r = 0; r < count; ++r) {
      const auto y = static_cast<std::size_t>(rows_.y[which[begin + r]]);
      double top = score(r, 0), sum = 0.0;
      for (std::size_t k = 1; k < C; ++k) top = std::max(top, score(r, k));
      for (std::size_t k = 0; k < C; ++k) sum += std::exp(score(r, k) - top);
      out[begin + r] = std::log(sum) + (top - score(r, y));
    }
  }
  checkpoint(n * C * (p_ + 4));
}

double LogisticFits::ridge(const Scores& model) const {
  return 0.5 * l2_ * dot_columns(model.data(), model.data(), model.size());
}

LeafFit MeanFits::fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver&, const Scores&, double) const {
  LeafFit out;
  out.scores.assign(wanted_.k, 0.0);
  double weight = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    weight += rows_.weight[which[i]];
    for (std::size_t k = 0; k < wanted_.k; ++k)
      out.scores[k] += rows_.weight[which[i]] * wanted_.y[which[i] * wanted_.k + k];
  }
  for (double& each : out.scores) each /= weight;
  std::vector<double> row_losses(n);
  losses(out.scores, which, n, row_losses.data());
  for (std::size_t i = 0; i < n; ++i) out.cost += rows_.weight[which[i]] * row_losses[i];
  return out;
}

void MeanFits::losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const {
  for (std::size_t i = 0; i < n; ++i) {
    const double* y = wanted_.y + which[i] * wanted_.k;
    out[i] = 0.0;
    for (std::size_t k = 0; k < wanted_.k; ++k) out[i] += (y[k] - model[k]) * (y[k] - model[k]);
  }
}

}  // namespace oblique
