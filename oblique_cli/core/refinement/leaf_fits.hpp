// Models in the leaves of a tree under refinement. Logistic ones: the scores of a leaf are those of one model of all
// rows, changed by what a ridge lets the rows of the leaf add (linear/softmax.hpp). Of numbers: the mean of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/softmax.hpp"
#include "refinement/alternation.hpp"

namespace oblique {

// A model: its scores beside those of all rows, or its means; and what it costs: the loss of its own rows and its
// ridge.
struct LeafFit {
  Scores scores;
  double cost = 0.0;
};

class LeafFits {
 public:
  virtual ~LeafFits() = default;

  // How many numbers a model is.
  virtual std::size_t size() const = 0;

  // The model of some rows. start: scores to begin with, none for those of all rows
  virtual LeafFit fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start,
                      double tolerance) const = 0;

  // The loss of some rows in a leaf of this model: nothing is kept for all rows, which with many leaves would be a lot.
  virtual void losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const = 0;

  // What the model adds to the objective beside the losses of its rows.
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

// Means of the numbers of the rows, whose squared error is the loss, summed over several numbers of a row.
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
