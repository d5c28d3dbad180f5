
#include "split/criteria.hpp"
#include "split/fast_search.hpp"

namespace oblique {

namespace {

// Never destroyed: the objects that its functions refer to may not exist at the end of the process.
struct GivenCriteria {
  std::mutex guard;
  std::map<std::string, GivenCriterion> by_name;

  static GivenCriteria& all() {
    static auto* const only = new GivenCriteria;
    return *only;
  }
};

}  // namespace

void give_criterion(const std::string& name, GivenCriterion criterion) {
  const std::vector<std::string>& core_names = criterion_names();
  GivenCriteria& registry = GivenCriteria::all();
  const std::lock_guard lock(registry.guard);
  if (std::find(core_names.begin(), core_names.end(), name) != core_names.end() || registry.by_name.contains(name))
    throw std::invalid_argument("there is a criterion '" + name + "' already");
  registry.by_name.emplace(name, std::move(criterion));
}

const GivenCriterion* given_criterion(const std::string& name) {
  GivenCriteria& registry = GivenCriteria::all();
  const std::lock_guard lock(registry.guard);
  const auto entry = registry.by_name.find(name);
  return entry == registry.by_name.end() ? nullptr : &entry->second;
}

std::vector<std::string> given_criteria() {
  GivenCriteria& registry = GivenCriteria::all();
  const std::lock_guard lock(registry.guard);
  std::vector<std::string> names;
  for (const auto& each : registry.by_name) names.push_back(each.first);
  return names;
}

const std::vector<std::string>& criterion_names() {
  static const std::vector<std::string> all = names_of(Criteria{});
  return all;
}

const std::vector<std::string>& tactics() {
  static const std::vector<std::string> all{"looks", "rare rows", "bins", "parts", "sort"};
  return all;
}

std::unique_ptr<NodeSearch> make_search(const SearchOptions& options) {
  for (const std::string& name : options.without)
    if (std::find(tactics().begin(), tactics().end(), name) == tactics().end())
      throw std::invalid_argument("the search has no tactic '" + name + "'");
  return with_criterion(options.criterion, [&]<class Criterion>() -> std::unique_ptr<NodeSearch> {
    if constexpr (std::is_same_v<Criterion, Given>) return std::make_unique<BatchSearch<Criterion>>(options);
    if (options.exhaustive) return std::make_unique<PlainSearch<Criterion>>(options);
    return std::make_unique<FastSearch<Criterion>>(options);
  });
}

}  // namespace oblique
