#include "linear/linear_solver.hpp"

#include "common/clones.hpp"
#include "common/interrupt.hpp"
#include "common/small_matrices.hpp"
#include "linear/row_blocks.hpp"

namespace oblique {
namespace {

constexpr size_t kBlock = 512;        // rows whose products with all active columns stay in the cache
constexpr size_t kColumns = 8;        // that are multiplied by the second derivatives at once
constexpr double kDamping = 1e-6;     // relative to the largest second derivative; a separating plane has none
constexpr int kMaxPasses = 1000;      // of coordinate descent on one quadratic
constexpr double kInner = 1e-2;       // of the tolerance, for coordinates
constexpr int kPassesOfSigns = 16;    // of coordinate descent, at least, between moves that keep the signs
constexpr int kMaxHalvings = 40;      // of a step
constexpr double kSufficient = 1e-4;  // share of the predicted decrease that a step must reach

double squared_hinge(double margin) { return margin < 1.0 ? (1.0 - margin) * (1.0 - margin) : 0.0; }

double penalty_of(const LinearPenalty& penalty, const std::vector<double>& w) {
  double ones = 0.0, squares = 0.0;
  for (const double value : w) {
    ones += std::abs(value);
    squares += value * value;
  }
  return penalty.l1 * ones + 0.5 * penalty.l2 * squares;
}

OBLIQUE_INLINE double soft(double value, double by) { return value > by ? value - by : value < -by ? value + by : 0.0; }

// One pass of coordinate descent over the `active` coefficients, `now` plus their steps, and over the intercept behind
// them, if `size` is greater. Returns the largest decrease of the quadratic by one coordinate. Every element of `pull`
// has an independent update, so registers of any width give the same bits.
OBLIQUE_CLONES
double descend_once(const double* __restrict quadratic, const double* __restrict now, size_t active, size_t size,
                    const LinearPenalty& penalty, double* __restrict step, double* __restrict pull) {
  const double l1 = penalty.l1, l2 = penalty.l2, box = penalty.box;
  double largest = 0.0;
  for (size_t s = 0; s < size; ++s) {
    const double* __restrict row = quadratic + s * size;
    const double q = row[s];
    double change;
    if (s < active) {
      const double at = now[s] + step[s];
      const double wanted = soft(q * at - pull[s], l1) / (q + l2);
      change = std::clamp(wanted, -box, box) - at;
    } else {
      change = -pull[s] / q;
    }
    if (change == 0.0) continue;
    step[s] += change;
    for (size_t t = 0; t < size; ++t) pull[t] += change * row[t];
    largest = std::max(largest, q * change * change);
  }
  return largest;
}

}  // namespace

void gather_columns(const double* x, size_t p, const uint32_t* rows, size_t n, double* columns) {
  for (size_t i = 0; i < n; ++i) {
    const double* row = x + rows[i] * p;
    for (size_t j = 0; j < p; ++j) columns[j * n + i] = row[j];
  }
}

void LinearSolver::margins(const TwoSides& rows, const LinearFit& fit) {
  margin_.assign(rows.n, fit.b);
  for (size_t j = 0; j < rows.p; ++j)
    if (fit.w[j] != 0.0) add_scaled(fit.w[j], rows.columns + j * rows.n, margin_.data(), rows.n);
  for (size_t i = 0; i < rows.n; ++i) margin_[i] *= rows.side[i];
}

// Loss at some margins. power receives exp(-|margin|) of every row, which the derivatives need as well.
double LinearSolver::loss_at(const TwoSides& rows, MarginLoss loss, const std::vector<double>& margin,
                             std::vector<double>& power) {
  double sum = 0.0;
  if (loss == MarginLoss::squared_hinge) {
    for (size_t i = 0; i < rows.n; ++i) sum += rows.weight[i] * squared_hinge(margin[i]);
    return sum;
  }
  power.resize(rows.n);
  losses_.resize(rows.n);
  logistic_losses(margin.data(), power.data(), losses_.data(), rows.n);
  return dot_columns(rows.weight, losses_.data(), rows.n);
}

// First and second derivative of the loss of every row by w.x + b, at margin_ and power_.
void LinearSolver::derivatives(const TwoSides& rows, MarginLoss loss) {
  first_.resize(rows.n);
  second_.resize(rows.n);
  if (loss == MarginLoss::logistic) {
    logistic_slopes(margin_.data(), power_.data(), rows.side, rows.weight, first_.data(), second_.data(), rows.n);
    return;
  }
  for (size_t i = 0; i < rows.n; ++i) {
    const double v = rows.weight[i], m = margin_[i];
    first_[i] = m < 1.0 ? -2.0 * v * rows.side[i] * (1.0 - m) : 0.0;
    second_[i] = m < 1.0 ? 2.0 * v : 0.0;
  }
}

// Gradient of the loss by each coefficient, and by the intercept last.
void LinearSolver::gradient(const TwoSides& rows, std::vector<double>& out) {
  out.assign(rows.p + 1, 0.0);
  columns_.resize(rows.p);
  for (size_t j = 0; j < rows.p; ++j) columns_[j] = rows.columns + j * rows.n;
  add_products(first_.data(), columns_.data(), rows.p, out.data(), rows.n);
  for (size_t i = 0; i < rows.n; ++i) out[rows.p] += first_[i];
}

// The quadratic term over the active columns, the intercept last: quadratic_ is symmetric.
void LinearSolver::gram(const TwoSides& rows, bool intercept) {
  const size_t a = active_.size(), size = a + (intercept ? 1 : 0);
  quadratic_.assign(size * size, 0.0);
  scaled_.resize(kColumns * std::min(kBlock, rows.n));
  columns_.resize(a);
  double sums[kColumns];
  for (size_t begin = 0; begin < rows.n; begin += kBlock) {
    const size_t n = std::min(kBlock, rows.n - begin);
    const double* h = second_.data() + begin;
    for (size_t s = 0; s < a; ++s) columns_[s] = rows.columns + active_[s] * rows.n + begin;
    for (size_t first = 0; first < a; first += kColumns) {
      const size_t count = std::min(kColumns, a - first);
      std::fill_n(sums, count, 0.0);
      scale_columns(h, columns_.data() + first, count, scaled_.data(), sums, n);
      for (size_t k = 0; k < count; ++k) {
        const size_t s = first + k;
        add_products(scaled_.data() + k * n, columns_.data() + s, a - s, quadratic_.data() + s * size + s, n);
        if (intercept) quadratic_[s * size + a] += sums[k];
      }
    }
    if (intercept)
      for (size_t i = 0; i < n; ++i) quadratic_[a * size + a] += h[i];
  }
  double largest = 0.0;
  for (size_t s = 0; s < size; ++s) largest = std::max(largest, quadratic_[s * size + s]);
  // Damping changes the approximation, not the objective: the minimum stays the same.
  const double damping = largest > 0.0 ? kDamping * largest : 1.0;
  for (size_t s = 0; s < size; ++s) {
    quadratic_[s * size + s] += damping;
    for (size_t t = s + 1; t < size; ++t) quadratic_[t * size + s] = quadratic_[s * size + t];
  }
  checkpoint(rows.n * size * (size + 1) / 2);
}

// Coordinate descent on the quadratic; step_ receives the change of the active coefficients and of the intercept.
// Returns the first-order change of the objective, penalties included: negative unless there is nothing to gain. Ends
// when no coordinate lowers the quadratic by more than `enough`.
double LinearSolver::descend(const LinearPenalty& penalty, const LinearFit& fit, bool intercept, double enough) {
  const size_t a = active_.size(), size = a + (intercept ? 1 : 0), p = fit.w.size();
  step_.assign(size, 0.0);
  pull_.resize(size);  // gradient of the quadratic at the present step
  for (size_t s = 0; s < a; ++s) pull_[s] = gradient_[active_[s]];
  if (intercept) pull_[a] = gradient_[p];
  now_.resize(a);
  for (size_t s = 0; s < a; ++s) now_[s] = fit.w[active_[s]];
  double first_fall = 0.0;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const double largest = descend_once(quadratic_.data(), now_.data(), a, size, penalty, step_.data(), pull_.data());
    checkpoint(size * size);
    if (pass == 0) first_fall = largest;
    if (largest <= std::max(1e-10 * first_fall, enough)) break;
    if ((pass + 1) % std::max(kPassesOfSigns, static_cast<int>(size / 8)) == 0) keep_signs(penalty, size);
  }
  double promise = 0.0;
  for (size_t s = 0; s < a; ++s) {
    const double before = fit.w[active_[s]], after = before + step_[s];
    promise += gradient_[active_[s]] * step_[s] + penalty.l1 * (std::abs(after) - std::abs(before)) +
               0.5 * penalty.l2 * (after * after - before * before);
  }
  if (intercept) promise += gradient_[p] * step_[a];
  return promise;
}

// Moves step_ towards the minimum of the quadratic over the coefficients that are not 0, with the signs that they have:
// up to the first coefficient that reaches 0 or the box. Coordinate descent is slow for correlated features.
void LinearSolver::keep_signs(const LinearPenalty& penalty, size_t size) {
  support_.clear();
  const auto value = [&](size_t s) { return now_[s] + step_[s]; };
  for (size_t s = 0; s < size; ++s)
    if (s >= now_.size() || (value(s) != 0.0 && std::fabs(value(s)) < penalty.box)) support_.push_back(s);
  const size_t m = support_.size();
  factor_.resize(m * m);
  move_.resize(m);
  for (size_t i = 0; i < m; ++i) {
    const size_t s = support_[i];
    const bool is_penalized = s < now_.size();
    for (size_t j = 0; j < m; ++j) factor_[i * m + j] = quadratic_[s * size + support_[j]];
    if (is_penalized) factor_[i * m + i] += penalty.l2;
    move_[i] = -pull_[s] - (is_penalized ? std::copysign(penalty.l1, value(s)) + penalty.l2 * value(s) : 0.0);
  }
  if (!cholesky(factor_.data(), m, 0.0)) return;
  solve_by_factor(factor_.data(), m, move_.data());
  double share = 1.0;
  size_t first = m;  // coefficient that ends the move
  for (size_t i = 0; i < m && support_[i] < now_.size(); ++i) {
    const double at = value(support_[i]), end = at * move_[i] < 0.0 ? 0.0 : std::copysign(penalty.box, at);
    if (std::fabs(end - at) < share * std::fabs(move_[i])) {
      share = (end - at) / move_[i];
      first = i;
    }
  }
  for (size_t i = 0; i < m; ++i) {
    const size_t s = support_[i];
    const bool ends_at_zero = i == first && value(s) * move_[i] < 0.0;
    const double change = ends_at_zero ? -value(s) : share * move_[i];
    add_scaled(change, quadratic_.data() + s * size, pull_.data(), size);
    step_[s] = ends_at_zero ? -now_[s] : step_[s] + change;
  }
}

void LinearSolver::solve(const TwoSides& rows, const LinearPenalty& penalty, const LinearOptions& options,
                         LinearFit& fit) {
  const size_t n = rows.n, p = rows.p;
  if (fit.w.size() != p) {
    fit.w.assign(p, 0.0);
    fit.b = 0.0;
  }
  for (double& value : fit.w) value = std::clamp(value, -penalty.box, penalty.box);
  if (!options.intercept) fit.b = 0.0;
  margins(rows, fit);
  const double at_margin_0 = options.loss == MarginLoss::logistic ? std::log1p(1.0) : 1.0;
  double at_zero = 0.0;
  for (size_t i = 0; i < n; ++i) at_zero += rows.weight[i] * at_margin_0;
  fit.objective = loss_at(rows, options.loss, margin_, power_) + penalty_of(penalty, fit.w);
  fit.steps = 0;
  fit.converged = false;
  std::vector<double> w_trial;
  while (fit.steps < options.max_steps) {
    derivatives(rows, options.loss);
    gradient(rows, gradient_);
    active_.clear();
    for (size_t j = 0; j < p; ++j)
      if (fit.w[j] != 0.0 || std::abs(gradient_[j]) > penalty.l1) active_.push_back(j);
    gram(rows, options.intercept);
    const double promise = descend(penalty, fit, options.intercept, kInner * options.tolerance * at_zero);
    if (!(promise < -options.tolerance * at_zero)) {
      fit.converged = true;
      return;
    }
    ++fit.steps;
    slope_.assign(n, options.intercept ? step_.back() : 0.0);  // change of w.x + b along the step
    for (size_t s = 0; s < active_.size(); ++s)
      if (step_[s] != 0.0) add_scaled(step_[s], rows.columns + active_[s] * n, slope_.data(), n);
    checkpoint(n * (2 * p + 8));
    double size = 1.0;
    int halvings = 0;
    for (; halvings < kMaxHalvings; ++halvings, size *= 0.5) {
      trial_.resize(n);
      step_margins(margin_.data(), size, rows.side, slope_.data(), trial_.data(), n);
      w_trial = fit.w;
      for (size_t s = 0; s < active_.size(); ++s) w_trial[active_[s]] += size * step_[s];
      const double objective = loss_at(rows, options.loss, trial_, trial_power_) + penalty_of(penalty, w_trial);
      if (objective <= fit.objective + kSufficient * size * promise) {
        fit.objective = objective;
        break;
      }
    }
    if (halvings == kMaxHalvings) {  // the remaining decrease is below rounding
      fit.converged = true;
      return;
    }
    fit.w.swap(w_trial);
    if (options.intercept) fit.b += size * step_.back();
    margin_.swap(trial_);
    power_.swap(trial_power_);
  }
}

double LinearSolver::largest_l1(const TwoSides& rows, const LinearOptions& options) {
  LinearFit fit;
  fit.w.assign(rows.p, 0.0);
  LinearPenalty everything;
  everything.l1 = std::numeric_limits<double>::max();
  solve(rows, everything, options, fit);
  derivatives(rows, options.loss);
  gradient(rows, gradient_);
  double largest = 0.0;
  for (size_t j = 0; j < rows.p; ++j) largest = std::max(largest, std::abs(gradient_[j]));
  return largest;
}

}  // namespace oblique
