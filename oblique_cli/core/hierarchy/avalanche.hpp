// AVALANCHE: a divisive hierarchy by chains of nearest objects. Amalaman (2015), chapter 4.
#pragma once

#include "common/interrupt.hpp"
#include "hierarchy/joins.hpp"

namespace oblique {

// A move that AVALANCHE tried: in the split of `node`, `object` went to the right; `between` is the total distance
// between the sides afterwards; `is_retained` if it increased.
struct Move {
  int64_t node, object;
  double between;
  bool is_retained;
};

// Section 4.3, algorithm 1. `sums_` is the paper's vector vU, updated from node to node: for every object the sum of
// its distances to the objects of its node. After a split the sums of the smaller side are recomputed, and those of the
// larger side lose the terms of the objects that left, so a split costs |L| |R| and all splits together n (n - 1) / 2
// distances. The search for the next link of the chain costs |L| per move in addition.
// Sums are compared with a slack of 1e-9 of the node's largest sum. Subtraction leaves rounding errors; if they could
// reach a hundredth of the slack, the sums of the node are recomputed.
template <class T>
class Avalanche {
 public:
  Avalanche(const T* distances, size_t n, bool traced)
      : d_(distances), at_(n), traced_(traced), members_(n), sums_(n, 0.0), joins(n) {
    std::iota(members_.begin(), members_.end(), size_t{0});
  }

  void run() {
    const size_t n = at_.n();
    add_up(members_.data(), n);
    std::vector<Task> open{{0, n, 0, false, 0.0}};
    size_t join = n - 1;  // the root is the last node
    while (!open.empty()) {
      checkpoint(1);
      const Task task = open.back();
      open.pop_back();
      int64_t node;
      if (task.size == 1) {
        node = static_cast<int64_t>(members_[task.begin]);
      } else {
        node = static_cast<int64_t>(n + --join);
        split(task, join, open);
      }
      if (node < static_cast<int64_t>(2 * n - 2)) (task.is_right ? joins.right : joins.left)[task.parent] = node;
    }
  }

 private:
  // A node to be split: its members, its parent join, and the largest sum, which bounds the rounding errors.
  struct Task {
    size_t begin, size, parent;
    bool is_right;
    double magnitude;
  };
  static constexpr double slack = 1e-9;

  double distance(size_t i, size_t j) const { return static_cast<double>(d_[at_(i, j)]); }

  // Computes the sums of some objects over these objects only.
  void add_up(const size_t* objects, size_t count) {
    for (size_t a = 0; a < count; ++a) sums_[objects[a]] = 0.0;
    for (size_t a = 0; a < count; ++a) {
      checkpoint(count - a);
      double sum = 0.0;
      for (size_t b = a + 1; b < count; ++b) {
        const double v = distance(objects[a], objects[b]);
        sum += v;
        sums_[objects[b]] += v;
      }
      sums_[objects[a]] += sum;
    }
  }

  double largest_sum(const size_t* objects, size_t count) const {
    double largest = 0.0;
    for (size_t a = 0; a < count; ++a) largest = std::max(largest, sums_[objects[a]]);
    return largest;
  }

  void split(const Task& task, size_t join, std::vector<Task>& open) {
    size_t* members = members_.data() + task.begin;
    double largest = largest_sum(members, task.size);
    double magnitude = std::max(task.magnitude, largest);
    const double error = static_cast<double>(at_.n()) * std::numeric_limits<double>::epsilon() * magnitude;
    if (task.magnitude > 0.0 && error > 0.01 * slack * largest) {
      add_up(members, task.size);
      magnitude = largest = largest_sum(members, task.size);
    }

    // The anti-medoid, the first of equals: of lowest number, because `left_` stays in ascending order.
    left_.assign(members, members + task.size);
    right_.clear();
    size_t next = 0;
    while (sums_[left_[next]] < largest - slack * largest) ++next;
    double between = sums_[left_[next]];
    note(join, left_[next], between, true);
    for (;;) {
      checkpoint(left_.size() + right_.size());
      const size_t last = left_[next];
      right_.push_back(last);
      left_.erase(left_.begin() + next);
      if (left_.size() == 1) break;  // a side must not become empty
      next = nearest(last);
      const size_t object = left_[next];
      const double inward = sum_to(object, left_.size() < right_.size() ? left_ : right_);
      const double outward = sums_[object] - inward;
      const double gain = left_.size() < right_.size() ? inward - outward : outward - inward;
      const bool is_retained = gain > slack * largest;
      note(join, object, between + gain, is_retained);
      if (!is_retained) break;
      between += gain;
    }

    std::sort(right_.begin(), right_.end());
    std::copy(left_.begin(), left_.end(), members);
    std::copy(right_.begin(), right_.end(), members + left_.size());
    joins.heights[join] = between / (static_cast<double>(left_.size()) * static_cast<double>(right_.size()));
    const bool right_is_smaller = right_.size() <= left_.size();
    const std::vector<size_t>& small = right_is_smaller ? right_ : left_;
    const std::vector<size_t>& large = right_is_smaller ? left_ : right_;
    for (const size_t i : small) {
      for (const size_t j : large) sums_[j] -= distance(i, j);
      checkpoint(large.size());
    }
    for (const size_t j : large) sums_[j] = std::max(0.0, sums_[j]);
    add_up(small.data(), small.size());
    open.push_back({task.begin, left_.size(), join, false, right_is_smaller ? magnitude : 0.0});
    open.push_back({task.begin + left_.size(), right_.size(), join, true, right_is_smaller ? 0.0 : magnitude});
  }

  // Position in left_ of the object nearest to `object`, the first of equals.
  size_t nearest(size_t object) const {
    size_t best = 0;
    T least = d_[at_(object, left_[0])];
    for (size_t k = 1; k < left_.size(); ++k) {
      const T v = d_[at_(object, left_[k])];
      if (v < least) {
        least = v;
        best = k;
      }
    }
    return best;
  }

  double sum_to(size_t object, const std::vector<size_t>& others) const {
    double sum = 0.0;
    for (const size_t other : others)
      if (other != object) sum += distance(object, other);
    return sum;
  }

  void note(size_t join, size_t object, double between, bool is_retained) {
    if (traced_)
      moves.push_back({static_cast<int64_t>(at_.n() + join), static_cast<int64_t>(object), between, is_retained});
  }

  const T* d_;
  Pairs at_;
  bool traced_;
  std::vector<size_t> members_, left_, right_;
  std::vector<double> sums_;

 public:
  Joins joins;
  std::vector<Move> moves;
};

}  // namespace oblique
