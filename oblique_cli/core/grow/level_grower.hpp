// The grower of a tree whose rows lie in blocks on a disk.
// A pass over all rows serves every open node at once, so the tree grows level by level. The grower holds the tree and
// its open nodes, one in each slot. It decides for each open node: leaf, finish in memory, or search over the blocks;
// then it builds the next level from the answers. It does not know how its requests reach the blocks.
#pragma once

#include "grow/grower.hpp"
#include "split/node.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Class counts of the nodes of a level, one slot each, from a pass over the blocks. An open slot without a node is -1.
struct SlotCounts {
  const int64_t* rows;   // (n_slots, n_classes)
  const double* weight;  // the same
  size_t n_slots, n_classes;

  int64_t size(size_t slot) const {
    return std::accumulate(rows + slot * n_classes, rows + (slot + 1) * n_classes, int64_t{0});
  }

  Held begin(size_t slot) const { return held_of(weight + slot * n_classes, n_classes); }
  bool is_mixed(size_t slot) const {
    const int64_t* counts = rows + slot * n_classes;
    return std::count_if(counts, counts + n_classes, [](int64_t n) { return n > 0; }) > 1;
  }
};

class LevelGrower {
 public:
  struct Slot {
    int32_t node;  // -1: no node; its rows are complete
    int64_t depth;
  };
  // The work of a level: the nodes to finish in memory, in groups that fit, and the nodes to search over the blocks.
  struct Work {
    std::vector<std::vector<int32_t>> batches;
    std::vector<int32_t> searched;
  };

  LevelGrower(size_t n_features, size_t n_classes, size_t n_scores, const StoppingRule& stopping)
      : stopping_(stopping), tree_(n_features, n_classes, n_scores) {}

  // Opens the root in the only slot of the first level.
  void begin(const SlotCounts& root) { open_.assign(1, {add(root, 0), 0}); }
  void resume(GrownTree tree, std::vector<Slot> open) {
    tree_ = std::move(tree);
    open_ = std::move(open);
  }

  const GrownTree& tree() const { return tree_; }
  const std::vector<Slot>& open() const { return open_; }

  // in_memory : rows of the largest node that is grown in memory; at_once : of all nodes that are there at a time
  Work work(const SlotCounts& counts, int64_t in_memory, int64_t at_once) const {
    Work out;
    int64_t together = 0;
    for (size_t slot = 0; slot < open_.size(); ++slot) {
      if (open_[slot].node < 0 || stopping_.is_leaf(counts.begin(slot), open_[slot].depth) || !counts.is_mixed(slot))
        continue;
      const int64_t size = counts.size(slot);
      if (size > in_memory) {
        out.searched.push_back(static_cast<int32_t>(slot));
        continue;
      }
      if (out.batches.empty() || together + size > at_once) {
        out.batches.emplace_back();
        together = 0;
      }
      out.batches.back().push_back(static_cast<int32_t>(slot));
      together += size;
    }
    return out;
  }

  // Replaces the node of a slot by a tree that was grown from its rows.
  void graft(size_t slot, const GrownTree& below) {
    std::vector<int32_t> number{open_[slot].node};
    for (size_t node = 1; node < below.size(); ++node) number.push_back(tree_.copy_node(below, node));
    for (size_t node = 0; node < below.size(); ++node) {
      if (below.is_leaf(node)) continue;
      const auto to = static_cast<size_t>(number[node]);
      tree_.copy_split(below, node, to);
      tree_.set_children(to, number[below.left_of(node)], number[below.right_of(node)]);
    }
  }

  // The split of a slot, the projections of its rows next to the threshold, and the scores of its levels.
  struct Divided {
    size_t slot;
    Split split;
    double below, above;
    const double* scores;
  };
  // Makes the next level: the children of split i are in slots 2 i and 2 i + 1. A node with an empty side is a leaf.
  void divide(const std::vector<Divided>& splits, const SlotCounts& children) {
    std::vector<Slot> next;
    bool is_open = false;
    for (size_t i = 0; i < splits.size(); ++i) {
      const Divided& here = splits[i];
      if (!(std::isfinite(here.below) && std::isfinite(here.above))) {
        next.insert(next.end(), 2, {-1, 0});
        continue;
      }
      const Slot parent = open_[here.slot];
      const int32_t left = add(children, 2 * i), right = add(children, 2 * i + 1);
      const auto node = static_cast<size_t>(parent.node);
      tree_.set_plane(node, here.split.normal.data(),
                      here.split.is_final ? here.split.threshold : middle_of_gap(here.below, here.above));
      tree_.set_split_facts(node, here.split.gain, here.scores);
      tree_.set_children(node, left, right);
      next.push_back({left, parent.depth + 1});
      next.push_back({right, parent.depth + 1});
      is_open = true;
    }
    if (!is_open) next.clear();
    open_ = std::move(next);
  }

 private:
  int32_t add(const SlotCounts& counts, size_t slot) {
    tree_.add_facts(counts.weight + slot * counts.n_classes, counts.size(slot));
    return tree_.add_node();
  }

  const StoppingRule stopping_;
  GrownTree tree_;
  std::vector<Slot> open_;
};

}  // namespace oblique
