// A grown tree as NumPy arrays. Included by the bindings only.
#pragma once

#include "bindings/bindings.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Calls visit(name, vector, shape) for the arrays of a tree.
template <class Visit>
void each_array(GrownTree& tree, size_t nodes, const Visit& visit) {
  using Shape = std::vector<size_t>;
  visit("left", tree.left, Shape{nodes});
  visit("right", tree.right, Shape{nodes});
  visit("weights", tree.weights, Shape{nodes, tree.n_features});
  visit("thresholds", tree.thresholds, Shape{nodes});
  visit("counts", tree.counts, Shape{nodes, tree.n_classes});
  visit("gains", tree.gains, Shape{nodes});
  visit("n_rows", tree.n_rows, Shape{nodes});
  visit("level_scores", tree.level_scores, Shape{nodes, tree.n_scores});
}

inline nb::dict arrays_of(GrownTree&& tree) {
  nb::dict out;
  each_array(tree, tree.size(),
             [&](const char* name, auto& values, const auto& shape) { out[name] = array(std::move(values), shape); });
  return out;
}

// The inverse of arrays_of, for the stated numbers of features, classes and scores. Throws nb::value_error if the
// arrays contradict each other.
inline GrownTree tree_of(const nb::dict& arrays, size_t n_features, size_t n_classes, size_t n_scores) {
  GrownTree tree;
  tree.n_features = n_features;
  tree.n_classes = n_classes;
  tree.n_scores = n_scores;
  const size_t n = nb::len(nb::object(arrays["left"]));
  bool fits = n >= 1;
  each_array(tree, n, [&]<class T>(const char* name, std::vector<T>& into, const auto& shape) {
    const auto from = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(arrays[name], false);
    into.assign(from.data(), from.data() + from.size());
    fits = fits && from.size() == n * (shape.size() == 2 ? shape[1] : 1);
  });
  for (size_t node = 0; fits && node < n; ++node) {
    const int64_t l = tree.left[node], r = tree.right[node], parent = static_cast<int64_t>(node);
    fits = (l < 0 && r < 0) || (l > parent && r > parent && std::max(l, r) < static_cast<int64_t>(n));
  }
  require(fits, "arrays of a tree must have one entry per node, and children behind their parent");
  return tree;
}

}  // namespace oblique
