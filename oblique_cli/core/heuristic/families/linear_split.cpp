// Directions of linear classifiers, each class at the node against the rest: a support vector machine with squared
// hinge, and logistic regression. The search finds the threshold along each (oblique_cli/proposers/_linear.py).

#include "heuristic/class_moments.hpp"
#include "heuristic/discriminant.hpp"
#include "heuristic/heuristic.hpp"
#include "linear/linear_solver.hpp"

namespace oblique {
namespace {

template <MarginLoss loss>
class LinearSplit final : public Proposer {
 public:
  explicit LinearSplit(const Options& options) : cost_(options.number("cost")) {}

  void propose(const Node& node, Candidates& candidates) override {
    const NodeRows& rows = node.rows;
    const size_t n = rows.n;
    const bool wide = is_wide(n, node.n_features());
    if (wide)
      find_span(node);
    else
      standard_.find(node);
    const StandardScores& standard = wide ? whitened_.standard() : standard_;
    const double* columns = wide ? coordinates_.data() : standard_.z.data();
    const size_t size = wide ? whitened_.n_components() : node.n_features();
    if (size == 0) return;  // all rows are equal
    weights_.resize(n);
    for (size_t i = 0; i < n; ++i) weights_[i] = rows.weight(i);
    const int n_problems = rows.n_classes == 2 ? 1 : rows.n_classes;
    for (int k = 0; k < n_problems; ++k) {
      side_.assign(n, -1.0);
      for (size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) side_[i] = 1.0;
      LinearFit fit;
      solver_.solve({columns, n, size, side_.data(), weights_.data()}, {0.0, 1.0 / cost_, kBox},
                    {loss, true, kTolerance, kMaxSteps}, fit);
      for (int step = 0; step < kNewtonSteps; ++step)
        if (!newton_step(columns, n, size, fit)) break;
      Vector normal = wide ? over_features(fit.w) : fit.w;
      if (round_off(normal)) candidates.add_direction(standard.unit_normal(normal));
    }
  }

 private:
  static constexpr double kBox = 1e3, kTolerance = 1e-12;
  static constexpr int kMaxSteps = 100, kNewtonSteps = 2;

  // Rounds coefficients to a part in 2^20 of the largest; false if all are 0. The solver is not exact beyond these
  // digits, and they would separate rows that lie on one line of a grid.
  static bool round_off(Vector& normal) {
    const double largest = largest_magnitude(normal.data(), normal.size());
    if (!(largest > 0.0)) return false;
    for (double& each : normal) each = std::nearbyint(each / largest * 0x1p20) * 0x1p-20;
    return true;
  }

  // A full Newton step from the solver's solution. The solver stops by the objective and therefore has half the digits
  // of a number right; near the minimum a step doubles them. False if there is nothing to gain.
  bool newton_step(const double* columns, size_t n, size_t p, LinearFit& fit) {
    const size_t size = p + 1;
    const double l2 = 1.0 / cost_;
    plane_.assign(n, fit.b);
    for (size_t j = 0; j < p; ++j) add_scaled(fit.w[j], columns + j * n, plane_.data(), n);
    slope_.resize(n);
    curve_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const double margin = side_[i] * plane_[i];
      if (loss == MarginLoss::squared_hinge) {
        slope_[i] = margin < 1.0 ? -2.0 * weights_[i] * side_[i] * (1.0 - margin) : 0.0;
        curve_[i] = margin < 1.0 ? 2.0 * weights_[i] : 0.0;
      } else {
        const double e = std::exp(-std::fabs(margin)), wrong = margin > 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
        slope_[i] = -weights_[i] * side_[i] * wrong;
        curve_[i] = weights_[i] * e / ((1.0 + e) * (1.0 + e));
      }
    }
    ones_.assign(n, 1.0);
    bent_.resize(n);
    hessian_.assign(size * size, 0.0);
    step_.resize(size);
    const auto column = [&](size_t j) { return j < p ? columns + j * n : ones_.data(); };
    for (size_t j = 0; j < size; ++j) {
      const double* x = column(j);
      step_[j] = -dot_columns(slope_.data(), x, n) - (j < p ? l2 * fit.w[j] : 0.0);
      for (size_t i = 0; i < n; ++i) bent_[i] = curve_[i] * x[i];
      for (size_t k = 0; k <= j; ++k) hessian_[j * size + k] = dot_columns(bent_.data(), column(k), n);
      if (j < p) hessian_[j * size + j] += l2;
      checkpoint(j * n);
    }
    if (!solve_by_cholesky(size)) return false;
    // The step should change the last digits only; a larger step is not near the minimum.
    if (!(largest_magnitude(step_.data(), size) <= 1e-3 * largest_magnitude(fit.w.data(), p))) return false;
    for (size_t j = 0; j < p; ++j) fit.w[j] += step_[j];
    fit.b += step_[p];
    return true;
  }

  // step_ = hessian_^-1 step_, reading and overwriting the lower triangle; false without full rank.
  bool solve_by_cholesky(size_t size) {
    const auto at = [&](size_t i, size_t k) -> double& { return hessian_[i * size + k]; };
    for (size_t j = 0; j < size; ++j) {
      const double pivot = at(j, j) - dot_columns(&at(j, 0), &at(j, 0), j);
      if (!(pivot > 1e-12 * at(j, j))) return false;
      at(j, j) = std::sqrt(pivot);
      for (size_t i = j + 1; i < size; ++i) at(i, j) = (at(i, j) - dot_columns(&at(i, 0), &at(j, 0), j)) / at(j, j);
      checkpoint(j * size);
    }
    for (size_t j = 0; j < size; ++j) step_[j] = (step_[j] - dot_columns(&at(j, 0), step_.data(), j)) / at(j, j);
    for (size_t j = size; j-- > 0;) {
      step_[j] /= at(j, j);
      for (size_t k = 0; k < j; ++k) step_[k] -= at(j, k) * step_[j];
    }
    return true;
  }

  // With far more features than rows the solution lies in the span of the rows, so the problem is solved there.
  void find_span(const Node& node) {
    whitened_.begin(node, Discriminant::kZeroEigenvalue);
    const StandardScores& standard = whitened_.standard();
    const size_t p = node.n_features(), n = node.rows.n, size = whitened_.n_components();
    axes_.assign(whitened_.components().begin(), whitened_.components().end());
    coordinates_.assign(size * n, 0.0);
    for (size_t k = 0; k < size; ++k) {
      double* axis = axes_.data() + k * p;
      const double length = norm(axis, p);
      for (size_t j = 0; j < p; ++j) axis[j] /= length;
      for (size_t j = 0; j < p; ++j) add_scaled(axis[j], standard.column(j), coordinates_.data() + k * n, n);
    }
  }

  Vector over_features(const Vector& w) const {
    const size_t p = axes_.size() / w.size();
    Vector out(p, 0.0);
    for (size_t k = 0; k < w.size(); ++k) add_scaled(w[k], axes_.data() + k * p, out.data(), p);
    return out;
  }

  const double cost_;
  StandardScores standard_;
  Discriminant whitened_;
  LinearSolver solver_;
  Vector axes_, coordinates_, side_, weights_;
  Vector plane_, slope_, curve_, bent_, ones_, hessian_, step_;  // of a Newton step
};

const Registered svm("svm_split", {number("cost")}, make<LinearSplit<MarginLoss::squared_hinge>>);
const Registered logistic("logistic_split", {number("cost")}, make<LinearSplit<MarginLoss::logistic>>);

}  // namespace
}  // namespace oblique
