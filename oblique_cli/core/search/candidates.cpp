#include "search/candidates.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "common/kernels.hpp"
#include "common/team.hpp"

namespace oblique {

// work(i, helper) for i from 0 to n - 1; what the helpers find is joined in the search of the node.
template <class Work>
void CandidateSearch::share(const Node& node, std::size_t n, const Work& work) {
  std::mutex guard;
  std::atomic<double> bar{node.search.front().bar()};
  // A helper is taken for as long as its thread takes part.
  const auto take = [&]() {
    const auto give_back = [&](Helper* helper) {
      const std::lock_guard lock(guard);
      idle_.emplace_back(helper);
    };
    std::unique_ptr<Helper, decltype(give_back)> helper(nullptr, give_back);
    {
      const std::lock_guard lock(guard);
      if (!idle_.empty()) {
        helper.reset(idle_.back().release());
        idle_.pop_back();
      }
    }
    if (!helper) {
      helper.reset(new Helper);
      helper->search = make_search(node.options);
    }
    if (!helper->begun) helper->search->begin(node.rows);
    helper->begun = true;
    return helper;
  };
  node.team->share_with(n, Team::Meanwhile::kWait, take, [&](std::size_t i, const auto& helper) {
    helper->search->raise(bar);
    work(i, *helper);
    const double reached = helper->search->front().bar();
    for (double known = bar; known < reached && !bar.compare_exchange_weak(known, reached);) {
    }
  });
  for (const std::unique_ptr<Helper>& helper : idle_) {
    if (helper->begun) node.search.join(*helper->search);
    helper->begun = false;
  }
}

void CandidateSearch::search_together(const Node& node, const Candidates::Group& group, std::int64_t first_order) {
  const std::size_t n = node.rows.n, p = node.n_features();
  share(node, group.directions.size(), [&](std::size_t i, Helper& helper) {
    helper.z.resize(n);
    const Vector& w = group.directions[i];
    combine_columns(node.rows.columns.data(), w.data(), p, helper.z.data(), n);
    helper.search->direction(first_order + static_cast<std::int64_t>(i), helper.z.data(),
                             node.spread.of_direction(w.data()));
  });
  const std::vector<Space>& spaces = group.spaces;
  const SpaceParts parts(node.rows, node.spread, spaces);
  if (spaces.size() >= 8 * static_cast<std::size_t>(node.team->size())) {
    share(node, spaces.size(), [&](std::size_t s, Helper& helper) {
      helper.xu.resize(n);
      parts.add_up(spaces[s], 0, n, helper.xu.data());
      parts.search_space(*helper.search, s, first_order, helper.xu.data());
    });
    return;
  }
  xu_.resize(n);
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    constexpr std::size_t stretch = 16384;
    node.team->share((n + stretch - 1) / stretch, Team::Meanwhile::kWait, [&](std::size_t i) {
      parts.add_up(spaces[s], i * stretch, std::min((i + 1) * stretch, n), xu_.data());
    });
    const Spread::Reflected reflected(node.spread, spaces[s].u);
    share(node, p, [&](std::size_t j, Helper& helper) {
      parts.search_axis(*helper.search, s, j, reflected, first_order, xu_.data());
    });
  }
}

bool CandidateSearch::find(const Node& node, const Candidates& candidates, Split& split) {
  const std::size_t p = node.n_features();
  starts_.clear();
  std::int64_t order = 0;
  for (const Candidates::Group& group : candidates.groups()) {
    starts_.push_back(order);
    const std::size_t directions = group.spaces.size() * p + group.directions.size();
    if (group.thresholds.empty() && node.is_shared(directions)) {
      search_together(node, group, order);
      order += static_cast<std::int64_t>(directions);
      continue;
    }
    search_spaces(node.search, node.rows, node.spread, group.spaces, order, xu_);
    order += static_cast<std::int64_t>(group.spaces.size() * p);
    for (std::size_t i = 0; i < group.directions.size(); ++i, ++order) {
      const Vector& w = group.directions[i];
      z_.resize(node.rows.n);
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
