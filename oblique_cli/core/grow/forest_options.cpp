#include "grow/forest_options.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace oblique {

namespace {

std::vector<Option> shared_options() {
  std::vector<Option> all{choice("split", {}),      integer("mtry"),
                          number("minleaf"),        integer("max_depth"),
                          flag("bootstrap"),        integer("max_samples"),
                          integer("tree_features"), flag("node_bootstrap"),
                          integer("group_size"),    choice("scaling", {"range", "deviation", "none"})};
  for (const auto& [name, split] : forest_splits()) all[0].choices.push_back(name);
  return all;
}

Scaling scaling_of(const std::string& name) {
  return name == "range" ? Scaling::range : name == "deviation" ? Scaling::deviation : Scaling::none;
}

}  // namespace

ForestOptions forest_options(std::map<std::string, OptionValue> values, std::vector<FamilyChoice> families) {
  const auto entry = values.find("split");
  const std::string* name = entry == values.end() ? nullptr : std::get_if<std::string>(&entry->second);
  const auto known = forest_splits().find(name ? *name : "");
  const ForestSplit* split = known == forest_splits().end() ? nullptr : &known->second;
  std::vector<Option> declared = shared_options();
  if (split) declared.insert(declared.end(), split->options.begin(), split->options.end());
  Options options(name ? "forest '" + *name + "'" : "a forest", declared, std::move(values));
  if (split->takes_families && families.empty())
    throw std::invalid_argument("a forest with split '" + known->first + "' needs a family");
  return {options.count("mtry"),
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
