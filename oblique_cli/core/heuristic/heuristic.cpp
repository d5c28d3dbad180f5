#include "heuristic/heuristic.hpp"

namespace oblique {

namespace {

// All families, in the order of registration, which depends on how the core was linked.
std::vector<Family>& registered() {
  static std::vector<Family> all;
  return all;
}

std::map<std::string, Family> checked() {
  std::map<std::string, Family> out;
  for (const Family& family : registered()) {
    const std::string owner = family.file + ": native family '" + family.name + "' ";
    if (family.name.empty()) throw std::invalid_argument(family.file + ": a native family needs a name");
    if (!family.make) throw std::invalid_argument(owner + "needs a function that makes its heuristic");
    std::vector<Option> options = growth_options();
    for (const Option& option : family.options) {
      for (const Option& earlier : options)
        if (earlier.name == option.name)
          throw std::invalid_argument(owner + "declares the option '" + option.name +
                                      "', which it has already or which all families have");
      options.push_back(option);
    }
    const auto [place, is_new] = out.emplace(family.name, family);
    if (!is_new) throw std::invalid_argument(owner + "has the name of the one in " + place->second.file);
  }
  return out;
}

// The path of a source file below the core's folder, for any path that the compiler received.
std::string within_core(const std::string& path) {
  const size_t at = path.rfind("heuristic/families/");
  return at == std::string::npos ? path : path.substr(at);
}

}  // namespace

Registered::Registered(const char* name, std::initializer_list<Option> options, const Maker& maker, bool quantitative,
                       bool adds_up, const char* file) {
  registered().push_back({name, options, maker.make, quantitative, maker.from_sums, adds_up, within_core(file)});
}

const std::map<std::string, Family>& families() {
  static const std::map<std::string, Family> all = checked();
  return all;
}

const Family& family_of(const std::string& name) {
  const auto entry = families().find(name);
  if (entry != families().end()) return entry->second;
  std::string names;
  for (const auto& [each, family] : families()) names += (names.empty() ? "" : ", ") + each;
  throw std::invalid_argument("the core has no family '" + name + "'; it has " + names);
}

std::vector<Option> search_options() {
  std::vector<std::string> criteria = criterion_names();
  for (std::string& name : given_criteria()) criteria.push_back(std::move(name));
  return {{"criterion", Option::Kind::choice, std::move(criteria)},
          number("min_leaf"),
          flag("strict_ties"),
          flag("exhaustive"),
          integer("seed")};
}

std::vector<Option> growth_options() {
  std::vector<Option> out = search_options();
  for (const Option& option : {number("min_parent"), number("epsilon"), integer("max_depth"), integer("max_leaf_nodes"),
                               flag("polish"), integer("max_terms"), number("split_cost")})
    out.push_back(option);
  return out;
}

Options options_of(const Family& family, const std::vector<Option>& common, std::map<std::string, OptionValue> values) {
  std::vector<Option> declared = common;
  declared.insert(declared.end(), family.options.begin(), family.options.end());
  return Options("family '" + family.name + "'", declared, std::move(values));
}

std::unique_ptr<Heuristic> make_member(const Member& member, const Options& owner) {
  const Family& family = family_of(member.family);
  std::map<std::string, OptionValue> values = owner.values_of(search_options());
  values.insert(member.options.begin(), member.options.end());
  return family.make(options_of(family, search_options(), std::move(values)));
}

bool is_quantitative(const Family& family, const Options& options) {
  if (family.quantitative) return true;
  for (const Option& option : family.options) {
    if (option.kind != Option::Kind::members) continue;
    for (const Member& member : options.members(option.name.c_str()))
      if (family_of(member.family).quantitative) return true;
  }
  return false;
}

SearchOptions search_of(const Options& options) {
  return {options.choice("criterion"), options.flag("strict_ties"), options.number("min_leaf"),
          options.flag("exhaustive")};
}

}  // namespace oblique
