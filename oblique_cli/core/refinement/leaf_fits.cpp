#include "refinement/leaf_fits.hpp"

#include <algorithm>

#include "common/interrupt.hpp"

namespace oblique {
namespace {

constexpr double kTolerance = 1e-4;  // of the loss of a row: the sign of E is what counts, so scores need few digits

// Class of the largest of scores (C, n), the first of equal ones.
std::int32_t largest(const std::vector<double>& scores, std::size_t n, std::size_t n_classes, std::size_t i) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < n_classes; ++k)
    if (scores[k * n + i] > scores[best * n + i]) best = k;
  return static_cast<std::int32_t>(best);
}

}  // namespace

LeafFits::LeafFits(const RefinementRows& rows, const LeafLogistic& wanted)
    : rows_(rows), x_(wanted.x), p_(wanted.p), l2_(wanted.l2), columns_(p_ * rows.n),
      prior_(rows.n_classes * rows.n, 0.0) {
  for (std::size_t i = 0; i < rows.n; ++i)
    for (std::size_t j = 0; j < p_; ++j) columns_[j * rows.n + i] = wanted.x[i * p_ + j];
  add_scores(wanted.prior, columns_.data(), rows.n, p_, rows.n_classes, prior_.data());
}

LeafFit LeafFits::fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start) const {
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
  out.scores = solver.solve({columns.data(), n, p_, C, y.data(), weight.data(), scores.data()}, l2_, kTolerance, start);
  add_scores(out.scores, columns.data(), n, p_, C, scores.data());
  for (std::size_t i = 0; i < n; ++i)
    if (largest(scores, n, C, i) != y[i]) out.wrong += weight[i];
  return out;
}

std::int32_t LeafFits::answer(const Scores& model, std::size_t row) const {
  const double* x = x_ + row * p_;
  const std::size_t stride = p_ + 1;
  std::size_t best = 0;
  double largest_score = 0.0;
  // A sum waits for each addition: several classes at once do not.
  constexpr std::size_t together = 4;
  for (std::size_t first = 0; first < rows_.n_classes; first += together) {
    const std::size_t count = std::min(together, rows_.n_classes - first);
    const double* w[together];
    double score[together];
    for (std::size_t m = 0; m < together; ++m) {
      const std::size_t k = first + std::min(m, count - 1);  // the last class again where there are no more
      w[m] = model.data() + k * stride;
      score[m] = prior_[k * rows_.n + row] + w[m][p_];
    }
    for (std::size_t j = 0; j < p_; ++j)
      for (std::size_t m = 0; m < together; ++m) score[m] += w[m][j] * x[j];
    for (std::size_t m = 0; m < count; ++m) {
      if (first + m > 0 && !(score[m] > largest_score)) continue;
      best = first + m;
      largest_score = score[m];
    }
  }
  return static_cast<std::int32_t>(best);
}

double LeafFits::wrong(const Scores& model, const std::uint32_t* which, std::size_t n) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    if (answer(model, which[i]) != rows_.y[which[i]]) sum += rows_.weight[which[i]];
  checkpoint(n * rows_.n_classes * p_);
  return sum;
}

}  // namespace oblique
