// Logistic models in the leaves of a tree under refinement: the scores of a leaf are those of one model of all rows,
// changed by what a ridge lets the rows of the leaf add (linear/softmax.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/softmax.hpp"
#include "refinement/alternation.hpp"

namespace oblique {

// A model: its scores beside those of all rows, and what it costs: the log loss of its own rows and its ridge.
struct LeafFit {
  Scores scores;
  double cost = 0.0;
};

class LeafFits {
 public:
  LeafFits(const RefinementRows& rows, const LeafLogistic& wanted);

  // The model of some rows. start: scores to begin with, none for those of all rows
  LeafFit fit(const std::uint32_t* which, std::size_t n, SoftmaxSolver& solver, const Scores& start,
              double tolerance) const;

  // The log loss of some rows in a leaf of this model: nothing is kept for all rows, which with many leaves would be a
  // lot.
  void losses(const Scores& model, const std::uint32_t* which, std::size_t n, double* out) const;

  // What the model adds to the objective beside the losses of its rows.
  double ridge(const Scores& model) const;

 private:
  const RefinementRows& rows_;
  const double* x_;  // (n, p)
  std::size_t p_;
  double l2_;
  std::vector<double> columns_, prior_;  // (p, n) and (C, n)
};

}  // namespace oblique
