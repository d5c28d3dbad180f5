// The tree of hyperplanes, which growth builds, refinement improves and prediction reads.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Rotated feature q is the sum of coef[i] * x[feature[i]] over i from start[q] to start[q + 1].
struct Rotation {
  std::vector<int32_t> start, feature;
  std::vector<double> coef;

  bool rotates() const { return !start.empty(); }
  size_t size() const { return start.size() - 1; }

  // One rotated feature of a row; growth and prediction start the sum from its first term.
  double of_row(size_t q, const double* x) const {
    int32_t i = start[q];
    double sum = coef[i] * x[feature[i]];
    for (++i; i < start[q + 1]; ++i) sum += coef[i] * x[feature[i]];
    return sum;
  }
};

// Nodes with the planes that divide their rows, and the contents of nodes or leaves. Node 0 is the root. A row goes
// left if x'w <= threshold.
// Planes   storage of nodes and their planes: size(), is_leaf(node), left_of(node), right_of(node), and add_node(),
// which appends a leaf
// Payload  contents, such as class weights, a label, or a linear model
template <class Planes, class Payload>
struct PlaneTree : Planes, Payload {};

// A coefficient for every feature.
struct DensePlanes {
  size_t n_features = 0;
  std::vector<int32_t> left, right;  // -1 at leaves
  std::vector<double> weights;       // n_nodes * n_features, 0 at leaves
  std::vector<double> thresholds;

  size_t size() const { return left.size(); }
  bool is_leaf(size_t node) const { return left[node] < 0; }
  size_t left_of(size_t node) const { return static_cast<size_t>(left[node]); }
  size_t right_of(size_t node) const { return static_cast<size_t>(right[node]); }
  double* plane(size_t node) { return weights.data() + node * n_features; }
  const double* plane(size_t node) const { return weights.data() + node * n_features; }

  int32_t add_node() {
    left.push_back(-1);
    right.push_back(-1);
    weights.resize(weights.size() + n_features, 0.0);
    thresholds.push_back(0.0);
    return static_cast<int32_t>(left.size()) - 1;
  }
  void set_plane(size_t node, const double* normal, double threshold) {
    std::copy_n(normal, n_features, plane(node));
    thresholds[node] = threshold;
  }
  void set_children(size_t node, int32_t l, int32_t r) {
    left[node] = l;
    right[node] = r;
  }
};

// An axis-parallel split, or a fixed number of terms for every oblique split. Children are adjacent and come after
// their parent; a leaf stores its number among the leaves.
struct SparsePlanes {
  struct Node {
    double threshold = 0.0;
    int32_t left = 0;  // left child, the right one follows it; ~(leaf number) at leaves
    int32_t term = 0;  // ~(feature) of an axis-parallel split, else the number of an oblique split
  };
  struct Term {
    double coef = 0.0;
    int32_t feature = 0;
  };

  std::vector<Node> nodes;
  std::vector<Term> terms;  // `width` of each oblique split
  size_t width = 0;
  Rotation rotation;  // of the features in splits, or none

  size_t size() const { return nodes.size(); }
  bool is_leaf(size_t node) const { return nodes[node].left < 0; }
  size_t left_of(size_t node) const { return static_cast<size_t>(nodes[node].left); }
  size_t right_of(size_t node) const { return left_of(node) + 1; }
  size_t leaf_number(size_t leaf) const { return static_cast<size_t>(~nodes[leaf].left); }
  size_t n_oblique() const { return width ? terms.size() / width : 0; }

  int32_t add_node() {
    nodes.emplace_back();
    return static_cast<int32_t>(nodes.size()) - 1;
  }
};

// The facts about every node of a single tree.
struct NodeFacts {
  size_t n_classes = 0, n_scores = 0;
  std::vector<double> counts;  // n_nodes * n_classes, weight of each class
  std::vector<double> gains;   // gain of the split, 0 at leaves
  std::vector<int64_t> n_rows;
  // n_nodes * n_scores, of the levels of qualitative features; 0 at leaves and for levels without rows at a node
  std::vector<double> level_scores;

  void add_facts(const double* of_class, int64_t rows) {
    counts.insert(counts.end(), of_class, of_class + n_classes);
    gains.push_back(0.0);
    n_rows.push_back(rows);
    level_scores.resize(level_scores.size() + n_scores, 0.0);
  }
  void set_split_facts(size_t node, double gain, const double* scores) {
    gains[node] = gain;
    std::copy_n(scores, n_scores, level_scores.data() + node * n_scores);
  }
};

// The class shares of every leaf, and the importances of features.
struct ClassShares {
  std::vector<int32_t> label;        // of each leaf: the heaviest class, the lowest on a tie
  std::vector<uint32_t> leaf_start;  // n_leaves + 1 offsets into the next two
  std::vector<int32_t> leaf_class;
  std::vector<double> leaf_weight;
  std::vector<double> importance;  // per original feature: reduction in Gini impurity times weight of the node
  int32_t depth = 0;

  size_t n_leaves() const { return label.size(); }
};

struct GrownTree : PlaneTree<DensePlanes, NodeFacts> {
  GrownTree() = default;
  GrownTree(size_t features, size_t classes, size_t scores) {
    n_features = features;
    n_classes = classes;
    n_scores = scores;
  }
  // Appends a leaf with the facts of a node of another tree.
  int32_t copy_node(const GrownTree& other, size_t node) {
    add_facts(other.counts.data() + node * n_classes, other.n_rows[node]);
    return add_node();
  }
  // Gives a node the split of a node of another tree.
  void copy_split(const GrownTree& other, size_t node, size_t to) {
    set_plane(to, other.plane(node), other.thresholds[node]);
    set_split_facts(to, other.gains[node], other.level_scores.data() + node * n_scores);
  }
};
using ForestTree = PlaneTree<SparsePlanes, ClassShares>;

// The same tree with its nodes numbered in the order of growth on one thread: pairs of children as their parents are
// visited, left first. stays_split : whether a node still has children
template <class Is>
GrownTree in_order(const GrownTree& tree, const Is& stays_split) {
  GrownTree out(tree.n_features, tree.n_classes, tree.n_scores);
  const auto copy = [&](size_t node) {
    const int32_t id = out.copy_node(tree, node);
    if (stays_split(node)) out.copy_split(tree, node, static_cast<size_t>(id));
    return id;
  };
  struct Pair {
    size_t old;
    int32_t id;
  };
  std::vector<Pair> stack{{0, copy(0)}};
  while (!stack.empty()) {
    const Pair here = stack.back();
    stack.pop_back();
    if (!stays_split(here.old)) continue;
    const size_t left = tree.left_of(here.old), right = tree.right_of(here.old);
    const int32_t left_id = copy(left), right_id = copy(right);
    out.set_children(static_cast<size_t>(here.id), left_id, right_id);
    stack.push_back({right, right_id});
    stack.push_back({left, left_id});
  }
  return out;
}

inline GrownTree in_order(const GrownTree& tree) {
  return in_order(tree, [&](size_t node) { return !tree.is_leaf(node); });
}

}  // namespace oblique
