#include "split/candidates.hpp"

namespace oblique {

// Calls work(i, helper) for i from 0 to n - 1; the results of the helpers are merged into the search of the node.
template <class Work>
void CandidateSearch::share(const Node& node, size_t n, const Work& work) {
  std::mutex guard;
  std::atomic<double> bar{node.search.front().bar()};
  // A thread borrows a helper while it takes part.
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
  node.team->share_with(n, Team::Meanwhile::kWait, take, [&](size_t i, const auto& helper) {
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

void CandidateSearch::search_together(const Node& node, const Candidates::Group& group, int64_t first_order) {
  const size_t n = node.rows.n, p = node.n_features();
  share(node, group.directions.size(), [&](size_t i, Helper& helper) {
    helper.z.resize(n);
    const Vector& w = group.directions[i];
    combine_columns(node.rows.columns.data(), w.data(), p, helper.z.data(), n);
    helper.search->direction(first_order + static_cast<int64_t>(i), helper.z.data(),
                             node.spread.of_direction(w.data()));
  });
  const std::vector<Space>& spaces = group.spaces;
  const SpaceParts parts(node.rows, node.spread, spaces);
  if (spaces.size() >= 8 * static_cast<size_t>(node.team->size())) {
    // Four share a pass over the rows, as with one thread, if there are enough for all threads to end together.
    const size_t together = spaces.size() >= 32 * static_cast<size_t>(node.team->size()) ? 4 : 1;
    share(node, (spaces.size() + together - 1) / together, [&](size_t i, Helper& helper) {
      const size_t first = i * together, last = std::min(first + together, spaces.size());
      helper.xu.resize(n * together);
      parts.add_up(first, last, helper.xu.data());
      for (size_t s = first; s < last; ++s)
        parts.search_space(*helper.search, s, first_order, helper.xu.data() + (s - first) * n);
    });
    return;
  }
  xu_.resize(n);
  for (size_t s = 0; s < spaces.size(); ++s) {
    constexpr size_t stretch = 16384;
    node.team->share((n + stretch - 1) / stretch, Team::Meanwhile::kWait, [&](size_t i) {
      parts.add_up(spaces[s], i * stretch, std::min((i + 1) * stretch, n), xu_.data());
    });
    const Spread::Reflected reflected(node.spread, spaces[s].u);
    share(node, p, [&](size_t j, Helper& helper) {
      parts.search_axis(*helper.search, s, j, node.rows.columns[j], reflected, first_order, xu_.data());
    });
  }
}

// The same for rows in a table: X u of a few spaces at a time in one pass over the rows, then a few columns at a time
// for all axes that need them.
void CandidateSearch::search_in_table(const Node& node, const Candidates::Group& group, int64_t first_order) {
  const size_t n = node.rows.n, p = node.n_features();
  const bool shared = node.is_shared(group.spaces.size() * p + group.directions.size());
  const bool reflects =
      std::any_of(group.spaces.begin(), group.spaces.end(), [](const Space& s) { return !s.original; });
  // The number of buffered values per row: X u of some spaces, and some columns, or projections on some directions.
  // More buffers need fewer passes over the rows. Together with the buffers of each search they take 2.5 bytes per
  // cell.
  const size_t all = (5 * p - std::min<size_t>(5 * p, 20)) / 16;
  const size_t of_others = shared ? 2 * static_cast<size_t>(node.team->size() - 1) : 0;
  const size_t at_hand = std::clamp<size_t>(all - std::min(all, of_others), 3, 24);
  const size_t columns_at_hand = std::min(p, reflects ? std::max<size_t>(1, 2 * at_hand / 5) : at_hand - 1);
  const size_t spaces_at_hand = at_hand - std::max<size_t>(1, 2 * at_hand / 5);
  const auto for_each_stretch = [&](const auto& work) {
    constexpr size_t stretch = 16384;
    const auto part = [&](size_t i, Stretches& stretches) {
      work(i * stretch, std::min((i + 1) * stretch, n), stretches);
    };
    const size_t parts = (n + stretch - 1) / stretch;
    if (shared)
      return node.team->share_with(
          parts, Team::Meanwhile::kWait, [] { return Stretches(); }, part);
    for (size_t i = 0; i < parts; ++i) part(i, stretches_);
  };
  // A completed search ignores its input, so the input need not exist.
  const auto search_each = [&](size_t count, bool is_over, const auto& work) {
    if (shared && !is_over) return share(node, count, [&](size_t i, Helper& helper) { work(i, *helper.search); });
    for (size_t i = 0; i < count; ++i) work(i, node.search);
  };
  // xu_ = X u of each u, n numbers one after the other
  const auto add_up = [&](const std::vector<const double*>& u) {
    if (xu_.size() < u.size() * n) xu_.resize(u.size() * n);
    for_each_stretch([&](size_t first, size_t last, Stretches& stretches) {
      stretches.for_each(node.rows, first, last, [&](const double* const* columns, size_t from, size_t to) {
        for (size_t k = 0; k < u.size(); ++k) combine_columns(columns, u[k], p, xu_.data() + k * n + from, to - from);
        checkpoint(u.size() * p * (to - from));
      });
    });
  };
  std::vector<const double*> u;
  for (size_t at = 0; at < group.directions.size(); at += at_hand) {
    u.clear();
    for (size_t i = at; i < std::min(at + at_hand, group.directions.size()); ++i)
      u.push_back(group.directions[i].data());
    const int64_t order = first_order + static_cast<int64_t>(at);
    const bool is_over = node.search.is_over(order);
    if (!is_over) add_up(u);
    search_each(u.size(), is_over, [&](size_t i, NodeSearch& search) {
      search.direction(order + static_cast<int64_t>(i), xu_.data() + i * n, node.spread.of_direction(u[i]));
    });
  }
  const std::vector<Space>& spaces = group.spaces;
  const SpaceParts parts(node.rows, node.spread, spaces);
  for (size_t s = 0; s < spaces.size(); s += spaces_at_hand) {
    const size_t count = std::min(spaces_at_hand, spaces.size() - s);
    const bool is_over = node.search.is_over(first_order + static_cast<int64_t>(s * p));
    u.clear();
    std::vector<size_t> place(count);  // index of X u among the buffered spaces
    std::vector<Spread::Reflected> reflected;
    for (size_t k = 0; k < count; ++k) {
      reflected.emplace_back(node.spread, spaces[s + k].u);
      place[k] = u.size();
      if (!spaces[s + k].original) u.push_back(spaces[s + k].u.data());
    }
    if (!is_over) add_up(u);
    columns_.resize(n * columns_at_hand);
    for (size_t j = 0; j < p; j += columns_at_hand) {
      const size_t width = std::min(columns_at_hand, p - j);
      if (!is_over)
        for_each_stretch([&](size_t first, size_t last, Stretches&) {
          node.rows.table->gather(first, last, j, j + width, columns_.data() + first, n);
        });
      search_each(count * width, is_over, [&](size_t i, NodeSearch& search) {
        const size_t k = i / width, c = i % width;
        parts.search_axis(search, s + k, j + c, columns_.data() + c * n, reflected[k], first_order,
                          spaces[s + k].original ? nullptr : xu_.data() + place[k] * n);
      });
    }
  }
}

bool CandidateSearch::find(const Node& node, const Candidates& candidates, Split& split) {
  const size_t p = node.n_features();
  starts_.clear();
  int64_t order = 0;
  for (const Candidates::Group& group : candidates.groups()) {
    starts_.push_back(order);
    const size_t directions = group.spaces.size() * p + group.directions.size();
    if (group.thresholds.empty() && (node.rows.table || node.is_shared(directions))) {
      node.rows.table ? search_in_table(node, group, order) : search_together(node, group, order);
      order += static_cast<int64_t>(directions);
      continue;
    }
    search_spaces(node.search, node.rows, node.spread, group.spaces, order, xu_);
    order += static_cast<int64_t>(group.spaces.size() * p);
    for (size_t i = 0; i < group.directions.size(); ++i, ++order) {
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
  size_t g = starts_.size();
  while (starts_[g - 1] > cut.order) --g;
  const Candidates::Group& group = candidates.groups()[g - 1];
  const int64_t within = cut.order - starts_[g - 1];
  split = {group.spaces.empty() ? group.directions[within] : normal_of(group.spaces, p, within), cut.threshold,
           node.search.gain(cut.value), !group.thresholds.empty(), cut.order};
  return true;
}

namespace {

// A plane under search. axis : the feature of an original axis, else -1; threshold : nullptr to search all thresholds
struct Looked {
  const Vector& normal;
  ptrdiff_t axis;
  const double* threshold;
  int way;
};

// A normal without the coefficients of constrained features that contradict a crossing direction, of unit length.
Vector agreeing(const Vector& normal, const Signs& signs, int way) {
  Vector part = normal;
  for (size_t j = 0; j < part.size(); ++j)
    if (way * signs[j] * part[j] < 0.0) part[j] = 0.0;
  const double length = norm(part.data(), part.size());
  for (double& each : part) each /= length;
  return part;
}

// Whether a coefficient of a constrained feature is rounding noise; `cleaned` : the normal without such ones.
bool has_noise(const Vector& normal, const Node& node, Vector& cleaned) {
  constexpr double kNoise = 1e-9;
  double most = 0.0;
  for (size_t j = 0; j < normal.size(); ++j) most = std::max(most, std::fabs(normal[j]) * node.spread.range[j]);
  cleaned = normal;
  bool is_found = false;
  for (size_t j = 0; j < normal.size(); ++j) {
    if ((*node.signs)[j] == 0 || normal[j] == 0.0) continue;
    if (std::fabs(normal[j]) * node.spread.range[j] > kNoise * most) continue;
    cleaned[j] = 0.0;
    is_found = true;
  }
  return is_found && std::any_of(cleaned.begin(), cleaned.end(), [](double each) { return each != 0.0; });
}

// Calls visit(order, looked) for the planes of all candidates in enumeration order, until it returns false.
template <class Visit>
void for_each_plane(const Node& node, const Candidates& candidates, const Visit& visit) {
  const Signs& signs = *node.signs;
  const size_t p = signs.size();
  int64_t order = 0;
  Vector cleaned;
  const auto look = [&](const Vector& proposed, ptrdiff_t axis, const double* threshold) {
    const Vector& normal = has_noise(proposed, node, cleaned) ? cleaned : proposed;
    const int way = way_across(signs, normal.data());
    if (way != kMixed) return visit(order++, Looked{normal, axis, threshold, way});
    for (const int sign : {1, -1})
      if (!visit(order++, Looked{agreeing(normal, signs, sign), -1, nullptr, sign})) return false;
    return true;
  };
  for (const Candidates::Group& group : candidates.groups()) {
    for (size_t at = 0; at < group.spaces.size() * p; ++at) {
      const ptrdiff_t axis = group.spaces[at / p].original ? static_cast<ptrdiff_t>(at % p) : -1;
      if (!look(normal_of(group.spaces, p, static_cast<int64_t>(at)), axis, nullptr)) return;
    }
    for (size_t i = 0; i < group.directions.size(); ++i)
      if (!look(group.directions[i], -1, group.thresholds.empty() ? nullptr : &group.thresholds[i])) return;
  }
}

}  // namespace

bool MonotoneSearch::find(const Node& node, const Candidates& candidates, Split& split) {
  if (find_among(node, candidates, split)) return true;
  Candidates axes;
  axes.add_axes();
  return find_among(node, axes, split);
}

bool MonotoneSearch::find_among(const Node& node, const Candidates& candidates, Split& split) {
  // Both sides of a cut decide whether it is allowed, so no bound can exclude a cut early.
  SearchOptions plainly = node.options;
  plainly.exhaustive = true;
  const std::unique_ptr<NodeSearch> search = make_search(plainly);
  AllowedCuts allowed{node.bounds, 0};
  search->restrict_to(&allowed);
  search->begin(node.rows);
  z_.resize(node.rows.n);
  for_each_plane(node, candidates, [&](int64_t order, const Looked& looked) {
    allowed.way = looked.way;
    if (looked.threshold) {
      node.predicted.project(looked.normal.data(), z_.data());
      search->fixed_cut(order, z_.data(), *looked.threshold, node.options.min_leaf);
    } else if (looked.axis >= 0) {
      const auto j = static_cast<size_t>(looked.axis);
      search->direction(order, node.rows.columns[j], node.spread.of_axis(j));
    } else {
      combine_columns(node.rows.columns.data(), looked.normal.data(), looked.normal.size(), z_.data(), node.rows.n);
      search->direction(order, z_.data(), node.spread.of_direction(looked.normal.data()));
    }
    return true;
  });
  const Cut cut = search->front().winner();
  if (cut.order < 0) return false;
  for_each_plane(node, candidates, [&](int64_t order, const Looked& looked) {
    if (order != cut.order) return true;
    split.normal = looked.normal;
    split.is_final = looked.threshold != nullptr;
    return false;
  });
  split.threshold = cut.threshold;
  split.gain = search->gain(cut.value);
  split.order = cut.order;
  return true;
}

}  // namespace oblique
