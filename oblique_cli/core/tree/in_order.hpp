// The order of the nodes of a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/plane_tree.hpp"

namespace oblique {

// The same tree with its nodes numbered in the order of growth on one thread: pairs of children as their parents are
// visited, left first. stays_split : whether a node still has children
template <class Is>
GrownTree in_order(const GrownTree& tree, const Is& stays_split) {
  GrownTree out;
  out.n_features = tree.n_features;
  out.n_classes = tree.n_classes;
  out.n_scores = tree.n_scores;
  const auto copy = [&](std::size_t node) {
    const std::int32_t id = out.add_node();
    out.add_facts(tree.counts.data() + node * tree.n_classes, tree.n_rows[node]);
    const std::size_t to = static_cast<std::size_t>(id);
    if (!stays_split(node)) return id;
    out.set_plane(to, tree.plane(node), tree.thresholds[node]);
    out.set_split_facts(to, tree.gains[node], tree.level_scores.data() + node * tree.n_scores);
    return id;
  };
  struct Pair {
    std::size_t old;
    std::int32_t id;
  };
  std::vector<Pair> stack{{0, copy(0)}};
  while (!stack.empty()) {
    const Pair here = stack.back();
    stack.pop_back();
    if (!stays_split(here.old)) continue;
    const std::size_t left = tree.left_of(here.old), right = tree.right_of(here.old);
    const std::int32_t left_id = copy(left), right_id = copy(right);
    out.set_children(static_cast<std::size_t>(here.id), left_id, right_id);
    stack.push_back({right, right_id});
    stack.push_back({left, left_id});
  }
  return out;
}

inline GrownTree in_order(const GrownTree& tree) {
  return in_order(tree, [&](std::size_t node) { return !tree.is_leaf(node); });
}

}  // namespace oblique
