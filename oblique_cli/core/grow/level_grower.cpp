#include "grow/level_grower.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "split/node_rows.hpp"

namespace oblique {

std::int64_t SlotCounts::size(std::size_t slot) const {
  return std::accumulate(rows + slot * n_classes, rows + (slot + 1) * n_classes, std::int64_t{0});
}

Held SlotCounts::begin(std::size_t slot) const { return held_of(weight + slot * n_classes, n_classes); }

bool SlotCounts::is_mixed(std::size_t slot) const {
  const std::int64_t* own = rows + slot * n_classes;
  return std::count_if(own, own + n_classes, [](std::int64_t n) { return n > 0; }) > 1;
}

LevelGrower::LevelGrower(std::size_t n_features, std::size_t n_classes, std::size_t n_scores,
                         const StoppingRule& stopping)
    : stopping_(stopping) {
  tree_.n_features = n_features;
  tree_.n_classes = n_classes;
  tree_.n_scores = n_scores;
}

std::int32_t LevelGrower::add(const SlotCounts& counts, std::size_t slot) {
  tree_.add_facts(counts.weight + slot * counts.n_classes, counts.size(slot));
  return tree_.add_node();
}

void LevelGrower::begin(const SlotCounts& root) { open_.assign(1, {add(root, 0), 0}); }

void LevelGrower::resume(GrownTree tree, std::vector<Slot> open) {
  tree_ = std::move(tree);
  open_ = std::move(open);
}

LevelGrower::Work LevelGrower::work(const SlotCounts& counts, std::int64_t in_memory, std::int64_t at_once) const {
  Work out;
  std::int64_t together = 0;
  for (std::size_t slot = 0; slot < open_.size(); ++slot) {
    if (open_[slot].node < 0 || stopping_.is_leaf(counts.begin(slot), open_[slot].depth) || !counts.is_mixed(slot))
      continue;
    const std::int64_t size = counts.size(slot);
    if (size > in_memory) {
      out.searched.push_back(static_cast<std::int32_t>(slot));
      continue;
    }
    if (out.batches.empty() || together + size > at_once) {
      out.batches.emplace_back();
      together = 0;
    }
    out.batches.back().push_back(static_cast<std::int32_t>(slot));
    together += size;
  }
  return out;
}

void LevelGrower::graft(std::size_t slot, const GrownTree& below) {
  std::vector<std::int32_t> number{open_[slot].node};
  for (std::size_t node = 1; node < below.size(); ++node) {
    tree_.add_facts(below.counts.data() + node * below.n_classes, below.n_rows[node]);
    number.push_back(tree_.add_node());
  }
  for (std::size_t node = 0; node < below.size(); ++node) {
    if (below.is_leaf(node)) continue;
    const auto to = static_cast<std::size_t>(number[node]);
    tree_.set_plane(to, below.plane(node), below.thresholds[node]);
    tree_.set_split_facts(to, below.gains[node], below.level_scores.data() + node * below.n_scores);
    tree_.set_children(to, number[below.left_of(node)], number[below.right_of(node)]);
  }
}

void LevelGrower::divide(const std::vector<Divided>& splits, const SlotCounts& children) {
  std::vector<Slot> next;
  bool is_open = false;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const Divided& here = splits[i];
    if (!(std::isfinite(here.below) && std::isfinite(here.above))) {
      next.insert(next.end(), 2, {-1, 0});
      continue;
    }
    const Slot parent = open_[here.slot];
    const std::int32_t left = add(children, 2 * i), right = add(children, 2 * i + 1);
    const auto node = static_cast<std::size_t>(parent.node);
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

}  // namespace oblique
