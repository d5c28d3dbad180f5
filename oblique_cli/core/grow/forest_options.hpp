// How the trees of a forest are grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "heuristic/forest_split.hpp"
#include "rows/rotation.hpp"
#include "rows/row_draw.hpp"
#include "split/axis_search.hpp"
#include "split/monotone.hpp"

namespace oblique {

// A sampler and a heuristic.
struct ForestOptions {
  std::size_t mtry = 0;         // features drawn at a node, 0: all (of the rotated ones)
  double minleaf = 1.0;         // an impure node of this many rows or fewer is a leaf, repeats counted
  std::int64_t max_depth = -1;  // -1: no limit
  RowDraw rows;
  std::size_t tree_features = 0;     // features drawn for a tree, 0: all
  bool node_bootstrap = false;       // rows are drawn again at large nodes to choose the split
  std::size_t group_size = 0;        // of a rotation, 0: none
  Scaling scaling = Scaling::range;  // before a rotation
  // The heuristic, with the options of all forests and its own.
  const ForestSplit* split;
  Options options;
  // Families of heuristics: tree number t has number t modulo their count.
  std::vector<FamilyChoice> families;
  Signs signs = {};                       // of the features, where the answers of two classes keep an order
  std::vector<std::string> without = {};  // tactics of the search along axes left out, for tests
  std::optional<std::uint64_t> features_seed = std::nullopt;  // of a tree whose features it takes, not of its own

  bool ranked() const { return AxisSearch(without).ranked(); }
  std::optional<Scaling> rotated() const { return group_size > 0 ? std::optional(scaling) : std::nullopt; }
  // nullptr where nodes are cut along axes only
  std::unique_ptr<ForestHeuristic> heuristic(bool unweighted) const {
    return split->make ? split->make({options, families, unweighted}) : nullptr;
  }
};

// Reads the options of a forest: those that all forests have, and those of its kind of split. Throws
// std::invalid_argument for what is missing, unknown or out of place.
ForestOptions forest_options(std::map<std::string, OptionValue> values, std::vector<FamilyChoice> families);

}  // namespace oblique
