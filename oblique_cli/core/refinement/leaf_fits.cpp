#include "refinement/leaf_fits.hpp"

#include <algorithm>

#include "common/interrupt.hpp"
#include "linear/softmax_block.hpp"

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

void LeafFits::answers(const Scores& model, const std::uint32_t* which, std::size_t n, std::int32_t* out) const {
  constexpr std::size_t kRows = 4, kClasses = 8;  // of score_rows
  const std::size_t C = rows_.n_classes;
  std::vector<double> w(kClasses * p_), largest_score(n);
  for (std::size_t first = 0; first < C; first += kClasses) {
    const std::size_t count = std::min(kClasses, C - first);
    for (std::size_t k = 0; k < count; ++k) {
      const double* of_class = model.data() + (first + k) * (p_ + 1);
      for (std::size_t j = 0; j < p_; ++j) w[kClasses * j + k] = of_class[j];
    }
    for (std::size_t begin = 0; begin < n; begin += kRows) {
      const double* x[kRows];
      double scores[kRows * kClasses] = {};
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t row = which[std::min(begin + r, n - 1)];  // the last again where there are no more
        x[r] = x_ + row * p_;
        for (std::size_t k = 0; k < count; ++k)
          scores[r * kClasses + k] = prior_[(first + k) * rows_.n + row] + model[(first + k) * (p_ + 1) + p_];
      }
      score_rows(w.data(), x, p_, scores);
      for (std::size_t i = begin; i < std::min(begin + kRows, n); ++i)
        for (std::size_t k = 0; k < count; ++k) {
          const double score = scores[(i - begin) * kClasses + k];
          if (first + k > 0 && !(score > largest_score[i])) continue;
          largest_score[i] = score;
          out[i] = static_cast<std::int32_t>(first + k);
        }
    }
  }
  checkpoint(n * C * p_);
}

double LeafFits::wrong(const Scores& model, const std::uint32_t* which, std::size_t n) const {
  std::vector<std::int32_t> answer(n);
  answers(model, which, n, answer.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    if (answer[i] != rows_.y[which[i]]) sum += rows_.weight[which[i]];
  return sum;
}

}  // namespace oblique
