// Models in the leaves of a tree under refinement. Logistic models: the scores of one model of all rows plus an
// increment with a ridge penalty, fitted to the rows of the leaf (linear/softmax.hpp). Numbers: the mean of the rows.
#pragma once

#include "common/interrupt.hpp"
#include "linear/row_blocks.hpp"
#include "refinement/alternation.hpp"

namespace oblique {

// A model: its scores relative to those of all rows, or its means; and its cost: the loss of its rows plus its ridge.
struct LeafFit {
  Scores scores;
  double cost = 0.0;
};

class LeafFits {
 public:
  virtual ~LeafFits() = default;

  // Number of coefficients of a model.
  virtual size_t size() const = 0;

  // The model of some rows. start : initial scores, empty for those of all rows
  virtual LeafFit fit(const uint32_t* which, size_t n, SoftmaxSolver& solver, const Scores& start,
                      double tolerance) const = 0;

  // The loss of some rows in a leaf of this model. Losses of all rows in many leaves would need much memory.
  virtual void losses(const Scores& model, const uint32_t* which, size_t n, double* out) const = 0;

  // The ridge term of the model, its part of the objective beside the losses of its rows.
  virtual double ridge(const Scores& model) const = 0;
};

class LogisticFits : public LeafFits {
 public:
  LogisticFits(const RefinementRows& rows, const LeafLogistic& wanted)
      : rows_(rows), x_(wanted.x), p_(wanted.p), l2_(wanted.l2), columns_(p_ * rows.n),
        prior_(rows.n_classes * rows.n, 0.0) {
    for (size_t i = 0; i < rows.n; ++i)
      for (size_t j = 0; j < p_; ++j) columns_[j * rows.n + i] = wanted.x[i * p_ + j];
    add_scores(wanted.prior, columns_.data(), rows.n, p_, rows.n_classes, prior_.data());
  }

  size_t size() const override { return rows_.n_classes * (p_ + 1); }

  LeafFit fit(const uint32_t* which, size_t n, SoftmaxSolver& solver, const Scores& start,
              double tolerance) const override {
    const size_t C = rows_.n_classes;
    std::vector<double> columns(p_ * n), scores(C * n), weight(n);
    std::vector<int32_t> y(n);
    for (size_t j = 0; j < p_; ++j)
      for (size_t i = 0; i < n; ++i) columns[j * n + i] = columns_[j * rows_.n + which[i]];
    for (size_t k = 0; k < C; ++k)
      for (size_t i = 0; i < n; ++i) scores[k * n + i] = prior_[k * rows_.n + which[i]];
    for (size_t i = 0; i < n; ++i) {
      y[i] = rows_.y[which[i]];
      weight[i] = rows_.weight[which[i]];
    }
    checkpoint(n * (p_ + C));
    LeafFit out;
    out.scores =
        solver.solve({columns.data(), n, p_, C, y.data(), weight.data(), scores.data()}, l2_, tolerance, start);
    out.cost = solver.objective();
    return out;
  }

  void losses(const Scores& model, const uint32_t* which, size_t n, double* out) const override {
    constexpr size_t kRows = 4, kClasses = 8;  // of score_rows
    const size_t C = rows_.n_classes, chunks = (C + kClasses - 1) / kClasses, padded = chunks * kClasses;
    std::vector<double> w(padded * p_, 0.0), scores_of_rows(kRows * padded);
    for (size_t k = 0; k < C; ++k) {
      const double* of_class = model.data() + k * (p_ + 1);
      double* weights = w.data() + k / kClasses * kClasses * p_ + k % kClasses;
      for (size_t j = 0; j < p_; ++j) weights[kClasses * j] = of_class[j];
    }
    for (size_t begin = 0; begin < n; begin += kRows) {
      const size_t count = std::min(kRows, n - begin);
      const double* x[kRows];
      for (size_t r = 0; r < kRows; ++r) x[r] = x_ + which[std::min(begin + r, n - 1)] * p_;  // the last again
      for (size_t chunk = 0; chunk < chunks; ++chunk) {
        double* scores = scores_of_rows.data() + chunk * kRows * kClasses;
        for (size_t r = 0; r < kRows; ++r)
          for (size_t i = 0; i < kClasses; ++i) {
            const size_t k = chunk * kClasses + i, row = which[std::min(begin + r, n - 1)];
            scores[r * kClasses + i] = k < C ? prior_[k * rows_.n + row] + model[k * (p_ + 1) + p_] : 0.0;
          }
        score_rows(w.data() + chunk * kClasses * p_, x, p_, scores);
      }
      const auto score = [&](size_t r, size_t k) {
        return scores_of_rows[k / kClasses * kRows * kClasses + r * kClasses + k % kClasses];
      };
      for (size_t r = 0; r < count; ++r) {
        const auto y = static_cast<size_t>(rows_.y[which[begin + r]]);
        double top = score(r, 0), sum = 0.0;
        for (size_t k = 1; k < C; ++k) top = std::max(top, score(r, k));
        for (size_t k = 0; k < C; ++k) sum += std::exp(score(r, k) - top);
        out[begin + r] = std::log(sum) + (top - score(r, y));
      }
    }
    checkpoint(n * C * (p_ + 4));
  }

  double ridge(const Scores& model) const override {
    return 0.5 * l2_ * dot_columns(model.data(), model.data(), model.size());
  }

 private:
  const RefinementRows& rows_;
  const double* x_;  // (n, p)
  size_t p_;
  double l2_;
  std::vector<double> columns_, prior_;  // (p, n) and (C, n)
};

// Means of the targets of the rows; the loss is the squared error, summed over the targets of a row.
class MeanFits : public LeafFits {
 public:
  MeanFits(const RefinementRows& rows, const LeafNumbers& wanted) : rows_(rows), wanted_(wanted) {}

  size_t size() const override { return wanted_.k; }

  LeafFit fit(const uint32_t* which, size_t n, SoftmaxSolver&, const Scores&, double) const override {
    LeafFit out;
    out.scores.assign(wanted_.k, 0.0);
    double weight = 0.0;
    for (size_t i = 0; i < n; ++i) {
      weight += rows_.weight[which[i]];
      for (size_t k = 0; k < wanted_.k; ++k)
        out.scores[k] += rows_.weight[which[i]] * wanted_.y[which[i] * wanted_.k + k];
    }
    for (double& each : out.scores) each /= weight;
    std::vector<double> row_losses(n);
    losses(out.scores, which, n, row_losses.data());
    for (size_t i = 0; i < n; ++i) out.cost += rows_.weight[which[i]] * row_losses[i];
    return out;
  }

  void losses(const Scores& model, const uint32_t* which, size_t n, double* out) const override {
    for (size_t i = 0; i < n; ++i) {
      const double* y = wanted_.y + which[i] * wanted_.k;
      out[i] = 0.0;
      for (size_t k = 0; k < wanted_.k; ++k) out[i] += (y[k] - model[k]) * (y[k] - model[k]);
    }
  }

  double ridge(const Scores&) const override { return 0.0; }

 private:
  const RefinementRows& rows_;
  const LeafNumbers& wanted_;
};

}  // namespace oblique
