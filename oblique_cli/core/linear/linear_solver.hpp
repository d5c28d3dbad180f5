// Linear classifiers of two sides by penalized loss: logistic loss and squared hinge, with l1 and l2 penalties.
//
//   minimize over w, b:  sum_i v_i L(s_i (w.x_i + b)) + l1 |w|_1 + l2 / 2 |w|_2^2   subject to |w_j| <= box
//
// L(m) is log(1 + exp(-m)) or max(0, 1 - m)^2. The intercept b is free. The method is that of glmnet (Friedman, Hastie
// & Tibshirani 2010) and newGLMNET (Yuan, Ho & Lin 2012): coordinate descent with soft thresholds on the quadratic
// approximation of the loss, over the coordinates that are nonzero or have a gradient to leave 0, with covariance
// updates; then a backtracking line search on the objective, which therefore decreases at every step. Sums follow the
// order of the rows, by blocks of a fixed size: the result has the same bits in every run.
#pragma once

#include "common/kernels.hpp"

namespace oblique {

enum class MarginLoss { logistic, squared_hinge };

// Two groups of rows to separate. `columns` holds p columns of n finite numbers one after the other; features should
// have similar scales, since penalties and box treat all coefficients alike. n >= 1.
struct TwoSides {
  const double* columns = nullptr;
  size_t n = 0, p = 0;
  const double* side = nullptr;    // -1 or +1 for each row
  const double* weight = nullptr;  // not negative
};

struct LinearPenalty {
  double l1 = 0.0, l2 = 0.0;
  double box = 1e3;  // separable rows have no finite minimum without a penalty
};

struct LinearOptions {
  MarginLoss loss = MarginLoss::logistic;
  bool intercept = true;
  double tolerance = 1e-9;  // stops when a step is predicted to gain less than this share of the objective at 0
  int max_steps = 200;
};

// A plane w.x + b, and its objective. A solver starts at the plane that it receives.
struct LinearFit {
  std::vector<double> w;
  double b = 0.0;
  double objective = 0.0;
  int steps = 0;
  bool converged = false;
};

// Solves one problem after another with the same buffers; one for each thread.
class LinearSolver {
 public:
  // `fit` holds p initial coefficients (none for a start at 0), and receives the result.
  void solve(const TwoSides& rows, const LinearPenalty& penalty, const LinearOptions& options, LinearFit& fit);

  // The smallest l1 for which all coefficients are 0: the largest gradient at w = 0 and the best intercept there.
  double largest_l1(const TwoSides& rows, const LinearOptions& options);

 private:
  void margins(const TwoSides& rows, const LinearFit& fit);
  double loss_at(const TwoSides& rows, MarginLoss loss, const std::vector<double>& margin, std::vector<double>& power);
  void derivatives(const TwoSides& rows, MarginLoss loss);
  void gradient(const TwoSides& rows, std::vector<double>& out);
  void gram(const TwoSides& rows, bool intercept);
  double descend(const LinearPenalty& penalty, const LinearFit& fit, bool intercept, double enough);
  void keep_signs(const LinearPenalty& penalty, size_t size);

  std::vector<double> margin_, trial_, power_, trial_power_, slope_, first_, second_, gradient_, quadratic_, step_,
      pull_, scaled_, now_, factor_, move_, losses_;
  std::vector<size_t> active_, support_;
  std::vector<const double*> columns_;
};

// Columns of some rows of a matrix in row order, (p, rows): what TwoSides reads.
void gather_columns(const double* x, size_t p, const uint32_t* rows, size_t n, double* columns);

}  // namespace oblique
