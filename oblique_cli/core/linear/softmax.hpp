// Multinomial logistic regression with a ridge penalty and an offset of the scores.
// minimize over b, W:  sum_i v_i (log sum_k exp f_ik - f_i,y(i)) + l2 / 2 (|b|^2 + |W|^2),  f_i = offset_i + b + W x_i
// With l2 > 0 the minimum is unique and finite, whether or not a plane separates the rows. The method is L-BFGS
// (Nocedal 1980) with one preconditioner for all steps and classes: the Gram matrix of the rows, weighted by their
// uncertainty at the start, at most by the half of Boehning's (1992) bound; each step scales it by the last change of
// the gradient. Of two classes only the difference of the scores is fitted: they sum to 0 at the minimum.
#pragma once

#include "common/kernels.hpp"

namespace oblique {

// Rows of several classes. columns : p columns of n >= 1 finite numbers; offset : a row of n scores for each class.
struct ClassRows {
  const double* columns = nullptr;
  size_t n = 0, p = 0, n_classes = 0;
  const int32_t* y = nullptr;
  const double* weight = nullptr;  // positive
  const double* offset = nullptr;
};

// Linear scores of all classes: p coefficients and the intercept of each class, one class after the other.
using Scores = std::vector<double>;

// out[k * n + i] += intercept_k + w_k.x_i
void add_scores(const Scores& w, const double* columns, size_t n, size_t p, size_t n_classes, double* out);

// Solves one problem after another with the same buffers; one for each thread.
class SoftmaxSolver {
 public:
  // Returns the scores without the offset. tolerance : relative to the mean loss of a row; a step with a smaller
  // predicted gain is not taken; start : initial scores, empty for 0
  Scores solve(const ClassRows& rows, double l2, double tolerance = 1e-5, const Scores& start = {},
               int max_steps = 300);

  double objective() const { return objective_; }  // at the last solution
  bool converged() const { return converged_; }

 private:
  double evaluate(const ClassRows& rows, double l2, const Scores& w, Scores& gradient, bool weighs);
  double evaluate_two(const ClassRows& rows, double l2, const Scores& w, Scores& gradient, bool weighs);
  void factor(const ClassRows& rows, double l2);
  void precondition(size_t size, std::vector<double>& right_sides);

  std::vector<double> factor_, diagonal_, block_, scaled_, uncertainty_;  // the last: of each row times its weight
  double objective_ = 0.0;
  bool converged_ = false;
};

}  // namespace oblique
