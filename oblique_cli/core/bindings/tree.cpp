// Python bindings of a grown tree.
#include "bindings/bindings.hpp"
#include "tree/traverse.hpp"

namespace oblique {
namespace {

// A grown tree that keeps its arrays alive.
class Walker {
 public:
  Walker(Codes left, Codes right, Matrix weights, Doubles thresholds, const std::optional<Codes>& levels,
         std::optional<Matrix> level_scores, std::optional<Flags> missing_left)
      : left_(std::move(left)), right_(std::move(right)), weights_(std::move(weights)),
        thresholds_(std::move(thresholds)), scores_(std::move(level_scores)), missing_left_(std::move(missing_left)),
        levels_(levels_of(levels, weights_.shape(1))) {
    const size_t nodes = left_.shape(0), p = weights_.shape(1);
    require(nodes >= 1 && right_.shape(0) == nodes && weights_.shape(0) == nodes && thresholds_.shape(0) == nodes,
            "the arrays of a tree must all have one entry per node");
    require(!missing_left_ || missing_left_->shape(0) == nodes, "missing_left must have one entry per node");
    require(!levels_.any() || (scores_ && scores_->shape(0) == nodes && scores_->shape(1) == levels_.width),
            "level_scores must have a row per node and a column per level");
    std::vector<char> reached(nodes, 0);
    axis_.assign(nodes, -1);
    for (size_t node = 0; node < nodes; ++node) {
      const int32_t l = left_(node), r = right_(node);
      if (l < 0 && r < 0) continue;
      // A child has a larger index than its parent and exactly one parent: no cycle, no index outside the arrays.
      for (const int32_t child : {l, r}) {
        require(child > static_cast<int32_t>(node) && static_cast<size_t>(child) < nodes && !reached[child],
                "a child must have a larger number than its parent, below n_nodes, and one parent only");
        reached[child] = 1;
      }
      int used = 0, feature = -1;
      for (size_t j = 0; j < p; ++j) {
        if (weights_(node, j) == 0.0) continue;
        ++used;
        feature = weights_(node, j) == 1.0 ? static_cast<int>(j) : -1;
      }
      if (used == 1) axis_[node] = feature;
    }
    view_ = FlatTree{nodes,
                     p,
                     left_.data(),
                     right_.data(),
                     weights_.data(),
                     thresholds_.data(),
                     axis_.data(),
                     &levels_,
                     levels_.any() ? scores_->data() : nullptr,
                     data_of(missing_left_)};
  }

  // T : double or float
  // only_finite : whether to return None if a row is not finite
  template <class T>
  nb::object apply_rows(const Rows<T>& x, int n_threads, size_t block_rows, bool only_finite) const {
    require(x.shape(1) == view_.n_features, "X must have as many columns as the tree has features");
    const size_t n = x.shape(0);
    std::vector<int32_t> leaf(n);
    bool finite = true;
    {
      const Released released;
      if (levels_.any() || view_.n_nodes == 1 || (block_rows == 0 && 4 * n < view_.n_nodes)) {
        apply(view_, x.data(), n, leaf.data());
        if (only_finite)
          finite = std::all_of(x.data(), x.data() + x.size(), [](T value) { return std::isfinite(value); });
      } else {
        std::call_once(laid_out_, [this]() { walk_.emplace(view_); });
        finite = walk_->leaves_of(x.data(), n, n_threads, block_rows, leaf.data());
      }
    }
    if (only_finite && !finite) return nb::none();
    return array(std::move(leaf));
  }

  nb::object apply_limits(const Matrix& x, const Doubles& rate, const Doubles& limits) const {
    check_columns(x);
    check_nodes(rate);
    const size_t n = x.shape(0), m = limits.shape(0);
    std::vector<int32_t> stop(n * m);
    without_lock([&] {
      for_each_stop(view_, rate.data(), limits.data(), m, x.data(), n,
                    [&](size_t i, size_t e, size_t node) { stop[i * m + e] = static_cast<int32_t>(node); });
    });
    return array(std::move(stop), {n, m});
  }

  nb::object leaves_of_limits(const Doubles& rate, const Doubles& limits) const {
    check_nodes(rate);
    std::vector<int64_t> leaves(limits.shape(0));
    count_truncated(view_, rate.data(), limits.data(), limits.shape(0), leaves.data());
    return array(std::move(leaves));
  }

  nb::object links(const Doubles& errors, double tie) const {
    check_nodes(errors);
    std::vector<double> alpha(view_.n_nodes);
    weakest_links(view_, errors.data(), tie, alpha.data());
    return array(std::move(alpha), {view_.n_nodes});
  }

  nb::object sequence_errors(const Doubles& node_alpha, const Codes& labels, const Doubles& alphas, const Matrix& x,
                             const Codes& y, const std::optional<Doubles>& weights) const {
    check_columns(x);
    check_nodes(node_alpha);
    require(labels.shape(0) == view_.n_nodes, "labels must have one entry per node");
    require(y.shape(0) == x.shape(0) && (!weights || weights->shape(0) == x.shape(0)),
            "X, y and weights must have the same number of rows");
    std::vector<double> wrong(alphas.shape(0), 0.0);
    // T(alpha) makes a leaf of every node whose weakest-link alpha is <= alpha.
    without_lock([&] {
      for_each_stop(view_, node_alpha.data(), alphas.data(), alphas.shape(0), x.data(), x.shape(0),
                    [&](size_t i, size_t e, size_t node) {
                      if (labels(node) != y(i)) wrong[e] += weights ? (*weights)(i) : 1.0;
                    });
    });
    return array(std::move(wrong));
  }

 private:
  void check_columns(const Matrix& x) const {
    require(x.shape(1) == view_.n_features, "X must have as many columns as the tree has features");
  }
  void check_nodes(const Doubles& values) const {
    require(values.shape(0) == view_.n_nodes, "the values must have one entry per node");
  }
  Codes left_, right_;
  Matrix weights_;
  Doubles thresholds_;
  std::optional<Matrix> scores_;
  std::optional<Flags> missing_left_;
  Levels levels_;
  std::vector<int32_t> axis_;
  FlatTree view_;
  // The faster walk, built at the first call whose rows repay the time of building it.
  mutable std::once_flag laid_out_;
  mutable std::optional<BlockWalk> walk_;
};

}  // namespace

void bind_tree(nb::module_& m) {
  nb::class_<Walker>(m, "Walker", "A finished tree ready to send rows through; checks its node numbers.")
      .def(nb::init<Codes, Codes, Matrix, Doubles, const std::optional<Codes>&, std::optional<Matrix>,
                    std::optional<Flags>>(),
           "left"_array, "right"_array, "weights"_array, "thresholds"_array, "levels"_maybe, "level_scores"_maybe,
           "missing_left"_maybe)
      .def(
          "apply", &Walker::apply_rows<double>, "X"_array, "n_threads"_a = 1, "block_rows"_a = 0,
          "only_finite"_a = false,
          "Leaf of each row, (n,) int32. X (n, p) float64 or float32; the number of threads and the rows of a block, 0 "
          "for those that suit the tree, change nothing but time. None if there are to be finite rows only and one is "
          "not.")
      .def("apply", &Walker::apply_rows<float>, "X"_array, "n_threads"_a = 1, "block_rows"_a = 0,
           "only_finite"_a = false)
      .def("apply_limits", &Walker::apply_limits, "X"_array, "rate"_array, "limits"_array,
           "Node at which each row stops when nodes of rate <= limit are leaves, (n, m); limits ascending.")
      .def("leaves_of_limits", &Walker::leaves_of_limits, "rate"_array, "limits"_array,
           "Number of leaves for each limit, (m,); limits ascending.")
      .def("weakest_links", &Walker::links, "errors"_array, "tie"_a,
           "Complexity at which each internal node collapses, (n_nodes,); -inf at leaves.")
      .def("sequence_errors", &Walker::sequence_errors, "node_alpha"_array, "labels"_array, "alphas"_array, "X"_array,
           "y"_array, "weights"_array.none(),
           "Misclassified weight of every member of a pruning sequence, (m,); alphas ascending.");
}

}  // namespace oblique
