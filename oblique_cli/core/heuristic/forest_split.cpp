#include "heuristic/forest_split.hpp"

namespace oblique {

namespace {

std::map<std::string, ForestSplit>& registered_splits() {
  static std::map<std::string, ForestSplit> all;
  return all;
}

}  // namespace

RegisteredSplit::RegisteredSplit(const char* name, std::initializer_list<Option> options, ForestSplit::Make make,
                                 bool takes_families) {
  // `forest_splits` reports a repeated name: nothing may be thrown while the core is loaded.
  ForestSplit& split = registered_splits()[registered_splits().count(name) ? std::string(name) + " (twice)" : name];
  split = {options, make, takes_families};
}

const std::map<std::string, ForestSplit>& forest_splits() {
  for (const auto& [name, split] : registered_splits())
    if (name.ends_with(" (twice)")) throw std::invalid_argument("a heuristic of forests stands twice: " + name);
  return registered_splits();
}

}  // namespace oblique
