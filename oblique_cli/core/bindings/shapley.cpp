// Python bindings of Shapley values.
#include "bindings/bindings.hpp"
#include "shapley/cubes.hpp"

namespace oblique {
namespace {

using Offsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A tree of sums that keeps its arrays alive.
class Game {
 public:
  Game(Codes left, Codes right, Doubles thresholds, Offsets split_start, Codes split_feature, Offsets leaf_start,
       Codes leaf_feature, Matrix intercepts, Offsets product_start, Codes product_feature, Matrix product_coef,
       Offsets sum_start, Doubles term_coef, Codes term_source, Codes term_lane, Codes slot_feature, Codes missing_left,
       size_t n_features)
      : left_(std::move(left)), right_(std::move(right)), split_feature_(std::move(split_feature)),
        leaf_feature_(std::move(leaf_feature)), product_feature_(std::move(product_feature)),
        term_source_(std::move(term_source)), term_lane_(std::move(term_lane)), slot_feature_(std::move(slot_feature)),
        missing_left_(std::move(missing_left)), thresholds_(std::move(thresholds)), term_coef_(std::move(term_coef)),
        split_start_(std::move(split_start)), leaf_start_(std::move(leaf_start)),
        product_start_(std::move(product_start)), sum_start_(std::move(sum_start)), intercepts_(std::move(intercepts)),
        product_coef_(std::move(product_coef)) {
    const size_t n = left_.shape(0);
    require(n >= 1 && right_.shape(0) == n && thresholds_.shape(0) == n && intercepts_.shape(0) == n &&
                missing_left_.shape(0) == n,
            "the arrays of a tree must all have one entry per node");
    check_offsets(split_start_, n, split_feature_.shape(0));
    check_offsets(leaf_start_, n, leaf_feature_.shape(0));
    check_offsets(product_start_, n, product_coef_.shape(0));
    require(product_feature_.shape(0) == 2 * product_coef_.shape(0) && product_coef_.shape(1) == intercepts_.shape(1),
            "every product must have two features, and a coefficient for each output");
    check_codes(product_feature_, n_features);
    check_sums(n);
    check_codes(slot_feature_, n_features);
    check_codes(split_feature_, n_features);
    check_codes(leaf_feature_, n_features);
    for (size_t node = 0; node < n; ++node) {
      if (left_(node) < 0) continue;
      for (const int32_t child : {left_(node), right_(node)})
        require(child > static_cast<int32_t>(node) && static_cast<size_t>(child) < n,
                "a child must have a larger number than its parent, below n_nodes");
    }
    tree_ = SumTree{n,
                    n_features,
                    intercepts_.shape(1),
                    left_.data(),
                    right_.data(),
                    thresholds_.data(),
                    split_start_.data(),
                    split_feature_.data(),
                    leaf_start_.data(),
                    leaf_feature_.data(),
                    intercepts_.data(),
                    product_start_.data(),
                    product_feature_.data(),
                    product_coef_.data(),
                    sum_start_.data(),
                    term_coef_.data(),
                    term_source_.data(),
                    term_lane_.data(),
                    slot_feature_.data(),
                    missing_left_.data(),
                    slot_feature_.shape(0)};
  }

  nb::object shapley(const Matrix& splits, const Matrix& leaves, const Matrix& slots, const Matrix& factors,
                     const Matrix& background_splits, const Matrix& background_leaves, const Matrix& background_slots,
                     const Matrix& background_factors, bool interactions, size_t limit, int n_threads) const {
    const SumRows rows = rows_of(splits, leaves, slots, factors),
                  background = rows_of(background_splits, background_leaves, background_slots, background_factors);
    const size_t n = rows.n, p = tree_.n_features, k = tree_.n_outputs;
    std::vector<double> out(n * p * (interactions ? p : 1) * k, 0.0);
    try {
      const Released released;
      shapley_values(tree_, rows, background, interactions, limit, n_threads, out.data());
    } catch (const TooManyCubes&) {
      PyErr_SetString(PyExc_OverflowError, "a row has more cubes than the limit");
      throw nb::python_error();
    }
    if (interactions) return array(std::move(out), {n, p, p, k});
    return array(std::move(out), {n, p, k});
  }

  nb::object values(const Matrix& splits, const Matrix& leaves, const Matrix& slots, const Matrix& factors) const {
    const SumRows rows = rows_of(splits, leaves, slots, factors);
    std::vector<double> out(rows.n * tree_.n_outputs, 0.0);
    without_lock([&] { sum_values(tree_, rows, out.data()); });
    return array(std::move(out), {rows.n, tree_.n_outputs});
  }

 private:
  static void check_offsets(const Offsets& start, size_t n, size_t entries) {
    require(start.shape(0) == n + 1 && start(0) == 0 && start(n) == static_cast<int64_t>(entries),
            "offsets must have one entry more than there are nodes, from 0 to the number of entries");
    for (size_t i = 0; i < n; ++i) require(start(i) <= start(i + 1), "offsets must rise");
  }

  // Sums of nodes and of rotated features, which take no rotated features themselves.
  void check_sums(size_t n_nodes) const {
    require(sum_start_.shape(0) > n_nodes, "every node must have a sum");
    const size_t n_sums = sum_start_.shape(0) - 1, n_terms = term_coef_.shape(0);
    check_offsets(sum_start_, n_sums, n_terms);
    require(term_source_.shape(0) == n_terms && term_lane_.shape(0) == n_terms,
            "every term must have a source and a lane");
    for (size_t t = 0; t < n_terms; ++t) {
      require(term_lane_(t) >= 0 && term_lane_(t) < 4, "lanes must be from 0 to 3");
      const int64_t source = term_source_(t);
      const bool in_a_node = static_cast<int64_t>(t) < sum_start_(n_nodes);
      require(source >= 0 ? source < static_cast<int64_t>(slot_feature_.shape(0))
                          : in_a_node && -1 - source < static_cast<int64_t>(n_sums - n_nodes),
              "the source of a term must be a slot or, for that of a node, a rotated feature");
    }
  }

  SumRows rows_of(const Matrix& splits, const Matrix& leaves, const Matrix& slots, const Matrix& factors) const {
    require(splits.shape(1) == split_feature_.shape(0) &&
                leaves.shape(1) == leaf_feature_.shape(0) * intercepts_.shape(1) &&
                slots.shape(1) == slot_feature_.shape(0) && leaves.shape(0) == splits.shape(0) &&
                slots.shape(0) == splits.shape(0) && factors.shape(0) == splits.shape(0) &&
                factors.shape(1) == product_feature_.shape(0),
            "rows must have a summand for every entry of the tree, and a value for every slot and factor");
    return {splits.shape(0), splits.data(), leaves.data(), slots.data(), factors.data()};
  }

  Codes left_, right_, split_feature_, leaf_feature_, product_feature_, term_source_, term_lane_, slot_feature_,
      missing_left_;
  Doubles thresholds_, term_coef_;
  Offsets split_start_, leaf_start_, product_start_, sum_start_;
  Matrix intercepts_, product_coef_;
  SumTree tree_;
};

}  // namespace

void bind_shapley(nb::module_& m) {
  nb::class_<Game>(m, "Game", "A tree whose splits and leaves are sums over features (core/shapley/cubes.hpp).")
      .def(nb::init<Codes, Codes, Doubles, Offsets, Codes, Offsets, Codes, Matrix, Offsets, Codes, Matrix, Offsets,
                    Doubles, Codes, Codes, Codes, Codes, size_t>(),
           "left"_array, "right"_array, "thresholds"_array, "split_start"_array, "split_feature"_array,
           "leaf_start"_array, "leaf_feature"_array, "intercepts"_array, "product_start"_array, "product_feature"_array,
           "product_coef"_array, "sum_start"_array, "term_coef"_array, "term_source"_array, "term_lane"_array,
           "slot_feature"_array, "missing_left"_array, "n_features"_a)
      .def("shapley", &Game::shapley, "splits"_array, "leaves"_array, "slots"_array, "factors"_array,
           "background_splits"_array, "background_leaves"_array, "background_slots"_array, "background_factors"_array,
           "interactions"_a = false, "limit"_a = SIZE_MAX, "n_threads"_a = 1,
           "Shapley values added up over the background rows, (n, p, K), or interaction indices, (n, p, p, K), with "
           "Shapley values on the diagonal; OverflowError where a row takes more steps than the limit.")
      .def("values", &Game::values, "splits"_array, "leaves"_array, "slots"_array, "factors"_array,
           "What the tree says of each row, (n, K).");
}

}  // namespace oblique
