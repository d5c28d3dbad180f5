// The Python face of Shapley values.
#include "bindings/bindings.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/release.hpp"
#include "shapley/cubes.hpp"

namespace oblique {
namespace {

using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A tree of sums with its arrays kept alive.
class Game {
 public:
  Game(Codes left, Codes right, Doubles thresholds, Offsets split_start, Codes split_feature, Codes split_lane,
       Offsets leaf_start, Codes leaf_feature, Matrix intercepts, std::size_t n_features)
      : left_(std::move(left)), right_(std::move(right)), split_feature_(std::move(split_feature)),
        split_lane_(std::move(split_lane)), leaf_feature_(std::move(leaf_feature)), thresholds_(std::move(thresholds)),
        split_start_(std::move(split_start)), leaf_start_(std::move(leaf_start)), intercepts_(std::move(intercepts)) {
    const std::size_t n = left_.shape(0);
    require(n >= 1 && right_.shape(0) == n && thresholds_.shape(0) == n && intercepts_.shape(0) == n,
            "the arrays of a tree must all have one entry per node");
    check_offsets(split_start_, n, split_feature_.shape(0));
    check_offsets(leaf_start_, n, leaf_feature_.shape(0));
    require(split_lane_.shape(0) == split_feature_.shape(0), "every entry of a split must have a lane");
    for (std::size_t e = 0; e < split_lane_.shape(0); ++e)
      require(split_lane_(e) >= 0 && split_lane_(e) < 4, "lanes must be from 0 to 3");
    check_codes(split_feature_, n_features);
    check_codes(leaf_feature_, n_features);
    for (std::size_t node = 0; node < n; ++node) {
      if (left_(node) < 0) continue;
      for (const std::int32_t child : {left_(node), right_(node)})
        require(child > static_cast<std::int32_t>(node) && static_cast<std::size_t>(child) < n,
                "a child must have a larger number than its parent, below n_nodes");
    }
    tree_ = {n,
             n_features,
             intercepts_.shape(1),
             left_.data(),
             right_.data(),
             thresholds_.data(),
             split_start_.data(),
             split_feature_.data(),
             split_lane_.data(),
             leaf_start_.data(),
             leaf_feature_.data(),
             intercepts_.data()};
  }

  nb::object shapley(const Matrix& splits, const Matrix& leaves, const Matrix& background_splits,
                     const Matrix& background_leaves, bool interactions, std::size_t limit, int n_threads) const {
    const SumRows rows = rows_of(splits, leaves), background = rows_of(background_splits, background_leaves);
    const std::size_t n = rows.n, p = tree_.n_features, k = tree_.n_outputs;
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

  nb::object values(const Matrix& splits, const Matrix& leaves) const {
    const SumRows rows = rows_of(splits, leaves);
    std::vector<double> out(rows.n * tree_.n_outputs, 0.0);
    {
      const Released released;
      sum_values(tree_, rows, out.data());
    }
    return array(std::move(out), {rows.n, tree_.n_outputs});
  }

 private:
  static void check_offsets(const Offsets& start, std::size_t n, std::size_t entries) {
    require(start.shape(0) == n + 1 && start(0) == 0 && start(n) == static_cast<std::int64_t>(entries),
            "offsets must have one entry more than there are nodes, from 0 to the number of entries");
    for (std::size_t i = 0; i < n; ++i) require(start(i) <= start(i + 1), "offsets must rise");
  }

  SumRows rows_of(const Matrix& splits, const Matrix& leaves) const {
    require(splits.shape(1) == split_feature_.shape(0) &&
                leaves.shape(1) == leaf_feature_.shape(0) * intercepts_.shape(1) && leaves.shape(0) == splits.shape(0),
            "rows must have a summand for every entry of the tree");
    return {splits.shape(0), splits.data(), leaves.data()};
  }

  Codes left_, right_, split_feature_, split_lane_, leaf_feature_;
  Doubles thresholds_;
  Offsets split_start_, leaf_start_;
  Matrix intercepts_;
  SumTree tree_;
};

}  // namespace

void bind_shapley(nb::module_& m) {
  nb::class_<Game>(m, "Game", "A tree whose splits and leaves are sums over features (core/shapley/cubes.hpp).")
      .def(nb::init<Codes, Codes, Doubles, Offsets, Codes, Codes, Offsets, Codes, Matrix, std::size_t>(),
           "left"_a.noconvert(), "right"_a.noconvert(), "thresholds"_a.noconvert(), "split_start"_a.noconvert(),
           "split_feature"_a.noconvert(), "split_lane"_a.noconvert(), "leaf_start"_a.noconvert(),
           "leaf_feature"_a.noconvert(), "intercepts"_a.noconvert(), "n_features"_a)
      .def("shapley", &Game::shapley, "splits"_a.noconvert(), "leaves"_a.noconvert(), "background_splits"_a.noconvert(),
           "background_leaves"_a.noconvert(), "interactions"_a = false, "limit"_a = SIZE_MAX, "n_threads"_a = 1,
           "Shapley values added up over the background rows, (n, p, K), or interaction indices, (n, p, p, K), with "
           "Shapley values on the diagonal; OverflowError where a row takes more steps than the limit.")
      .def("values", &Game::values, "splits"_a.noconvert(), "leaves"_a.noconvert(),
           "What the tree says of each row, (n, K).");
}

}  // namespace oblique
