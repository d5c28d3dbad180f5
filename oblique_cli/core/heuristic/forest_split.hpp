// The interface of a heuristic of forests, and how to add one.
// A type of forest consists of a sampler and a heuristic. The sampler draws rows and features for a tree and at its
// nodes (rows/training_rows.hpp); the heuristic proposes hyperplanes over the drawn features. A heuristic is one file
// in heuristic/forests that registers its name, its options and its factory; nothing else in the core names it.
#pragma once

#include "heuristic/clustering_planes.hpp"
#include "heuristic/heuristic.hpp"
#include "split/bag.hpp"

namespace oblique {

// A node of a forest's tree: its rows and its drawn features.
struct BagNode {
  const Bag& bag;
  const Gathered& x;
  Stream& stream;  // state after the draw of the features
  uint64_t path;
  const Signs& signs;    // monotone signs of the drawn features; empty without constraints
  const Bounds& bounds;  // of the predictions
};

// Hyperplanes over the drawn features. The hyperplane of greatest Gini gain splits the node, the first on a tie.
struct Proposal {
  std::vector<Plane> planes;
  bool is_final = true;     // whether thresholds are final; otherwise they move to the middle of their gap
  bool keeps_axes = false;  // whether a plane along an axis is stored as a cut of that feature
  bool axes_below = false;  // whether nodes below, and this one without a proposal, are cut along axes only

  void clear() { *this = {std::move(planes), true, false, false}, planes.clear(); }
};

// Splits the nodes of one tree after another. If no proposal divides the rows, the node is cut along the axes.
class ForestHeuristic {
 public:
  virtual ~ForestHeuristic() = default;

  virtual void begin_tree(uint64_t /* seed */, size_t /* number */) {}
  virtual void propose(const BagNode& node, Proposal& proposal) = 0;

  // Whether features keep their order when all of them are searched.
  virtual bool is_orderly() const { return false; }
  // The axis-parallel cut over all features of the tree; false leaves it to the search by ranks.
  virtual bool propose_axis(const BagNode&, Proposal&) { return false; }
  // Least weight of a child; the second function sets it for further trees.
  virtual double min_leaf() const { return 0.0; }
  virtual void require(double /* min_leaf */) {}
};

struct FamilyChoice {
  const Family* family;
  Options options;
};

// The parts of a heuristic of forests. unweighted : whether no row of any node counts more than once
struct ForestTraits {
  const Options& options;
  const std::vector<FamilyChoice>& families;
  bool unweighted;
};

struct ForestSplit {
  using Make = std::unique_ptr<ForestHeuristic> (*)(const ForestTraits& traits);

  std::vector<Option> options;
  Make make = nullptr;          // nullptr: nodes are cut along the axes only
  bool takes_families = false;  // whether it uses heuristics of single trees, which are then a required option
};

template <class H>
std::unique_ptr<ForestHeuristic> make_forest(const ForestTraits& traits) {
  return std::make_unique<H>(traits);
}

// Registers a heuristic when the core is loaded; a static object in the file of the heuristic.
class RegisteredSplit {
 public:
  RegisteredSplit(const char* name, std::initializer_list<Option> options, ForestSplit::Make make,
                  bool takes_families = false);
};

const std::map<std::string, ForestSplit>& forest_splits();

}  // namespace oblique
