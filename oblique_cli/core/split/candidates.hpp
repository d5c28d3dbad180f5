// The directions that a heuristic proposes at a node, and the search among them.
#pragma once

#include "split/node.hpp"
#include "split/spaces.hpp"

namespace oblique {

// Directions in enumeration order, which decides ties: the first wins.
class Candidates {
 public:
  // Neighbors in the enumeration with the same kind of search.
  struct Group {
    std::vector<Space> spaces;       // all axes of each, or
    std::vector<Vector> directions;  // unit normals,
    std::vector<double> thresholds;  // with a threshold for each where it is fixed
  };

  // The axes of the features.
  void add_axes() { spaces().push_back(Space{}); }
  // The axes of I - 2uu', u a unit vector.
  void add_reflection(Vector u) { spaces().push_back(Space{false, std::move(u)}); }
  // One direction with a search over all its thresholds. w : unit vector
  void add_direction(Vector w) { directions(false).directions.push_back(std::move(w)); }
  // One hyperplane w'x <= threshold.
  void add_hyperplane(Vector w, double threshold) {
    Group& group = directions(true);
    group.directions.push_back(std::move(w));
    group.thresholds.push_back(threshold);
  }
  // The last group of spaces, to append to. The common axes of the spaces of a group are searched once.
  std::vector<Space>& spaces() {
    if (groups_.empty() || !groups_.back().directions.empty()) groups_.emplace_back();
    return groups_.back().spaces;
  }

  // Appends all candidates of another list. Its spaces form a separate group.
  void append(Candidates&& more) {
    for (Group& group : more.groups_) groups_.push_back(std::move(group));
    more.clear();
  }

  void clear() { groups_.clear(); }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  Group& directions(bool has_thresholds) {
    if (groups_.empty() || groups_.back().directions.empty() || groups_.back().thresholds.empty() == has_thresholds)
      groups_.emplace_back();
    return groups_.back();
  }

  std::vector<Group> groups_;
};

// Searches candidates at one node after another and reuses its buffers.
class CandidateSearch {
 public:
  // The best cut of a node among candidates, the first of equals; false if none has a score. At a large node the
  // threads of the team share the directions; the result does not depend on which thread finds a cut.
  bool find(const Node& node, const Candidates& candidates, Split& split);

 private:
  // A thread's own search.
  struct Helper {
    std::unique_ptr<NodeSearch> search;
    Vector xu, z;
    bool begun = false;
  };

  void search_together(const Node& node, const Candidates::Group& group, int64_t first_order);
  void search_in_table(const Node& node, const Candidates::Group& group, int64_t first_order);
  template <class Work>
  void share(const Node& node, size_t n, const Work& work);

  Vector xu_, z_, columns_;
  Stretches stretches_;
  std::vector<std::unique_ptr<Helper>> idle_;
  std::vector<int64_t> starts_;
};

// Constrained features that disagree in a plane make its crossing direction ambiguous. Two planes replace such a plane:
// each has the coefficients that agree with one direction, and 0 for the others. Their thresholds are searched again.
class MonotoneSearch {
 public:
  // The best allowed cut of a node among candidates, the first of equals; false if none has a score. Without an allowed
  // cut of a candidate it searches the axes. The search of the node stays unchanged.
  bool find(const Node& node, const Candidates& candidates, Split& split);

 private:
  bool find_among(const Node& node, const Candidates& candidates, Split& split);

  Vector z_;
};

}  // namespace oblique
