// The interface of a heuristic of forests, and how to add one.
//
// A type of forest is a sampler and a heuristic: rows and features are drawn for a tree and at its nodes
// (rows/row_draw.hpp, rows/feature_draw.hpp, rows/rotation.hpp), and of the features drawn the heuristic proposes
// hyperplanes. It is one file in heuristic/forests that registers its name, its options, and how it is made; nothing
// else in the core names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/random.hpp"
#include "heuristic/clustering_planes.hpp"
#include "heuristic/heuristic.hpp"
#include "rows/gathered.hpp"
#include "split/bag.hpp"
#include "split/monotone.hpp"

namespace oblique {

// A node of a forest's tree: its rows, and the features drawn there.
struct BagNode {
  const Bag& bag;
  const Gathered& x;
  Stream& stream;  // after the features were drawn
  std::uint64_t path;
  const Signs& signs;    // of the features drawn, where answers keep an order; else empty
  const Bounds& bounds;  // of the answers
};

// Hyperplanes over the features drawn. Of several the one of greatest Gini gain splits the node, the first on a tie.
struct Proposal {
  std::vector<Plane> planes;
  bool is_final = true;     // whether thresholds are final; else the middle of their gap is taken
  bool keeps_axes = false;  // whether a plane along an axis is stored as a cut of that feature
  bool axes_below = false;  // whether the nodes below are cut along axes only, and this one if nothing is proposed

  void clear() { *this = {std::move(planes), true, false, false}, planes.clear(); }
};

// Splits the nodes of one tree after another. Where it proposes nothing that divides the rows, the node is cut along
// the axes.
class ForestHeuristic {
 public:
  virtual ~ForestHeuristic() = default;

  virtual void begin_tree(std::uint64_t /* seed */, std::size_t /* number */) {}
  virtual void propose(const BagNode& node, Proposal& proposal) = 0;

  // Whether features are taken in their order where all of them are searched.
  virtual bool is_orderly() const { return false; }
  // The cut along an axis of all features of the tree, if the heuristic searches them itself: false leaves it to the
  // search by ranks.
  virtual bool propose_axis(const BagNode&, Proposal&) { return false; }
  // Least weight of a child, and another one for further trees.
  virtual double min_leaf() const { return 0.0; }
  virtual void require(double /* min_leaf */) {}
};

// A family of heuristics of single trees with its options.
struct FamilyChoice {
  const Family* family;
  Options options;
};

// What a heuristic of forests is made of. unweighted : whether no row of any node counts more than once
struct ForestTraits {
  const Options& options;
  const std::vector<FamilyChoice>& families;
  bool unweighted;
};

struct ForestSplit {
  using Make = std::unique_ptr<ForestHeuristic> (*)(const ForestTraits& traits);

  std::vector<Option> options;
  Make make = nullptr;          // nullptr: nodes are cut along the axes only
  bool takes_families = false;  // whether it splits by heuristics of single trees, which must then be given
};

template <class H>
std::unique_ptr<ForestHeuristic> make_forest(const ForestTraits& traits) {
  return std::make_unique<H>(traits);
}

// Registers a heuristic when the core is loaded; a static object of its own file.
class RegisteredSplit {
 public:
  RegisteredSplit(const char* name, std::initializer_list<Option> options, ForestSplit::Make make,
                  bool takes_families = false);
};

// Those registered, by name.
const std::map<std::string, ForestSplit>& forest_splits();

}  // namespace oblique
