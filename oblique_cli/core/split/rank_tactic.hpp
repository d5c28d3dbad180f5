// Searches a feature by ranks instead of values. Ranks are integers: if few ranks occur, the rows of a node are counted
// by rank, otherwise sorted by it; if every node searches every feature, rows are sorted once per tree.
#pragma once

#include "common/key_sort.hpp"
#include "split/axis_cuts.hpp"

namespace oblique {

class RankTactic {
 public:
  void begin(const Bag& bag) {
    bag_ = &bag;
    if (rank_.size() < bag.n) {
      rank_.resize(bag.n);
      keys_.resize(bag.n);
    }
    if (bag.counts) return;
    class_.clear();
    for (size_t k = 0; k < bag.runs->size(); ++k)
      class_.insert(class_.end(), (*bag.runs)[k].n, static_cast<uint32_t>(k));
  }

  // Offers the cuts of a feature, which then needs no further search; false if it has no ranks.
  bool settles(const AxisFeature& of, AxisCuts& cuts) {
    if (of.keys)
      along_keys(of.keys, of.facts, cuts);
    else if (of.rank)
      along_ranks(of.rank, cuts);
    else
      return false;
    return true;
  }

 private:
  void along_ranks(const uint32_t* rank, AxisCuts& cuts) {
    const size_t n = bag_->n;
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n; ++i) {
      const uint32_t r = rank[bag_->row[i]];
      rank_[i] = r;
      low = std::min(low, r);
      high = std::max(high, r);
    }
    if (low == high) return;
    const size_t cells = (static_cast<size_t>(high - low) + 1) * bag_->runs->size();
    if (cells <= 4 * n)
      by_counting(low, high, cuts);
    else
      by_sorting(cuts);
  }

  // For a node with `counts`.
  void along_keys(const uint64_t* keys, const uint32_t* facts, AxisCuts& cuts) {
    const size_t n = bag_->n;
    if (keys[0] >> 32 == keys[n - 1] >> 32) return;
    cuts.start_by_code(*bag_->runs);
    AxisCuts::Sweep sweep(cuts);
    for (size_t i = 0; i + 1 < n; ++i) {
      const uint64_t key = keys[i];
      const uint32_t fact = facts[static_cast<uint32_t>(key)];
      sweep.move(fact >> 16, static_cast<double>(fact & 0xffff));
      if (key >> 32 != keys[i + 1] >> 32) sweep.consider(static_cast<uint32_t>(key >> 32));
    }
  }

  void by_counting(uint32_t low, uint32_t high, AxisCuts& cuts) {
    const size_t n_classes = bag_->runs->size(), n_ranks = static_cast<size_t>(high - low) + 1;
    cells_.assign(n_ranks * n_classes, 0.0);
    present_.assign(n_ranks, 0);
    size_t i = 0;
    for (size_t k = 0; k < n_classes; ++k)
      for (const size_t end = i + (*bag_->runs)[k].n; i < end; ++i) {
        const size_t r = rank_[i] - low;
        cells_[r * n_classes + k] += bag_->weight[i];
        present_[r] = 1;
      }
    cuts.start();
    AxisCuts::Sweep sweep(cuts);
    for (size_t r = 0; r + 1 < n_ranks; ++r) {
      if (!present_[r]) continue;
      for (size_t k = 0; k < n_classes; ++k)
        if (const double w = cells_[r * n_classes + k]; w > 0.0) sweep.move(k, w);
      sweep.consider(low + static_cast<uint32_t>(r));
    }
  }

  // A key holds the rank, then class and weight if they fit, or the index of the row at the node.
  void by_sorting(AxisCuts& cuts) {
    const size_t n = bag_->n;
    if (bag_->counts) {
      size_t i = 0;
      for (size_t k = 0; k < bag_->runs->size(); ++k)
        for (const size_t end = i + (*bag_->runs)[k].n; i < end; ++i)
          keys_[i] = static_cast<uint64_t>(rank_[i]) << 32 | k << 16 | static_cast<uint64_t>(bag_->weight[i]);
    } else {
      for (size_t i = 0; i < n; ++i) keys_[i] = static_cast<uint64_t>(rank_[i]) << 32 | i;
    }
    sort_.sort(keys_.data(), n);
    cuts.start();
    AxisCuts::Sweep sweep(cuts);
    const bool counts = bag_->counts;
    const uint64_t* keys = keys_.data();
    for (size_t i = 0; i + 1 < n; ++i) {
      const uint64_t key = keys[i];
      if (counts)
        sweep.move(key >> 16 & 0xffff, static_cast<double>(key & 0xffff));
      else
        sweep.move(class_[key & 0xffffffff], bag_->weight[key & 0xffffffff]);
      if (key >> 32 != keys[i + 1] >> 32) sweep.consider(static_cast<uint32_t>(key >> 32));
    }
  }

  const Bag* bag_ = nullptr;
  std::vector<double> cells_;
  std::vector<unsigned char> present_;
  std::vector<uint32_t> rank_, class_;
  std::vector<uint64_t> keys_;
  KeySort sort_;
};

}  // namespace oblique
