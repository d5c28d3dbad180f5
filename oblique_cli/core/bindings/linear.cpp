// Python bindings of the solver of linear classifiers.
#include "bindings/bindings.hpp"
#include "linear/linear_solver.hpp"
#include "linear/node_models.hpp"

namespace oblique {
namespace {

MarginLoss margin_loss(const std::string& name) {
  require(name == "logistic" || name == "squared_hinge", "loss must be 'logistic' or 'squared_hinge'");
  return name == "logistic" ? MarginLoss::logistic : MarginLoss::squared_hinge;
}

void check_finite_rows(const Matrix& x, const Codes& y, const Doubles& weights, size_t n_classes) {
  check_rows(x, y, weights, n_classes);
  check_finite(x, "X must be finite");
  for (size_t i = 0; i < weights.shape(0); ++i)
    require(std::isfinite(weights(i)) && weights(i) > 0.0, "weights must be finite and positive");
}

std::vector<double> columns_of(const Matrix& x) {
  std::vector<double> columns(x.size());
  const std::vector<uint32_t> rows = numbers_to(x.shape(0));
  gather_columns(x.data(), x.shape(1), rows.data(), rows.size(), columns.data());
  return columns;
}

nb::tuple linear_fit(const Matrix& x, const Doubles& side, const std::optional<Doubles>& weights,
                     const std::string& loss, double l1, double l2, bool intercept, double box, double tolerance,
                     int max_steps, const std::optional<Doubles>& start) {
  const size_t n = x.shape(0), p = x.shape(1);
  require(n >= 1, "X must have at least one row");
  require(side.shape(0) == n, "X and side must have the same number of rows");
  require(!weights || weights->shape(0) == n, "X and weights must have the same number of rows");
  require(!start || start->shape(0) == p + 1, "start must hold p coefficients and the intercept");
  require(l1 >= 0.0 && l2 >= 0.0 && box > 0.0 && tolerance >= 0.0, "penalties and tolerance must not be negative");
  for (size_t i = 0; i < n; ++i) require(side(i) == 1.0 || side(i) == -1.0, "side must hold -1 and 1");
  check_finite(x, "X must be finite");
  if (weights)
    for (size_t i = 0; i < n; ++i)
      require(std::isfinite((*weights)(i)) && (*weights)(i) >= 0.0, "weights must be finite and not negative");
  const LinearOptions options{margin_loss(loss), intercept, tolerance, max_steps};
  LinearFit fit;
  if (start) {
    fit.w.assign(start->data(), start->data() + p);
    fit.b = (*start)(p);
  }
  {
    const Released released;
    std::vector<double> columns = columns_of(x), of_row(n, 1.0);
    if (weights) of_row.assign(weights->data(), weights->data() + n);
    LinearSolver().solve({columns.data(), n, p, side.data(), of_row.data()}, {l1, l2, box}, options, fit);
  }
  return nb::make_tuple(array(std::move(fit.w)), fit.b, fit.objective, fit.steps, fit.converged);
}

using Models = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Rows with the leaf of each, in a tree given by the parent of each node.
RoutedRows node_rows(const Matrix& x, const Codes& y, const Doubles& weights, size_t n_classes, const Codes& leaf,
                     const Codes& parent) {
  const size_t n = x.shape(0), p = x.shape(1), nodes = parent.shape(0);
  require(n_classes >= 1 && nodes >= 1 && parent(0) == -1, "a tree must have a root and rows a class");
  check_finite_rows(x, y, weights, n_classes);
  require(leaf.shape(0) == n, "X and leaf must have the same number of rows");
  for (size_t i = 0; i < n; ++i)
    require(leaf(i) >= 0 && static_cast<size_t>(leaf(i)) < nodes, "leaf must hold numbers of nodes");
  for (size_t node = 1; node < nodes; ++node)
    require(parent(node) >= 0 && static_cast<size_t>(parent(node)) < node,
            "children must have larger numbers than their parent");
  return {x.data(), y.data(), weights.data(), leaf.data(), n, p, n_classes, parent.data(), nodes};
}

void check_models(const Models& models, const RoutedRows& rows) {
  require(models.shape(0) == rows.n_nodes && models.shape(1) == rows.n_classes && models.shape(2) == rows.p + 1,
          "models must have shape (n_nodes, n_classes, p + 1)");
}

nb::object fit_of_softmax(const Matrix& x, const Codes& y, const Doubles& weights, const Doubles& intercept,
                          double penalty, double tolerance) {
  const size_t n = x.shape(0), p = x.shape(1), n_classes = intercept.shape(0);
  require(n >= 1 && n_classes >= 1, "X must have at least one row, and intercept a class");
  require(penalty > 0.0 && tolerance >= 0.0, "penalty must be positive and tolerance not negative");
  check_finite_rows(x, y, weights, n_classes);
  check_finite(intercept, "intercept must be finite");
  Scores scores;
  {
    const Released released;
    std::vector<double> columns = columns_of(x), offset(n * n_classes);
    for (size_t k = 0; k < n_classes; ++k) std::fill_n(offset.data() + k * n, n, intercept(k));
    scores = SoftmaxSolver().solve({columns.data(), n, p, n_classes, y.data(), weights.data(), offset.data()}, penalty,
                                   tolerance);
  }
  return array(std::move(scores), {n_classes, p + 1});
}

nb::object models_of_nodes(const Matrix& x, const Codes& y, const Doubles& weights, size_t n_classes, const Codes& leaf,
                           const Codes& parent, const std::optional<double>& penalty, int steps, double tolerance,
                           const std::optional<Models>& start) {
  require(!penalty || *penalty > 0.0, "penalty must be positive");
  require(steps >= 0 && tolerance >= 0.0, "steps and tolerance must not be negative");
  const RoutedRows rows = node_rows(x, y, weights, n_classes, leaf, parent);
  if (start) check_models(*start, rows);
  std::vector<double> models = without_lock([&] {
    return node_models(rows, {!penalty, penalty.value_or(1.0), tolerance, steps}, data_of(start));
  });
  return array(std::move(models), {rows.n_nodes, n_classes, rows.p + 1});
}

nb::tuple losses_of_nodes(const Matrix& x, const Codes& y, const Doubles& weights, size_t n_classes, const Codes& leaf,
                          const Codes& parent, const Models& models) {
  const RoutedRows rows = node_rows(x, y, weights, n_classes, leaf, parent);
  check_models(models, rows);
  NodeLosses losses = without_lock([&] { return node_losses(rows, models.data()); });
  return nb::make_tuple(array(std::move(losses.wrong), {rows.n_nodes}),
                        array(std::move(losses.log_loss), {rows.n_nodes}));
}

nb::object errors_of_boosting(const Matrix& x, const Codes& y, const Doubles& weights, const Matrix& test_x,
                              const Codes& test_y, const Doubles& test_weights, size_t n_classes, int most,
                              int patience) {
  require(x.shape(0) >= 1 && test_x.shape(0) >= 1 && test_x.shape(1) == x.shape(1),
          "both must have rows of the same features");
  require(most >= 0 && patience >= 0, "most and patience must not be negative");
  const int32_t root = -1;
  const auto rows_of = [&](const Matrix& part, const Codes& codes, const Doubles& v) {
    check_finite_rows(part, codes, v, n_classes);
    return RoutedRows{part.data(), codes.data(), v.data(), nullptr, part.shape(0), part.shape(1), n_classes, &root, 1};
  };
  const RoutedRows training = rows_of(x, y, weights), test = rows_of(test_x, test_y, test_weights);
  std::vector<double> errors = without_lock([&] { return boosting_errors(training, test, most, patience); });
  return array(std::move(errors));
}

}  // namespace

void bind_linear(nb::module_& m) {
  m.def("linear_fit", &linear_fit, "X"_array, "side"_array, "weights"_maybe, "loss"_a = "logistic", "l1"_a = 0.0,
        "l2"_a = 0.0, "intercept"_a = true, "box"_a = 1e3, "tolerance"_a = 1e-9, "max_steps"_a = 200, "start"_maybe,
        "Plane w.x + b of least weighted loss ('logistic' or 'squared_hinge') plus l1 |w|_1 + l2 / 2 |w|_2^2, within "
        "|w_j| <= box. X (n, p) float64 C order, finite; side (n,) float64 of -1 and 1; weights (n,) or None; start "
        "(p + 1,) coefficients and intercept to begin with, or None. Returns (w, b, objective, steps, converged).");
  m.def(
      "softmax_fit", &fit_of_softmax, "X"_array, "y"_array, "weights"_array, "intercept"_array, "penalty"_a,
      "tolerance"_a = 1e-10,
      "Linear scores of the classes beside an intercept (C,) that is given: the least weighted log loss plus penalty / "
      "2 times the squares of all coefficients, intercepts among them. X (n, p) float64 C order, finite; y (n,) int32 "
      "codes; weights (n,) positive. Returns (C, p + 1), what is added to the intercept last.");
  m.def(
      "node_models", &models_of_nodes, "X"_array, "y"_array, "weights"_array, "n_classes"_a, "leaf"_array,
      "parent"_array, "penalty"_a.none() = nb::none(), "steps"_a = 0, "tolerance"_a = 1e-5, "start"_maybe,
      "Linear scores of the classes at every node of a tree, each starting from those of its parent, the root from the "
      "class shares. X (n, p) float64 C order, finite; y (n,) int32 codes; weights (n,) positive; leaf (n,) int32 of "
      "every row; parent (n_nodes,) int32, -1 at the root. What a node adds has a ridge `penalty`, or is `steps` of "
      "LogitBoost where penalty is None; a minimum is found to `tolerance` of the loss of a row, from "
      "`start`, the answer for another penalty, if there is one. Returns (n_nodes, "
      "n_classes, p + 1), the intercept last.");
  m.def(
      "node_losses", &losses_of_nodes, "X"_array, "y"_array, "weights"_array, "n_classes"_a, "leaf"_array,
      "parent"_array, "models"_array,
      "Misclassified weight and log loss of the model of every node on the rows that come through it. Arguments as of "
      "`node_models`, whose answer `models` is. Returns two arrays (n_nodes,).");
  m.def("boosting_errors", &errors_of_boosting, "X"_array, "y"_array, "weights"_array, "test_X"_array, "test_y"_array,
        "test_weights"_array, "n_classes"_a, "most"_a = 200, "patience"_a = 50,
        "Misclassified weight of test rows after 0, 1, ... steps of LogitBoost on training rows, until `most` steps or "
        "`patience` steps after the least.");
}

}  // namespace oblique
