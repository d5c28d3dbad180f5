// The grower of a tree whose rows lie in blocks on a disk.
// A pass over all rows serves every open node at once, so the tree grows level by level. The grower holds the tree and
// its open nodes, one in each slot. It decides for each open node: leaf, finish in memory, or search over the blocks;
// then it builds the next level from the answers. It does not know how its requests reach the blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/grower.hpp"
#include "split/node.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Class counts of the nodes of a level, one slot each, from a pass over the blocks. An open slot without a node is -1.
struct SlotCounts {
  const std::int64_t* rows;  // (n_slots, n_classes)
  const double* weight;      // the same
  std::size_t n_slots, n_classes;

  std::int64_t size(std::size_t slot) const;
  Held begin(std::size_t slot) const;
  // Whether the rows have several classes.
  bool is_mixed(std::size_t slot) const;
};

class LevelGrower {
 public:
  struct Slot {
    std::int32_t node;  // -1: no node; its rows are complete
    std::int64_t depth;
  };
  // The work of a level: the nodes to finish in memory, in groups that fit, and the nodes to search over the blocks.
  struct Work {
    std::vector<std::vector<std::int32_t>> batches;
    std::vector<std::int32_t> searched;
  };

  LevelGrower(std::size_t n_features, std::size_t n_classes, std::size_t n_scores, const StoppingRule& stopping);

  // Opens the root in the only slot of the first level.
  void begin(const SlotCounts& root);
  // Resumes a tree with its open nodes.
  void resume(GrownTree tree, std::vector<Slot> open);

  const GrownTree& tree() const { return tree_; }
  const std::vector<Slot>& open() const { return open_; }

  // in_memory : rows of the largest node that is grown in memory; at_once : rows of all nodes that are in memory at a
  // time
  Work work(const SlotCounts& counts, std::int64_t in_memory, std::int64_t at_once) const;

  // Replaces the node of a slot by a tree that was grown from its rows.
  void graft(std::size_t slot, const GrownTree& below);

  // The split of a slot, the projections of its rows next to the threshold, and the scores of its levels.
  struct Divided {
    std::size_t slot;
    Split split;
    double below, above;
    const double* scores;
  };
  // Makes the next level: the children of split i are in slots 2 i and 2 i + 1. A node with an empty side is a leaf.
  void divide(const std::vector<Divided>& splits, const SlotCounts& children);

 private:
  std::int32_t add(const SlotCounts& counts, std::size_t slot);

  const StoppingRule stopping_;
  GrownTree tree_;
  std::vector<Slot> open_;
};

}  // namespace oblique
