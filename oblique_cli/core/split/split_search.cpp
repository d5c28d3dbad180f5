#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "split/criteria.hpp"
#include "split/fast_search.hpp"
#include "split/node_search.hpp"
#include "split/plain_search.hpp"

namespace oblique {

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
    if (options.exhaustive) return std::make_unique<PlainSearch<Criterion>>(options);
    return std::make_unique<FastSearch<Criterion>>(options);
  });
}

}  // namespace oblique
