// A grown tree of a forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/rotation.hpp"

namespace oblique {

// A row goes left if its value is at most the threshold.
struct ForestNode {
  double threshold = 0.0;
  std::int32_t left = 0;  // left child, the right one follows it; ~(leaf number) at leaves
  std::int32_t term = 0;  // ~(feature) of an axis-parallel split, else the number of an oblique split
};

struct Term {
  double coef = 0.0;
  std::int32_t feature = 0;
};

// A grown tree. Node 0 is the root; the children of a node lie side by side behind it.
struct ForestTree {
  std::vector<ForestNode> nodes;
  std::vector<Term> terms;  // `width` of each oblique split
  std::size_t width = 0;
  std::vector<std::int32_t> label;        // of each leaf: the heaviest class, the lowest on a tie
  std::vector<std::uint32_t> leaf_start;  // n_leaves + 1 offsets into the next two
  std::vector<std::int32_t> leaf_class;
  std::vector<double> leaf_weight;
  Rotation rotation;               // of the features that splits refer to, or none
  std::vector<double> importance;  // per original feature: reduction in Gini impurity times weight of the node
  std::int32_t depth = 0;

  std::size_t size() const { return nodes.size(); }
  std::size_t n_leaves() const { return label.size(); }
  std::size_t n_oblique() const { return width ? terms.size() / width : 0; }
};

}  // namespace oblique
