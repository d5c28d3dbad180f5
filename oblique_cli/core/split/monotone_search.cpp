#include "split/monotone_search.hpp"

namespace oblique {

namespace {

// A plane under search. axis : the feature if it is an original axis, else -1; threshold : nullptr to search all
// thresholds
struct Looked {
  const Vector& normal;
  ptrdiff_t axis;
  const double* threshold;
  int way;
};

// The part of a normal that agrees with a direction across the plane, scaled to unit length.
Vector agreeing(const Vector& normal, const Signs& signs, int way) {
  Vector part = normal;
  for (size_t j = 0; j < part.size(); ++j)
    if (way * signs[j] * part[j] < 0.0) part[j] = 0.0;
  const double length = norm(part.data(), part.size());
  for (double& each : part) each /= length;
  return part;
}

// Whether some coefficient of a constrained feature is rounding noise; `cleaned` is the normal without such
// coefficients.
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
