// Models in the leaves of a tree under refinement. Logistic models: the scores of a leaf are those of one model of all
// rows plus an increment with a ridge penalty, fitted to the rows of the leaf (linear/softmax.hpp). Numbers: the mean
// of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/softmax.hpp"
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
  virtual std::size_t size() const = 0;

  // The model of some rows. start : initial scores, empty for those of all rows
  virtual LeafFit fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start,
                      double tolerance) const = 0;

  // The loss of some rows in a leaf of this model. Nothing is stored for all rows, which would need much memory with
  // many leaves.
  virtual void losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const = 0;

  // The ridge term of the model, its part of the objective beside the losses of its rows.
  virtual double ridge(const Scores& model) const = 0;
};

class LogisticFits : public LeafFits {
 public:
  LogisticFits(const RefinementRows& rows, const LeafLogistic& wanted);

  std::size_t size() const override { return rows_.n_classes * (p_ + 1); }
  LeafFit fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start,
              double tolerance) const override;
  void losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const override;
  double ridge(const Scores& model) const override;

 private:
  const RefinementRows& rows_;
  const double* x_;  // (n, p)
  std::size_t p_;
  double l2_;
  std::vector<double> columns_, prior_;  // (p, n) and (C, n)
};

// Means of the targets of the rows; the loss is the squared error, summed over the targets of a row.
class MeanFits : public LeafFits {
 public:
  MeanFits(const RefinementRows& rows, const LeafNumbers& wanted) : rows_(rows), wanted_(wanted) {}

  std::size_t size() const override { return wanted_.k; }
  LeafFit fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start,
              double tolerance) const override;
  void losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const override;
  double ridge(const Scores&) const override { return 0.0; }

 private:
  const RefinementRows& rows_;
  const LeafNumbers& wanted_;
};

}  // namespace oblique
