// Python bindings of forests, and the plain arrays that a pickle stores.
#include "bindings/bindings.hpp"
#include "grow/boosting.hpp"

namespace oblique {
namespace {

template <class T>
std::vector<T> values_of(const nb::dict& state, const char* name) {
  return vector_of<T>(nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(state[name], false));
}

std::vector<FamilyChoice> choices(const nb::list& families) {
  std::vector<FamilyChoice> out;
  for (const nb::handle item : families) {
    const auto [name, options] = nb::cast<std::pair<std::string, nb::dict>>(item);
    const Family& family = family_of(name);
    out.push_back({&family, read_options(family, search_options(), options)});
  }
  return out;
}

void check_training(const Forest& forest, const Matrix& x) {
  require(x.shape(0) >= 1 && x.shape(0) < (size_t{1} << 31) && x.shape(1) == forest.n_features,
          "X must have rows, and the forest's columns");
}

void grow_forest(Forest& forest, const Matrix& x, const Codes& y, const std::optional<Doubles>& weights,
                 const nb::dict& params, size_t n_trees, int n_threads, const nb::list& families,
                 const std::vector<std::string>& without, const std::optional<Codes>& signs) {
  const size_t n = x.shape(0), p = x.shape(1);
  check_training(forest, x);
  check_rows(x, y, weights, forest.n_classes);
  ForestOptions options = forest_options(option_values("a forest", params), choices(families));
  options.without = without;
  options.signs = signs_of(signs, p, forest.n_classes).value_or(Signs());
  const Released released;
  TrainingRows data(x.data(), y.data(), data_of(weights), n, p, forest.n_classes, options.rotated(), options.ranked());
  forest.grow(data, options, n_trees, n_threads);
}

void grow_numbers(Forest& forest, const Matrix& x, const Matrix& y, const std::optional<Doubles>& weights,
                  const nb::dict& params, size_t n_trees, int n_threads, const nb::list& families, size_t max_bins,
                  double min_leaf) {
  const size_t n = x.shape(0), p = x.shape(1);
  check_training(forest, x);
  require(forest.n_classes == 1, "a forest of numbers has one class");
  require(max_bins >= 2 && max_bins <= 256, "max_bins must be from 2 to 256");
  require(y.shape(0) >= 1 && y.shape(1) == n,
          "y must have a row for each output, and in it a number for each row of X");
  require(!weights || weights->shape(0) == n, "X and weights must have the same number of rows");
  const ForestOptions options = forest_options(option_values("a forest", params), choices(families));
  require(!options.families.empty(), "a forest of numbers needs families");
  const Released released;
  const std::vector<int32_t> one_class(n, 0);
  TrainingRows data(x.data(), one_class.data(), data_of(weights), n, p, 1, std::nullopt, true);
  data.targets.assign(y.data(), y.data() + y.size());
  forest.grow_numbers(data, options, max_bins, min_leaf, n_trees, n_threads);
}

BoostingOptions boosting_options(const nb::dict& boosting) {
  const Options how("boosting",
                    {integer("n_trees"), number("learning_rate"), number("l2"), number("min_weight"),
                     integer("patience"), number("tolerance"), integer("max_bins"), integer("most_terms")},
                    option_values("boosting", boosting));
  require(how.count("max_bins") <= 256, "max_bins must be at most 256");
  return {how.count("n_trees"),  how.number("learning_rate"), how.number("l2"),      how.number("min_weight"),
          how.count("patience"), how.number("tolerance"),     how.count("max_bins"), how.count("most_terms")};
}

ForestOptions options_of_boosting(const Forest& forest, const Matrix& x, const Matrix& kept_x, const nb::dict& params,
                                  const nb::list& families) {
  check_training(forest, x);
  require(kept_x.shape(1) == x.shape(1), "X must have rows, and the forest's columns");
  require(forest.trees.empty(), "boosting starts with an empty forest");
  ForestOptions options = forest_options(option_values("a forest", params), choices(families));
  require(!options.families.empty(), "boosting needs families");
  return options;
}

nb::dict as_dict(Boosted&& boosted) {
  nb::dict out;
  const size_t leaves = boosted.leaf_values.size() / boosted.width;
  out["baseline"] = array(std::move(boosted.baseline), {boosted.n_scores});
  out["leaf_values"] = array(std::move(boosted.leaf_values), {leaves, boosted.width});
  out["training_loss"] = array(std::move(boosted.training_loss));
  out["validation_loss"] = array(std::move(boosted.validation_loss));
  return out;
}

nb::dict boost_forest(Forest& forest, const Matrix& x, const Codes& y, const std::optional<Doubles>& weights,
                      const Matrix& kept_x, const Codes& kept_y, const std::optional<Doubles>& kept_weights,
                      const nb::dict& params, const nb::list& families, const nb::dict& boosting,
                      const std::optional<Matrix>& start) {
  const ForestOptions options = options_of_boosting(forest, x, kept_x, params, families);
  check_rows(x, y, weights, forest.n_classes);
  check_rows(kept_x, kept_y, kept_weights, forest.n_classes);
  const BoostingOptions how = boosting_options(boosting);
  require(!start || (start->shape(0) == x.shape(0) && start->shape(1) == scores_of(forest.n_classes)),
          "start must have a row for each of X, and a column for each score");
  const LabeledRows rows{{x.data(), data_of(weights), x.shape(0)}, y.data(), data_of(start)};
  const LabeledRows validation{{kept_x.data(), data_of(kept_weights), kept_x.shape(0)}, kept_y.data()};
  return as_dict(without_lock([&] { return boost(forest, rows, validation, options, how); }));
}

nb::dict boost_numbers(Forest& forest, const Matrix& x, const Doubles& y, const std::optional<Doubles>& weights,
                       const Matrix& kept_x, const Doubles& kept_y, const std::optional<Doubles>& kept_weights,
                       const nb::dict& params, const nb::list& families, const nb::dict& boosting, bool squared,
                       double quantile, bool linear) {
  const ForestOptions options = options_of_boosting(forest, x, kept_x, params, families);
  require(forest.n_classes == 1, "a forest of numbers has one class");
  check_lengths(x, y, weights);
  check_lengths(kept_x, kept_y, kept_weights);
  const BoostingOptions how = boosting_options(boosting);
  require(how.max_bins >= 2, "boosting of numbers needs bins");
  require(quantile > 0.0 && quantile < 1.0, "quantile must be between 0 and 1");
  require(squared || !linear, "linear leaves need the squared loss");
  const NumberedRows rows{{x.data(), data_of(weights), x.shape(0)}, y.data()};
  const NumberedRows validation{{kept_x.data(), data_of(kept_weights), kept_x.shape(0)}, kept_y.data()};
  return as_dict(without_lock([&] {
    return boost(forest, rows, validation, options, how, {squared, quantile, linear});
  }));
}

void check_columns(const Forest& forest, const Matrix& x) {
  require(x.shape(1) == forest.n_features, "X must have as many columns as the forest has features");
}

void check_leaves(const Forest& forest, const Matrix& x, const Matrix& values) {
  check_columns(forest, x);
  size_t leaves = 0;
  for (const ForestTree& tree : forest.trees) leaves += tree.n_leaves();
  require(values.shape(0) == leaves, "values must have a row for each leaf of the forest");
}

nb::object model_sums(const Forest& forest, const Matrix& x, const Matrix& models, int n_threads) {
  check_leaves(forest, x, models);
  require(models.shape(1) == forest.n_features + 3, "models must have a column for each feature and three more");
  for (size_t leaf = 0; leaf < models.shape(0); ++leaf)
    require(models(leaf, forest.n_features + 1) <= models(leaf, forest.n_features + 2), "limits must be in order");
  const size_t n = x.shape(0);
  std::vector<double> out(n, 0.0);
  without_lock([&] { forest.sum_models(x.data(), n, models.data(), n_threads, out.data()); });
  return array(std::move(out));
}

nb::object sums(const Forest& forest, const Matrix& x, const Matrix& values, int n_threads) {
  check_leaves(forest, x, values);
  const size_t n = x.shape(0), width = values.shape(1);
  std::vector<double> out(n * width, 0.0);
  without_lock([&] { forest.sum(x.data(), n, values.data(), width, n_threads, out.data()); });
  return array(std::move(out), {n, width});
}

template <class Vote>
nb::object votes(const Forest& forest, const Matrix& x, Vote vote) {
  check_columns(forest, x);
  const size_t n = x.shape(0);
  std::vector<double> out(n * forest.n_classes, 0.0);
  without_lock([&] { vote(x.data(), n, out.data()); });
  return array(std::move(out), {n, forest.n_classes});
}

nb::object leaves_of(const Forest& forest, const Matrix& x, int n_threads) {
  check_columns(forest, x);
  const size_t n = x.shape(0);
  std::vector<int32_t> leaves(n * forest.trees.size());
  without_lock([&] { forest.apply(x.data(), n, n_threads, leaves.data()); });
  return array(std::move(leaves), {n, forest.trees.size()});
}

nb::object importances(const Forest& forest) {
  std::vector<double> out;
  for (const ForestTree& tree : forest.trees) out.insert(out.end(), tree.importance.begin(), tree.importance.end());
  return array(std::move(out), {forest.trees.size(), forest.n_features});
}

template <class Of>
nb::object per_tree(const Forest& forest, Of of) {
  std::vector<int64_t> out;
  for (const ForestTree& tree : forest.trees) out.push_back(static_cast<int64_t>(of(tree)));
  return array(std::move(out), {forest.trees.size()});
}

// Calls visit(name, vector) for the vectors of a tree beside its nodes and terms.
template <class Tree, class Visit>
void each_vector(Tree& tree, const Visit& visit) {
  visit("label", tree.label);
  visit("leaf_start", tree.leaf_start);
  visit("leaf_class", tree.leaf_class);
  visit("leaf_weight", tree.leaf_weight);
  visit("rotation_start", tree.rotation.start);
  visit("rotation_feature", tree.rotation.feature);
  visit("rotation_coef", tree.rotation.coef);
  visit("importance", tree.importance);
}

// The trees as plain arrays; `restore` rebuilds the forest from them.
nb::list state(const Forest& forest) {
  nb::list out;
  for (const ForestTree& tree : forest.trees) {
    nb::dict d;
    d["threshold"] = column_of(tree.nodes, &SparsePlanes::Node::threshold);
    d["left"] = column_of(tree.nodes, &SparsePlanes::Node::left);
    d["term"] = column_of(tree.nodes, &SparsePlanes::Node::term);
    d["width"] = tree.width;
    d["feature"] = column_of(tree.terms, &SparsePlanes::Term::feature);
    d["coef"] = column_of(tree.terms, &SparsePlanes::Term::coef);
    each_vector(tree, [&]<class T>(const char* name, const std::vector<T>& values) {
      d[name] = array(std::vector<T>(values));
    });
    d["depth"] = tree.depth;
    out.append(d);
  }
  return out;
}

// Refuses indices outside their arrays, so that a damaged pickle cannot cause a read elsewhere in memory.
void check(const ForestTree& tree, const Forest& forest) {
  const size_t n = tree.size(), leaves = tree.n_leaves();
  const auto within = [](int64_t value, size_t limit) { return value >= 0 && static_cast<size_t>(value) < limit; };
  const auto damaged = [](bool holds) { require(holds, "the arrays do not form a forest"); };
  damaged(n >= 1 && tree.importance.size() == forest.n_features);
  damaged(tree.leaf_start.size() == leaves + 1 && leaves >= 1 && tree.leaf_start[0] == 0 &&
          tree.leaf_start[leaves] == tree.leaf_class.size() && tree.leaf_class.size() == tree.leaf_weight.size());
  for (size_t i = 0; i < leaves; ++i)
    damaged(tree.leaf_start[i] < tree.leaf_start[i + 1] && within(tree.label[i], forest.n_classes));
  for (const int32_t code : tree.leaf_class) damaged(within(code, forest.n_classes));
  const Rotation& rotation = tree.rotation;
  damaged(rotation.feature.size() == rotation.coef.size());
  size_t columns = forest.n_features;
  if (rotation.rotates()) {
    columns = rotation.size();
    damaged(rotation.start[0] == 0 && static_cast<size_t>(rotation.start.back()) == rotation.feature.size());
    for (size_t q = 0; q < columns; ++q) damaged(rotation.start[q] < rotation.start[q + 1]);
    for (const int32_t j : rotation.feature) damaged(within(j, forest.n_features));
  } else {
    damaged(rotation.feature.empty());
  }
  damaged(tree.width == 0 ? tree.terms.empty() : tree.terms.size() % tree.width == 0);
  for (const SparsePlanes::Term& term : tree.terms) damaged(within(term.feature, columns));
  for (size_t i = 0; i < n; ++i) {
    const SparsePlanes::Node& node = tree.nodes[i];
    if (node.left < 0) {
      damaged(within(~node.left, leaves));
      continue;
    }
    damaged(static_cast<size_t>(node.left) > i && static_cast<size_t>(node.left) + 1 < n);
    damaged(node.term < 0 ? within(~node.term, columns) : within(node.term, tree.n_oblique()));
  }
}

void restore(Forest& forest, const nb::list& trees) {
  std::vector<ForestTree> out;
  for (const nb::handle item : trees) {
    const nb::dict d = nb::cast<nb::dict>(item);
    ForestTree tree;
    const auto threshold = values_of<double>(d, "threshold");
    const auto left = values_of<int32_t>(d, "left"), term = values_of<int32_t>(d, "term");
    const auto feature = values_of<int32_t>(d, "feature");
    const auto coef = values_of<double>(d, "coef");
    require(left.size() == threshold.size() && term.size() == left.size() && feature.size() == coef.size(),
            "the arrays do not form a forest");
    for (size_t i = 0; i < left.size(); ++i) tree.nodes.push_back({threshold[i], left[i], term[i]});
    for (size_t i = 0; i < coef.size(); ++i) tree.terms.push_back({coef[i], feature[i]});
    tree.width = nb::cast<size_t>(d["width"]);
    each_vector(tree, [&]<class T>(const char* name, std::vector<T>& into) { into = values_of<T>(d, name); });
    tree.depth = nb::cast<int32_t>(d["depth"]);
    check(tree, forest);
    out.push_back(std::move(tree));
  }
  forest.trees = std::move(out);
}

}  // namespace

void bind_forest(nb::module_& m) {
  m.def(
      "axis_tactics", [] { return std::vector<std::string>(AxisSearch::kTactics.begin(), AxisSearch::kTactics.end()); },
      "Names of the tactics of the search along axes.");
  nb::class_<Forest>(m, "Forest", "Trees of one forest. Tree number t depends on the data, the seed and t alone.")
      .def(
          "__init__",
          [](Forest* forest, size_t n_features, size_t n_classes, uint64_t seed, size_t first_number) {
            new (forest) Forest{n_features, n_classes, seed, {}, first_number};
          },
          "n_features"_a, "n_classes"_a, "seed"_a, "first_number"_a = 0,
          "first_number is that of the first tree; above 0 for a part of a forest, whose `state` is put together with "
          "those of other parts.")
      .def("grow", &grow_forest, "X"_array, "y"_array, "weights"_array.none(), "options"_a, "n_trees"_a, "n_threads"_a,
           "families"_a = nb::list(), "without"_a = std::vector<std::string>(), "signs"_maybe,
           "Add trees. X (n, p) float64 C order, finite; y (n,) int32 codes; weights (n,) float64, positive, or None, "
           "smallest 1 with families, which are (name, options) as `families` lists them, without those of growth. "
           "without: tactics of the search along axes to leave out, which changes no tree. signs as in the growth of "
           "a tree, for splits by families and along axes.")
      .def("boost", &boost_forest, "X"_array, "y"_array, "weights"_array.none(), "kept_X"_array, "kept_y"_array,
           "kept_weights"_array.none(), "options"_a, "families"_a, "boosting"_a, "start"_maybe,
           "Fill an empty forest by gradient boosting; rows as in `grow`, those kept for early stopping possibly "
           "none. start (n, K): scores of the rows to go on from, which those for early stopping do not have. Returns "
           "baseline (K,), leaf_values (all leaves, K) and the mean log loss after every round, K = 1 for two classes.")
      .def("grow_numbers", &grow_numbers, "X"_array, "y"_array, "weights"_array.none(), "options"_a, "n_trees"_a,
           "n_threads"_a, "families"_a, "max_bins"_a, "min_leaf"_a,
           "Add trees of numbers y (outputs, n) float64 to a forest of one class; X, weights, options and families as "
           "in `grow`. A cut lowers the sum of squares over all outputs. min_leaf: least weight of a child.")
      .def("boost_numbers", &boost_numbers, "X"_array, "y"_array, "weights"_array.none(), "kept_X"_array,
           "kept_y"_array, "kept_weights"_array.none(), "options"_a, "families"_a, "boosting"_a, "squared"_a,
           "quantile"_a, "linear"_a = false,
           "The same as `boost` for numbers y (n,) float64 and a forest of one class: the squared loss, or that of a "
           "quantile. linear: leaf_values are ridge regressions, as in `model_sums`, for the squared loss.")
      .def("model_sums", &model_sums, "X"_array, "models"_array, "n_threads"_a,
           "Sums over the trees of what linear models of a row's leaves say, (n,). models (all leaves, p + 3): "
           "coefficients, intercept, and the limits that what a leaf says is cut off at.")
      .def("sums", &sums, "X"_array, "values"_array, "n_threads"_a,
           "Sums over the trees of the values of a row's leaves, (n, K). values (all leaves, K).")
      .def(
          "votes",
          [](const Forest& forest, const Matrix& x, bool shares, int n_threads) {
            return votes(forest, x, [&](const double* rows, size_t n, double* out) {
              forest.vote(rows, n, shares, n_threads, out);
            });
          },
          "X"_array, "shares"_a, "n_threads"_a,
          "Sum over the trees of the votes for each class, (n, C): a whole vote for the label of the leaf, or its "
          "shares.")
      .def(
          "out_of_bag_votes",
          [](const Forest& forest, const Matrix& x, bool shares, int n_threads, bool bootstrap, size_t max_samples) {
            return votes(forest, x, [&](const double* rows, size_t n, double* out) {
              forest.vote_out_of_bag(rows, n, {bootstrap, max_samples}, shares, n_threads, out);
            });
          },
          "X"_array, "shares"_a, "n_threads"_a, "bootstrap"_a = true, "max_samples"_a = 0,
          "The same for the training rows, by the trees that did not draw them. X as it was given to `grow`, and how "
          "trees drew.")
      .def(
          "draws",
          [](const Forest& forest, size_t n, size_t more, bool bootstrap, size_t max_samples) {
            return array(forest.draws(n, more, {bootstrap, max_samples}), {more, n});
          },
          "n"_a, "more"_a, "bootstrap"_a, "max_samples"_a,
          "How often each of n rows is drawn for each of the next trees, (more, n) uint32.")
      .def("apply", &leaves_of, "X"_array, "n_threads"_a, "Leaf of each row in each tree, (n, n_trees) int32.")
      .def("importances", &importances, "Reduction in Gini impurity credited to each feature, (n_trees, p).")
      .def(
          "n_nodes", [](const Forest& f) { return per_tree(f, [](const ForestTree& t) { return t.size(); }); },
          "Number of nodes of each tree, (n_trees,) int64.")
      .def(
          "depths", [](const Forest& f) { return per_tree(f, [](const ForestTree& t) { return t.depth; }); },
          "Depth of each tree, (n_trees,) int64.")
      .def(
          "n_oblique", [](const Forest& f) { return per_tree(f, [](const ForestTree& t) { return t.n_oblique(); }); },
          "Number of oblique splits of each tree, (n_trees,) int64.")
      .def("state", &state, "The trees as a list of dicts of plain arrays.")
      .def("restore", &restore, "trees"_a,
           "Replace the trees by those of `state`; ValueError if the arrays do not form a forest.")
      .def("__len__", [](const Forest& f) { return f.trees.size(); })
      .def_ro("seed", &Forest::seed)
      .def_ro("first_number", &Forest::first_number)
      .def_prop_ro(
          "finished", [](const Forest& f) { return f.finished.load(); },
          "Trees that the growth under way, or the last one, has made. Any thread may ask meanwhile.")
      .def("__getstate__",
           [](const Forest& f) { return nb::make_tuple(f.n_features, f.n_classes, f.seed, state(f), f.first_number); })
      .def("__setstate__", [](Forest& f, const nb::tuple& saved) {
        new (&f) Forest{nb::cast<size_t>(saved[0]),
                        nb::cast<size_t>(saved[1]),
                        nb::cast<uint64_t>(saved[2]),
                        {},
                        nb::cast<size_t>(saved[4])};
        restore(f, nb::cast<nb::list>(saved[3]));
      });
}

}  // namespace oblique
