// The grower of every tree: Grower(rows, sampler, heuristic, stopping).
// Rows holds the training rows, in memory, in a bag or in blocks. A sampler selects the rows and features of a node
// that the search sees: all, or a random draw. A heuristic finds the split of the selection. A stopping rule makes a
// node a leaf before any search. A tree of a forest differs from a single tree in its sampler only.
#pragma once

#include "common/random.hpp"
#include "common/team.hpp"
#include "rows/held.hpp"

namespace oblique {

// The condition under which a node becomes a leaf without a search.
struct StoppingRule {
  double min_parent = 2.0;  // split only if the node holds more than this
  double epsilon = 0.0;     // split only if the misclassification rate is above this
  int64_t max_depth = -1;   // -1: no limit

  bool is_leaf(const Held& held, int64_t depth) const {
    if (max_depth >= 0 && depth >= max_depth) return true;
    return !(held.amount > min_parent && held.misrate > epsilon);
  }
};

// An open node. place : of its rows; given_up : whether a heuristic failed above and proposes no more
template <class Place>
struct OpenNode {
  Place place{};
  int32_t node = 0;
  int64_t depth = 0;
  uint64_t path = kRootPath;
  bool given_up = false;
};

// Rows of a tree. `Place` locates the rows of a node.
template <class R>
concept GrowingRows = requires(R& rows, typename R::Place& place, Team* team) {
  { rows.size(place) } -> std::convertible_to<size_t>;
  { rows.begin(place) } -> std::same_as<Held>;       // selects a node
  rows.take(place, team);                            // before the node is searched
  { rows.is_passing(place) } -> std::same_as<bool>;  // whether buffers of the search are too large to be kept
  rows.leave(place);                                 // after the node is complete
};

// Selects the part of a node that the search sees. Each thread has its own sampler.
template <class S, class Place>
concept NodeSampler = requires(S& sampler, Place& place, typename S::Found& split) {
  { sampler.take(place, uint64_t{}) } -> std::same_as<bool>;  // false if there is nothing to choose from
  sampler.end_search(bool{});                                 // true: for good, so buffers are freed
  // Divides all rows of the node into the places of the left and the right child; false if one of them has no rows.
  { sampler.divide(place, split, place, place) } -> std::same_as<bool>;
};

// Finds the split of a sampler's selection. Each thread has its own heuristic.
template <class H, class Sampler>
concept NodeSplitter = requires(H& heuristic, Sampler& sampler, typename Sampler::Found& split, bool& given_up) {
  { heuristic.find(sampler, split, given_up) } -> std::same_as<bool>;
  heuristic.end_search(bool{});
};

// Splits the nodes of one thread. Sampler, Heuristic : by value or by reference
template <class Sampler, class Heuristic>
struct SplitterOf {
  Sampler sampler;
  Heuristic heuristic;
  typename std::remove_reference_t<Sampler>::Found best_split{};

  // The split of a node and the places of its children; empty for a leaf.
  template <class Place>
  bool split(OpenNode<Place>& open, bool for_good, Place& left, Place& right) {
    if (!sampler.take(open.place, open.path)) return false;
    const bool is_found = heuristic.find(sampler, best_split, open.given_up);
    sampler.end_search(for_good);
    heuristic.end_search(for_good);
    return is_found && sampler.divide(open.place, best_split, left, right);
  }
};

// Grows a tree on the threads of a team, or on one thread; the threads grow separate subtrees.
// Tree : the result; add(rows, place) appends a node, leaf(open, rows) and split(open, rows, sampler, found, left,
// right) complete it. The node that was opened last is visited first, a left child before its sibling
// Make : makes the SplitterOf of a thread
template <GrowingRows Rows, class Make, class Tree>
class Grower {
 public:
  using Place = typename Rows::Place;
  using Open = OpenNode<Place>;
  using Splitter = typename decltype(std::declval<Make&>()())::element_type;
  using Sampler = std::remove_reference_t<decltype(Splitter::sampler)>;
  static_assert(NodeSampler<Sampler, Place>);
  static_assert(NodeSplitter<std::remove_reference_t<decltype(Splitter::heuristic)>, Sampler>);

  Grower(Rows& rows, const StoppingRule& stopping, Tree& tree, Make make, Team* team)
      : rows_(rows), stopping_(stopping), tree_(tree), make_(std::move(make)), team_(team) {}

  void grow(Open root) {
    root.node = tree_.add(rows_, root.place);
    grow_below(std::move(root));
  }

  // Grows the tree to at most `most` leaves by best-first search: splits the leaf of greatest tree.worth(node), the
  // first opened of worths that differ by at most a share of `slack`. Returns the nodes that are split; other nodes
  // also have children, from which the worth of their splits was computed.
  std::vector<int32_t> grow_best_first(Open root, size_t most, double slack) {
    struct Division {
      double worth;
      size_t turn;  // order of opening
      int32_t node;
      Open left, right;
      bool operator<(const Division& other) const { return worth < other.worth; }
    };
    std::vector<Division> waiting;  // a heap
    const auto push = [&](Division split) {
      waiting.push_back(std::move(split));
      std::push_heap(waiting.begin(), waiting.end());
    };
    const auto pop = [&] {
      std::pop_heap(waiting.begin(), waiting.end());
      Division split = std::move(waiting.back());
      waiting.pop_back();
      return split;
    };
    const std::unique_ptr<Splitter> splitter = make_();
    size_t turn = 0;
    const auto look_at = [&](Open open) {
      Division split{0.0, turn++, open.node, {}, {}};
      const bool is_split = visit(open, *splitter, split.left, split.right);
      rows_.leave(open.place);
      if (!is_split) return;
      split.worth = tree_.worth(split.node);
      push(std::move(split));
    };
    std::vector<int32_t> taken;
    std::vector<Division> equal;
    root.node = tree_.add(rows_, root.place);
    if (most > 1) look_at(std::move(root));
    while (!waiting.empty()) {
      Division best = pop();
      const double least = best.worth - slack * best.worth;
      while (!waiting.empty() && waiting.front().worth >= least) {
        equal.push_back(pop());
        if (equal.back().turn < best.turn) std::swap(best, equal.back());
      }
      for (Division& each : equal) push(std::move(each));
      equal.clear();
      taken.push_back(best.node);
      if (taken.size() + 1 >= most) break;
      look_at(std::move(best.left));
      look_at(std::move(best.right));
    }
    return taken;
  }

 private:
  static constexpr size_t kApart = 512;  // subtrees of at least this many rows are passed to another thread

  void grow_below(Open root) {
    std::unique_ptr<Splitter> splitter = take_splitter();
    std::vector<Open> waiting;
    waiting.push_back(std::move(root));
    while (!waiting.empty()) {
      Open open = std::move(waiting.back());
      waiting.pop_back();
      Open left, right;
      const bool is_split = visit(open, *splitter, left, right);
      rows_.leave(open.place);
      if (!is_split) continue;
      if (team_ && team_->size() > 1 && std::min(rows_.size(left.place), rows_.size(right.place)) >= kApart) {
        give_back(std::move(splitter));
        team_->share(2, Team::Meanwhile::kHelp, [&](size_t side) { grow_below(std::move(side == 0 ? left : right)); });
        splitter = take_splitter();
        continue;
      }
      waiting.push_back(std::move(right));
      waiting.push_back(std::move(left));
    }
    give_back(std::move(splitter));
  }

  // Splits a node and its rows; false if the node is a leaf.
  bool visit(Open& open, Splitter& splitter, Open& left, Open& right) {
    const Held held = rows_.begin(open.place);
    std::unique_ptr<Splitter> once;
    bool is_split = !stopping_.is_leaf(held, open.depth);
    if (is_split) {
      rows_.take(open.place, team_);
      const bool is_passing = rows_.is_passing(open.place);
      if (is_passing) once = make_();
      is_split = (once ? *once : splitter).split(open, is_passing, left.place, right.place);
    }
    const std::lock_guard lock(guard_);
    if (!is_split) {
      tree_.leaf(open, rows_);
      return false;
    }
    for (const bool goes_right : {false, true}) {
      Open& child = goes_right ? right : left;
      child.node = tree_.add(rows_, child.place);
      child.depth = open.depth + 1;
      child.path = child_path(open.path, goes_right);
      child.given_up = open.given_up;
    }
    const Splitter& used = once ? *once : splitter;
    tree_.split(open, rows_, used.sampler, used.best_split, left, right);
    return true;
  }

  std::unique_ptr<Splitter> take_splitter() {
    {
      const std::lock_guard lock(guard_);
      if (!splitters_.empty()) {
        std::unique_ptr<Splitter> splitter = std::move(splitters_.back());
        splitters_.pop_back();
        return splitter;
      }
    }
    return make_();
  }
  void give_back(std::unique_ptr<Splitter> splitter) {
    const std::lock_guard lock(guard_);
    splitters_.push_back(std::move(splitter));
  }

  Rows& rows_;
  const StoppingRule stopping_;
  Tree& tree_;
  Make make_;
  Team* const team_;
  std::mutex guard_;                                  // guards the tree and the members below
  std::vector<std::unique_ptr<Splitter>> splitters_;  // splitters that no thread uses at the moment
};

}  // namespace oblique
