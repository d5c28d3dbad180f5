// Python bindings of tree alternating optimization.
#include "bindings/bindings.hpp"
#include "refinement/alternation.hpp"
#include "refinement/reduced_problems.hpp"

namespace oblique {
namespace {

using FlagMatrix = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_tree(const Codes& left, const Codes& right, const Codes& labels, size_t n_classes) {
  const size_t nodes = left.shape(0);
  const auto last = static_cast<int32_t>(nodes);
  for (size_t node = 0; node < nodes; ++node) {
    require((left(node) < 0) == (right(node) < 0), "a node must have two children or none");
    if (left(node) < 0) {
      require(labels(node) >= 0 && static_cast<size_t>(labels(node)) < n_classes, "labels must be class codes");
      continue;
    }
    const auto here = static_cast<int32_t>(node);
    require(
        left(node) > here && right(node) > here && left(node) < last && right(node) < last && left(node) != right(node),
        "children must have larger numbers than their parent");
  }
}

nb::dict refine_tree(const Matrix& x, const std::optional<FlagMatrix>& absent, const Codes& y, const Doubles& weights,
                     size_t n_classes, const Codes& left, const Codes& right, const Matrix& w, const Doubles& b,
                     const Flags& missing_left, const Codes& labels, double penalty, const std::string& surrogate,
                     int max_sweeps, double tolerance, bool split_leaves, int n_threads,
                     const std::optional<Matrix>& leaf_prior, const std::optional<Matrix>& leaf_x, double leaf_penalty,
                     const std::optional<Matrix>& models, size_t max_terms, const std::optional<Codes>& feature_of,
                     const std::optional<Matrix>& numbers, ReducedProblems* problems) {
  const size_t n = x.shape(0), p = x.shape(1), nodes = left.shape(0);
  require(n >= 1 && nodes >= 1 && n_classes >= 1, "X must have at least one row and the tree a node");
  check_rows(x, y, weights, n_classes);
  require(!absent || (absent->shape(0) == n && absent->shape(1) == p), "absent must have the shape of X");
  require(right.shape(0) == nodes && w.shape(0) == nodes && w.shape(1) == p && b.shape(0) == nodes &&
              missing_left.shape(0) == nodes && labels.shape(0) == nodes,
          "arrays of the tree must have one entry per node");
  require(surrogate == "logistic" || surrogate == "squared_hinge", "surrogate must be 'logistic' or 'squared_hinge'");
  require(penalty >= 0.0 && tolerance >= 0.0 && n_threads >= 1, "penalty and tolerance must not be negative");
  check_tree(left, right, labels, n_classes);
  RefinedTree tree;
  tree.n_features = p;
  tree.left = vector_of<int32_t>(left);
  tree.right = vector_of<int32_t>(right);
  tree.weights = vector_of(w);
  // A row goes left if w.x + b <= 0, which equals w.x <= -b to the bit.
  for (size_t node = 0; node < nodes; ++node) tree.thresholds.push_back(-b(node));
  tree.missing_left = vector_of<uint8_t>(missing_left);
  tree.label = vector_of<int32_t>(labels);
  const RefinementRows rows{x.data(), data_of(absent), y.data(), weights.data(), n, p, n_classes};
  const MarginLoss loss = surrogate == "logistic" ? MarginLoss::logistic : MarginLoss::squared_hinge;
  RefinementOptions options{penalty, loss, max_sweeps, tolerance, split_leaves, n_threads};
  require(max_terms == 0 || (feature_of && feature_of->shape(0) == p), "max_terms needs the feature of every column");
  options.max_terms = max_terms;
  if (feature_of) options.feature_of = feature_of->data();
  LeafLogistic leaves;
  LeafNumbers means;
  size_t size = 0;  // of a model
  require(!((leaf_prior || numbers) && split_leaves), "leaves with models are not divided");
  require(!(leaf_prior && numbers), "leaves have models of classes or means of numbers");
  if (leaf_prior) {
    require(leaf_x && leaf_x->shape(0) == n && leaf_penalty > 0.0,
            "models of leaves need columns of all rows and a positive penalty");
    require(leaf_prior->shape(0) == n_classes && leaf_prior->shape(1) == leaf_x->shape(1) + 1,
            "leaf_prior must hold the coefficients of every class and its intercept");
    check_finite(*leaf_x, "leaf_x must be finite");
    leaves = {leaf_x->data(), leaf_x->shape(1), vector_of(*leaf_prior), leaf_penalty};
    options.leaves = &leaves;
    size = leaf_prior->size();
  }
  if (numbers) {
    require(numbers->shape(0) == n && numbers->shape(1) >= 1, "numbers must have a row for each row of X");
    check_finite(*numbers, "numbers must be finite");
    means = {numbers->data(), numbers->shape(1)};
    options.numbers = &means;
    size = means.k;
  }
  if (models && size > 0) {
    require(models->shape(0) == nodes && models->shape(1) == size, "models must hold the scores of every node");
    for (size_t node = 0; node < nodes; ++node)
      tree.models.emplace_back(models->data() + node * size, models->data() + (node + 1) * size);
  }
  ReducedProblems of_run;
  Refinement done = without_lock([&] { return refine(rows, options, tree, problems ? *problems : of_run); });
  const size_t grown = tree.size();
  nb::dict out;
  out["left"] = array(std::move(tree.left));
  out["right"] = array(std::move(tree.right));
  out["w"] = array(std::move(tree.weights), {grown, p});
  for (double& threshold : tree.thresholds) threshold = -threshold;
  out["b"] = array(std::move(tree.thresholds));
  out["missing_left"] = array(std::move(tree.missing_left));
  out["labels"] = array(std::move(tree.label));
  if (size > 0) {
    Scores all;
    for (Scores& each : tree.models) {
      each.resize(size, 0.0);  // empty for a node that was replaced by its child
      all.insert(all.end(), each.begin(), each.end());
    }
    out["models"] = array(std::move(all), {grown, size});
  }
  out["sweep"] = column_of(done.steps, &RefinementStep::sweep);
  out["node"] = column_of(done.steps, &RefinementStep::node);
  out["objective"] = column_of(done.steps, &RefinementStep::objective);
  out["before"] = done.before;
  out["after"] = done.after;
  out["sweeps"] = done.sweeps;
  out["converged"] = done.converged;
  return out;
}

}  // namespace

void bind_refinement(nb::module_& m) {
  nb::class_<ReducedProblems>(m, "ReducedProblems",
                              "Searches for planes that runs of `refine` on the same rows have in common.")
      .def(nb::init<>());
  m.def(
      "refine", &refine_tree, "X"_array, "absent"_array.none(), "y"_array, "weights"_array, "n_classes"_a, "left"_array,
      "right"_array, "w"_array, "b"_array, "missing_left"_array, "labels"_array, "penalty"_a,
      "surrogate"_a = "logistic", "max_sweeps"_a = 40, "tolerance"_a = 1e-6, "split_leaves"_a = false,
      "n_threads"_a = 1, "leaf_prior"_maybe, "leaf_x"_maybe, "leaf_penalty"_a = 1.0, "models"_maybe, "max_terms"_a = 0,
      "feature_of"_maybe, "numbers"_maybe, "problems"_a.none() = nb::none(),
      "Tree alternating optimization. X (n, p) float64 C order, standardized, 0 where absent (n, p) says that a "
      "value is missing; y (n,) int32 codes; weights (n,) positive. The tree: children (-1 at leaves), w (nodes, p) "
      "of unit length or 0, b, missing_left, labels of leaves; a row goes left if w.x + b <= 0. Returns the arrays "
      "of the refined tree, in which nodes that are nobody's children are left over, models of leaves (beside "
      "leaf_prior, or means of numbers (n, k), of variances near 1, which leaves then answer) if there are any, the "
      "objective after every step, and whether no step lowers it any more. problems: shared by runs on the same rows; "
      "the tree is the same without.");
}

}  // namespace oblique
