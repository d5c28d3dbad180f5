// The Python face of the solver of linear classifiers.
#include "bindings/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/release.hpp"
#include "linear/linear_solver.hpp"

namespace oblique {
namespace {

MarginLoss margin_loss(const std::string& name) {
  require(name == "logistic" || name == "squared_hinge", "loss must be 'logistic' or 'squared_hinge'");
  return name == "logistic" ? MarginLoss::logistic : MarginLoss::squared_hinge;
}

nb::tuple linear_fit(const Matrix& x, const Doubles& side, const std::optional<Doubles>& weights,
                     const std::string& loss, double l1, double l2, bool intercept, double box, double tolerance,
                     int max_steps, const std::optional<Doubles>& start) {
  const std::size_t n = x.shape(0), p = x.shape(1);
  require(n >= 1, "X must have at least one row");
  require(side.shape(0) == n, "X and side must have the same number of rows");
  require(!weights || weights->shape(0) == n, "X and weights must have the same number of rows");
  require(!start || start->shape(0) == p + 1, "start must hold p coefficients and the intercept");
  require(l1 >= 0.0 && l2 >= 0.0 && box > 0.0 && tolerance >= 0.0, "penalties and tolerance must not be negative");
  for (std::size_t i = 0; i < n; ++i) require(side(i) == 1.0 || side(i) == -1.0, "side must hold -1 and 1");
  for (std::size_t i = 0; i < n * p; ++i) require(std::isfinite(x.data()[i]), "X must be finite");
  if (weights)
    for (std::size_t i = 0; i < n; ++i)
      require(std::isfinite((*weights)(i)) && (*weights)(i) >= 0.0, "weights must be finite and not negative");
  LinearOptions options;
  options.loss = margin_loss(loss);
  options.intercept = intercept;
  options.tolerance = tolerance;
  options.max_steps = max_steps;
  LinearFit fit;
  if (start) {
    fit.w.assign(start->data(), start->data() + p);
    fit.b = (*start)(p);
  }
  {
    const Released released;
    std::vector<double> columns(n * p), of_row(n, 1.0);
    std::vector<std::uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0u);
    gather_columns(x.data(), p, rows.data(), n, columns.data());
    if (weights) of_row.assign(weights->data(), weights->data() + n);
    LinearSolver().solve({columns.data(), n, p, side.data(), of_row.data()}, {l1, l2, box}, options, fit);
  }
  return nb::make_tuple(array(std::move(fit.w), {p}), fit.b, fit.objective, fit.steps, fit.converged);
}

}  // namespace

void bind_linear(nb::module_& m) {
  m.def("linear_fit", &linear_fit, "X"_a.noconvert(), "side"_a.noconvert(), "weights"_a.noconvert().none() = nb::none(),
        "loss"_a = "logistic", "l1"_a = 0.0, "l2"_a = 0.0, "intercept"_a = true, "box"_a = 1e3, "tolerance"_a = 1e-9,
        "max_steps"_a = 200, "start"_a.noconvert().none() = nb::none(),
        "Plane w.x + b of least weighted loss ('logistic' or 'squared_hinge') plus l1 |w|_1 + l2 / 2 |w|_2^2, within "
        "|w_j| <= box. X (n, p) float64 C order, finite; side (n,) float64 of -1 and 1; weights (n,) or None; start "
        "(p + 1,) coefficients and intercept to begin with, or None. Returns (w, b, objective, steps, converged).");
}

}  // namespace oblique
