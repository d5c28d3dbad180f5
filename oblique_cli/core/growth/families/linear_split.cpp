// Directions of linear classifiers, each class at the node against the rest: a support vector machine with squared
// hinge, and logistic regression. The threshold is searched along each (oblique_cli/proposers/_linear.py).
#include <cmath>
#include <cstddef>

#include "common/eigen.hpp"
#include "common/kernels.hpp"
#include "growth/class_moments.hpp"
#include "growth/discriminant.hpp"
#include "growth/heuristic.hpp"
#include "linear/linear_solver.hpp"

namespace oblique {
namespace {

template <MarginLoss loss>
class LinearSplit final : public Proposer {
 public:
  explicit LinearSplit(const Options& options) : cost_(options.number("cost")) {}

  void propose(const Node& node, Candidates& candidates) override {
    const NodeRows& rows = node.rows;
    const std::size_t n = rows.n;
    const bool wide = is_wide(n, node.n_features());
    if (wide)
      find_span(node);
    else
      standard_.find(node);
    const StandardScores& standard = wide ? whitened_.standard() : standard_;
    const double* columns = wide ? coordinates_.data() : standard_.z.data();
    const std::size_t size = wide ? whitened_.n_components() : node.n_features();
    if (rows.weights)
      weights_.assign(rows.weights, rows.weights + n);
    else
      weights_.assign(n, 1.0);
    const int n_problems = rows.n_classes == 2 ? 1 : rows.n_classes;
    for (int k = 0; k < n_problems; ++k) {
      side_.assign(n, -1.0);
      for (std::size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) side_[i] = 1.0;
      LinearFit fit;
      solver_.solve({columns, n, size, side_.data(), weights_.data()}, {0.0, 1.0 / cost_, kBox},
                    {loss, true, kTolerance, kMaxSteps}, fit);
      Vector normal = wide ? over_features(fit.w) : fit.w;
      if (round_off(normal)) candidates.add_direction(standard.unit_normal(normal));
    }
  }

 private:
  static constexpr double kBox = 1e3, kTolerance = 1e-12;
  static constexpr int kMaxSteps = 100;

  // Rounds coefficients to a part in 2^20 of the largest; false if all are 0. The solver knows no further digits, and
  // they would tell rows apart that lie on one line of a grid.
  static bool round_off(Vector& normal) {
    const double largest = largest_magnitude(normal.data(), normal.size());
    if (!(largest > 0.0)) return false;
    for (double& each : normal) each = std::nearbyint(each / largest * 0x1p20) * 0x1p-20;
    return true;
  }

  // Of many more features than rows: the answer lies in the span of the rows, so the problem is solved there.
  void find_span(const Node& node) {
    whitened_.begin(node, Discriminant::kZeroEigenvalue);
    const StandardScores& standard = whitened_.standard();
    const std::size_t p = node.n_features(), n = node.rows.n, size = whitened_.n_components();
    axes_.assign(whitened_.components().begin(), whitened_.components().end());
    coordinates_.assign(size * n, 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      double* axis = axes_.data() + k * p;
      const double length = norm(axis, p);
      for (std::size_t j = 0; j < p; ++j) axis[j] /= length;
      for (std::size_t j = 0; j < p; ++j) add_scaled(axis[j], standard.column(j), coordinates_.data() + k * n, n);
    }
  }

  Vector over_features(const Vector& w) const {
    const std::size_t p = axes_.size() / w.size();
    Vector out(p, 0.0);
    for (std::size_t k = 0; k < w.size(); ++k) add_scaled(w[k], axes_.data() + k * p, out.data(), p);
    return out;
  }

  const double cost_;
  StandardScores standard_;
  Discriminant whitened_;
  LinearSolver solver_;
  Vector axes_, coordinates_, side_, weights_;
};

const Registered svm("svm_split", {number("cost")}, make<LinearSplit<MarginLoss::squared_hinge>>);
const Registered logistic("logistic_split", {number("cost")}, make<LinearSplit<MarginLoss::logistic>>);

}  // namespace
}  // namespace oblique
