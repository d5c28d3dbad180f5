// A grown tree as NumPy arrays. Included by the bindings only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "bindings/arrays.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

inline nb::dict arrays_of(GrownTree&& tree) {
  const std::size_t nodes = tree.size();
  nb::dict out;
  out["left"] = array(std::move(tree.left), {nodes});
  out["right"] = array(std::move(tree.right), {nodes});
  out["weights"] = array(std::move(tree.weights), {nodes, tree.n_features});
  out["thresholds"] = array(std::move(tree.thresholds), {nodes});
  out["counts"] = array(std::move(tree.counts), {nodes, tree.n_classes});
  out["gains"] = array(std::move(tree.gains), {nodes});
  out["n_rows"] = array(std::move(tree.n_rows), {nodes});
  out["level_scores"] = array(std::move(tree.level_scores), {nodes, tree.n_scores});
  return out;
}

// The inverse of arrays_of, for the stated numbers of features, classes and scores. Throws nb::value_error if the
// arrays contradict each other.
inline GrownTree tree_of(const nb::dict& arrays, std::size_t n_features, std::size_t n_classes, std::size_t n_scores) {
  GrownTree tree;
  tree.n_features = n_features;
  tree.n_classes = n_classes;
  tree.n_scores = n_scores;
  const auto read = [&]<class T>(const char* name, std::vector<T>& into) {
    const auto from = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(arrays[name], false);
    into.assign(from.data(), from.data() + from.size());
  };
  read("left", tree.left);
  read("right", tree.right);
  read("weights", tree.weights);
  read("thresholds", tree.thresholds);
  read("counts", tree.counts);
  read("gains", tree.gains);
  read("n_rows", tree.n_rows);
  read("level_scores", tree.level_scores);
  const std::size_t n = tree.size();
  bool fits = n >= 1 && tree.right.size() == n && tree.weights.size() == n * n_features &&
              tree.thresholds.size() == n && tree.counts.size() == n * n_classes && tree.gains.size() == n &&
              tree.n_rows.size() == n && tree.level_scores.size() == n * n_scores;
  for (std::size_t node = 0; fits && node < n; ++node) {
    const std::int64_t l = tree.left[node], r = tree.right[node], own = static_cast<std::int64_t>(node);
    fits = (l < 0 && r < 0) || (l > own && r > own && std::max(l, r) < static_cast<std::int64_t>(n));
  }
  require(fits, "arrays of a tree must have one entry per node, and children behind their parent");
  return tree;
}

}  // namespace oblique
