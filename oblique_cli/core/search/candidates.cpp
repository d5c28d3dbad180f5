#include "search/candidates.hpp"

#include <cstdint>

#include "common/kernels.hpp"

namespace oblique {

bool CandidateSearch::find(const Node& node, const Candidates& candidates, Split& split) {
  const std::size_t p = node.n_features();
  z_.resize(node.rows.n);
  starts_.clear();
  std::int64_t order = 0;
  for (const Candidates::Group& group : candidates.groups()) {
    starts_.push_back(order);
    search_spaces(node.search, node.rows, node.spread, group.spaces, order, xu_);
    order += static_cast<std::int64_t>(group.spaces.size() * p);
    for (std::size_t i = 0; i < group.directions.size(); ++i, ++order) {
      const Vector& w = group.directions[i];
      if (group.thresholds.empty()) {
        combine_columns(node.rows.columns.data(), w.data(), p, z_.data(), node.rows.n);
        node.search.direction(order, z_.data(), node.spread.of_direction(w.data()));
      } else {
        node.predicted.project(w.data(), z_.data());
        node.search.fixed_cut(order, z_.data(), group.thresholds[i], node.options.min_leaf);
      }
    }
  }
  const Cut cut = node.search.front().winner();
  if (cut.order < 0) return false;
  std::size_t g = starts_.size();
  while (starts_[g - 1] > cut.order) --g;
  const Candidates::Group& group = candidates.groups()[g - 1];
  const std::int64_t within = cut.order - starts_[g - 1];
  split.normal =
      group.spaces.empty() ? group.directions[static_cast<std::size_t>(within)] : normal_of(group.spaces, p, within);
  split.threshold = cut.threshold;
  split.gain = node.search.gain(cut.value);
  split.given = !group.thresholds.empty();
  split.order = cut.order;
  return true;
}

}  // namespace oblique
