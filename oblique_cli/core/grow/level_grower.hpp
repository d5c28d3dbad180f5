// The grower of a tree whose rows lie in blocks of a disk.
//
// A pass over all rows serves every open node at once, so the tree is grown level by level. The grower keeps the tree
// and its open nodes, each in a slot; it says which of them are leaves, which are grown to their end in memory and
// which are searched where their rows are, and makes the next level of the answers. Whoever carries its requests to the
// blocks knows nothing of this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/grower.hpp"
#include "split/node.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Rows of nodes in blocks: a slot each, of which a pass has counted the classes. An open slot of no node is -1.
struct SlotCounts {
  const std::int64_t* rows;  // (n_slots, n_classes)
  const double* weight;      // the same
  std::size_t n_slots, n_classes;

  std::int64_t size(std::size_t slot) const;
  Held begin(std::size_t slot) const;
  // Whether there are rows of several classes.
  bool is_mixed(std::size_t slot) const;
};

class LevelGrower {
 public:
  struct Slot {
    std::int32_t node;  // -1: of no node, whose rows are done
    std::int64_t depth;
  };
  // What a level is to do: nodes that are grown to their end in memory, so many at a time as fit, and those searched.
  struct Work {
    std::vector<std::vector<std::int32_t>> batches;
    std::vector<std::int32_t> searched;
  };

  LevelGrower(std::size_t n_features, std::size_t n_classes, std::size_t n_scores, const StoppingRule& stopping);

  // Opens the root, in the only slot of the first level.
  void begin(const SlotCounts& root);
  // Goes on with a tree and its open nodes.
  void resume(GrownTree tree, std::vector<Slot> open);

  const GrownTree& tree() const { return tree_; }
  const std::vector<Slot>& open() const { return open_; }

  // in_memory : rows of the largest node that is grown in memory; at_once : rows of all that are at a time
  Work work(const SlotCounts& counts, std::int64_t in_memory, std::int64_t at_once) const;

  // Puts a tree that was grown from the rows of a slot in the place of its node.
  void graft(std::size_t slot, const GrownTree& below);

  // The split of a slot, the projections of its rows next to the threshold, and the scores of its levels.
  struct Divided {
    std::size_t slot;
    Split split;
    double below, above;
    const double* scores;
  };
  // Makes the next level: the children of split i stand in slots 2 i and 2 i + 1. A node of which a side is empty is a
  // leaf.
  void divide(const std::vector<Divided>& splits, const SlotCounts& children);

 private:
  std::int32_t add(const SlotCounts& counts, std::size_t slot);

  const StoppingRule stopping_;
  GrownTree tree_;
  std::vector<Slot> open_;
};

}  // namespace oblique
