// Options of the trees of a forest.
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

// Options of the sampler and of the heuristic.
struct ForestOptions {
  std::size_t mtry = 0;         // features drawn at a node, 0: all (after a rotation: all rotated features)
  double minleaf = 1.0;         // an impure node of at most this many rows is a leaf; repeated rows count repeatedly
  std::int64_t max_depth = -1;  // -1: no limit
  RowDraw rows;
  std::size_t tree_features = 0;     // features drawn for a tree, 0: all
  bool node_bootstrap = false;       // whether large nodes choose their split on a bootstrap sample
  std::size_t group_size = 0;        // features of a group of a rotation, 0: no rotation
  Scaling scaling = Scaling::range;  // before a rotation
  // The heuristic, with the options of all forests and those of its family.
  const ForestSplit* split;
  Options options;
  // Families of heuristics: tree number t has number t modulo their count.
  std::vector<FamilyChoice> families;
  Signs signs = {};                                           // monotone signs of the features, for two classes
  std::vector<std::string> without = {};                      // tactics of the axis search to leave out, for tests
  std::optional<std::uint64_t> features_seed = std::nullopt;  // tree whose features are used instead of a draw

  bool ranked() const { return AxisSearch(without).ranked(); }
  std::optional<Scaling> rotated() const { return group_size > 0 ? std::optional(scaling) : std::nullopt; }
  // nullptr if nodes are cut along axes only
  std::unique_ptr<ForestHeuristic> heuristic(bool unweighted) const {
    return split->make ? split->make({options, families, unweighted}) : nullptr;
  }
};

// Reads the options of a forest: the common ones and those of its kind of split. Throws std::invalid_argument for a
// missing, unknown or unsuitable option.
ForestOptions forest_options(std::map<std::string, OptionValue> values, std::vector<FamilyChoice> families);

}  // namespace oblique
