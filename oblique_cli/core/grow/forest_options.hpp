// Options of the trees of a forest.
#pragma once

#include "heuristic/forest_split.hpp"
#include "rows/training_rows.hpp"
#include "split/axis_search.hpp"

namespace oblique {

struct ForestOptions {
  size_t mtry = 0;         // features drawn at a node, 0: all (after a rotation: all rotated features)
  double minleaf = 1.0;    // an impure node of at most this many rows is a leaf; repeated rows count repeatedly
  int64_t max_depth = -1;  // -1: no limit
  RowDraw rows;
  size_t tree_features = 0;          // features drawn for a tree, 0: all
  bool node_bootstrap = false;       // whether large nodes choose their split on a bootstrap sample
  size_t group_size = 0;             // features of a group of a rotation, 0: no rotation
  Scaling scaling = Scaling::range;  // before a rotation
  // The heuristic, with the options of all forests and those of its family.
  const ForestSplit* split;
  Options options;
  // Families of heuristics: tree number t has number t modulo their count.
  std::vector<FamilyChoice> families;
  Signs signs = {};                                      // monotone signs of the features, for two classes
  std::vector<std::string> without = {};                 // tactics of the axis search to leave out, for tests
  std::optional<uint64_t> features_seed = std::nullopt;  // tree whose features are used instead of a draw

  bool ranked() const { return AxisSearch(without).ranked(); }
  std::optional<Scaling> rotated() const { return group_size > 0 ? std::optional(scaling) : std::nullopt; }
  // nullptr if nodes are cut along axes only
  std::unique_ptr<ForestHeuristic> heuristic(bool unweighted) const {
    return split->make ? split->make({options, families, unweighted}) : nullptr;
  }
};

inline std::vector<Option> shared_options() {
  std::vector<Option> all{choice("split", {}),      integer("mtry"),
                          number("minleaf"),        integer("max_depth"),
                          flag("bootstrap"),        integer("max_samples"),
                          integer("tree_features"), flag("node_bootstrap"),
                          integer("group_size"),    choice("scaling", {"range", "deviation", "none"})};
  for (const auto& [name, split] : forest_splits()) all[0].choices.push_back(name);
  return all;
}

inline Scaling scaling_of(const std::string& name) {
  return name == "range" ? Scaling::range : name == "deviation" ? Scaling::deviation : Scaling::none;
}

// Reads the common options of a forest and those of its kind of split. Throws std::invalid_argument.
inline ForestOptions forest_options(std::map<std::string, OptionValue> values, std::vector<FamilyChoice> families) {
  const auto entry = values.find("split");
  const std::string* name = entry == values.end() ? nullptr : std::get_if<std::string>(&entry->second);
  const auto known = forest_splits().find(name ? *name : "");
  const ForestSplit* split = known == forest_splits().end() ? nullptr : &known->second;
  std::vector<Option> declared = shared_options();
  if (split) declared.insert(declared.end(), split->options.begin(), split->options.end());
  Options options(name ? "forest '" + *name + "'" : "a forest", declared, std::move(values));
  if (split->takes_families && families.empty())
    throw std::invalid_argument("a forest with split '" + known->first + "' needs a family");
  return ForestOptions{options.count("mtry"),
                       options.number("minleaf"),
                       options.integer("max_depth"),
                       {options.flag("bootstrap"), options.count("max_samples")},
                       options.count("tree_features"),
                       options.flag("node_bootstrap"),
                       options.count("group_size"),
                       scaling_of(options.choice("scaling")),
                       split,
                       options,
                       std::move(families)};
}

}  // namespace oblique
