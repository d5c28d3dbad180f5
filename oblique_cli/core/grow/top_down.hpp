// The way every tree grows down, whatever its rows, its sampler and its heuristic are.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace oblique {

// When a node is a leaf without a search.
struct StoppingRule {
  double min_parent = 2.0;      // split only if the node holds more than this
  double max_misrate = 0.0;     // split only if the misclassification rate is above this
  std::int64_t max_depth = -1;  // -1: no limit

  // holds : what the node holds, in weight or in rows; misrate : share that is not of its largest class
  bool is_leaf(double holds, double misrate, std::int64_t depth) const {
    if (max_depth >= 0 && depth >= max_depth) return true;
    return !(holds > min_parent && misrate > max_misrate);
  }
};

// Splits nodes from a root down. The last node opened is visited first, a left child before its sibling.
//
// visit(open, left, right) : splits a node and opens its children, in this order of the tree's nodes; false at a leaf
// takes(left, right)       : whether it took care of both children itself
template <class Open, class Visit, class Takes>
void grow_down(Open root, const Visit& visit, const Takes& takes) {
  std::vector<Open> open;
  open.push_back(std::move(root));
  while (!open.empty()) {
    Open node = std::move(open.back());
    open.pop_back();
    Open left, right;
    if (!visit(node, left, right) || takes(left, right)) continue;
    open.push_back(std::move(right));
    open.push_back(std::move(left));
  }
}

}  // namespace oblique
