// The tree of hyperplanes, which growth builds, refinement improves and prediction reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/rotation.hpp"

namespace oblique {

// Nodes with the planes that divide their rows, and the contents of nodes or leaves. Node 0 is the root. A row goes
// left if x'w <= threshold.
// Planes   storage of nodes and their planes: size(), is_leaf(node), left_of(node), right_of(node), and add_node(),
// which appends a leaf
// Payload  contents, such as class weights, a label, or a linear model
template <class Planes, class Payload>
struct PlaneTree : Planes, Payload {};

// ---- planes
// --------------------------------------------------------------------------------------------------------------

// A coefficient for every feature.
struct DensePlanes {
  std::size_t n_features = 0;
  std::vector<std::int32_t> left, right;  // -1 at leaves
  std::vector<double> weights;            // n_nodes * n_features, 0 at leaves
  std::vector<double> thresholds;

  std::size_t size() const { return left.size(); }
  bool is_leaf(std::size_t node) const { return left[node] < 0; }
  std::size_t left_of(std::size_t node) const { return static_cast<std::size_t>(left[node]); }
  std::size_t right_of(std::size_t node) const { return static_cast<std::size_t>(right[node]); }
  double* plane(std::size_t node) { return weights.data() + node * n_features; }
  const double* plane(std::size_t node) const { return weights.data() + node * n_features; }

  std::int32_t add_node() {
    left.push_back(-1);
    right.push_back(-1);
    weights.resize(weights.size() + n_features, 0.0);
    thresholds.push_back(0.0);
    return static_cast<std::int32_t>(left.size()) - 1;
  }
  void set_plane(std::size_t node, const double* normal, double threshold) {
    std::copy_n(normal, n_features, plane(node));
    thresholds[node] = threshold;
  }
  void set_children(std::size_t node, std::int32_t l, std::int32_t r) {
    left[node] = l;
    right[node] = r;
  }
};

// An axis-parallel split, or a fixed number of terms for every oblique split. Children are adjacent and come after
// their parent; a leaf stores its number among the leaves.
struct SparsePlanes {
  struct Node {
    double threshold = 0.0;
    std::int32_t left = 0;  // left child, the right one follows it; ~(leaf number) at leaves
    std::int32_t term = 0;  // ~(feature) of an axis-parallel split, else the number of an oblique split
  };
  struct Term {
    double coef = 0.0;
    std::int32_t feature = 0;
  };

  std::vector<Node> nodes;
  std::vector<Term> terms;  // `width` of each oblique split
  std::size_t width = 0;
  Rotation rotation;  // of the features in splits, or none

  std::size_t size() const { return nodes.size(); }
  bool is_leaf(std::size_t node) const { return nodes[node].left < 0; }
  std::size_t left_of(std::size_t node) const { return static_cast<std::size_t>(nodes[node].left); }
  std::size_t right_of(std::size_t node) const { return left_of(node) + 1; }
  std::size_t leaf_number(std::size_t leaf) const { return static_cast<std::size_t>(~nodes[leaf].left); }
  std::size_t n_oblique() const { return width ? terms.size() / width : 0; }

  std::int32_t add_node() {
    nodes.emplace_back();
    return static_cast<std::int32_t>(nodes.size()) - 1;
  }
};

// ---- payloads
// ------------------------------------------------------------------------------------------------------------

// The facts about every node of a single tree.
struct NodeFacts {
  std::size_t n_classes = 0, n_scores = 0;
  std::vector<double> counts;  // n_nodes * n_classes, weight of each class
  std::vector<double> gains;   // gain of the split, 0 at leaves
  std::vector<std::int64_t> n_rows;
  // n_nodes * n_scores, of the levels of qualitative features; 0 at leaves and for levels without rows at a node
  std::vector<double> level_scores;

  void add_facts(const double* of_class, std::int64_t rows) {
    counts.insert(counts.end(), of_class, of_class + n_classes);
    gains.push_back(0.0);
    n_rows.push_back(rows);
    level_scores.resize(level_scores.size() + n_scores, 0.0);
  }
  void set_split_facts(std::size_t node, double gain, const double* scores) {
    gains[node] = gain;
    std::copy_n(scores, n_scores, level_scores.data() + node * n_scores);
  }
};

// The class shares of every leaf, and the importances of features.
struct ClassShares {
  std::vector<std::int32_t> label;        // of each leaf: the heaviest class, the lowest on a tie
  std::vector<std::uint32_t> leaf_start;  // n_leaves + 1 offsets into the next two
  std::vector<std::int32_t> leaf_class;
  std::vector<double> leaf_weight;
  std::vector<double> importance;  // per original feature: reduction in Gini impurity times weight of the node
  std::int32_t depth = 0;

  std::size_t n_leaves() const { return label.size(); }
};

// ---- the trees there are
// -------------------------------------------------------------------------------------------------

using GrownTree = PlaneTree<DensePlanes, NodeFacts>;
using ForestTree = PlaneTree<SparsePlanes, ClassShares>;

}  // namespace oblique
