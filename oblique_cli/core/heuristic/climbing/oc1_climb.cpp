#include "heuristic/climbing/oc1_climb.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/kernels.hpp"
#include "common/options.hpp"
#include "common/random.hpp"
#include "heuristic/climbing/climb.hpp"

namespace oblique {

namespace {

OC1Settings settings_of(const Options& options) {
  const std::string& order = options.choice("order");
  return {options.integer("restarts"),
          options.integer("jumps"),
          order == "sequential" ? PerturbationOrder::sequential
          : order == "best"     ? PerturbationOrder::best
                                : PerturbationOrder::random50,
          options.number("stagnation"),
          options.flag("exact"),
          options.flag("direct"),
          options.choice("standardization") == "none"};
}

}  // namespace

OC1Climb::OC1Climb(const Options& options) : OC1Climb(search_of(options), settings_of(options)) {}

OC1Climb::OC1Climb(const SearchOptions& search, const OC1Settings& settings)
    : Climb(search, settings.direct), settings_(settings) {}

void OC1Climb::climb(const Node& node, const Cut& start) {
  begin_climb();
  for (std::int64_t restart = 0; restart < settings_.restarts; ++restart) {
    Stream stream = node.stream(static_cast<std::uint64_t>(restart));
    if (restart == 0 && start.order >= 0)
      start_from(start);
    else
      random_plane(stream, plane.a, plane.t);
    climb_on(stream);
  }
}

void OC1Climb::climb_from(const Split& start, Stream stream) {
  begin_climb();
  plane.t = start.threshold;
  std::fill(plane.a.begin(), plane.a.end(), 0.0);
  std::size_t next = 0;
  for (std::size_t j = 0; j < plane.p(); ++j) {
    if (next < plane.features().size() && plane.features()[next] == j) {
      ++next;
      plane.a[j] = start.normal[j] * plane.scale(j);
    } else {
      plane.t -= start.normal[j] * plane.rows().columns[j][0];  // a constant feature moves the threshold only
    }
  }
  climb_on(stream);
}

void OC1Climb::begin_climb() {
  direction_.resize(plane.n());
  looked_at_.assign(plane.p() + 1, 0);
  active_ = plane.features();
  active_.push_back(plane.p());
}

void OC1Climb::climb_on(Stream& stream) {
  plane.start();
  forget_equal_steps();
  perturb_all(stream);
  for (std::int64_t jump = 0; jump < settings_.jumps;) {
    if (try_jump(stream)) {
      perturb_all(stream);
      jump = 0;
    } else {
      ++jump;
    }
  }
  plane.keep_if_better();
}

void OC1Climb::start_from(const Cut& start) {
  std::fill(plane.a.begin(), plane.a.end(), 0.0);
  plane.a[static_cast<std::size_t>(start.order)] = 1.0;
  plane.t = plane.threshold_of(start);
}

void OC1Climb::random_plane(Stream& stream, Vector& a, double& t) const {
  a.assign(plane.p(), 0.0);
  t = 0.0;
  double largest = 0.0;
  for (const std::size_t j : plane.features()) largest = std::max(largest, plane.scale(j));
  for (const std::size_t j : plane.features()) {
    // Divided by the largest scale, because the length of the coefficient vector has no meaning.
    const double unit = settings_.as_given ? plane.scale(j) / largest : 1.0 / (plane.high(j) - plane.low(j));
    a[j] = stream.between(-1.0, 1.0) * unit;
    t += a[j] * stream.between(plane.low(j), plane.high(j));
  }
}

void OC1Climb::perturb_all(Stream& stream) {
  if (settings_.order == PerturbationOrder::random50) {
    plane.begin_sweep();
    for (int i = 0; i < kRandomPerturbations; ++i) perturb(active_[stream.below(active_.size())], stream);
    return;
  }
  bool modified = true;
  while (modified) {
    plane.begin_sweep();
    modified = false;
    if (settings_.order == PerturbationOrder::sequential)
      for (const std::size_t m : active_) modified = perturb(m, stream) || modified;
    else
      modified = perturb_best(stream);
  }
}

bool OC1Climb::perturb(std::size_t m, Stream& stream) {
  if (looked_at_[m] == plane.version() && !settings_.direct) return false;
  const Step step = plane.search_coefficient(m, settings_.exact, needed());
  const double value = step.is_found ? plane.evaluate(step.t, plane.column(m)) : kNone;
  if (offer(m, step.t, value, stream)) return true;
  // Searching again would give the same result, unless this was a tie that a random draw decides.
  if (equal_steps_left_ == 0 || value < plane.value - plane.slack(plane.value)) looked_at_[m] = plane.version();
  return false;
}

bool OC1Climb::perturb_best(Stream& stream) {
  const std::size_t none = plane.p() + 1;
  std::size_t best = none;
  double best_value = kNone, best_t = 0.0;
  for (const std::size_t m : active_) {
    const Step step = plane.search_coefficient(m, settings_.exact, needed());
    if (!step.is_found) continue;
    const double value = plane.evaluate(step.t, plane.column(m));
    if (value == kNone || !(best == none || value > best_value + plane.slack(best_value))) continue;
    best = m;
    best_value = value;
    best_t = step.t;
  }
  return best != none && offer(best, best_t, best_value, stream);
}

double OC1Climb::needed() const {
  const double slack = plane.slack(plane.value);
  return equal_steps_left_ > 0 ? plane.value - slack : plane.value + slack;
}

bool OC1Climb::offer(std::size_t m, double t, double value, Stream& stream) {
  if (value == kNone) return false;
  const double slack = plane.slack(plane.value);
  if (value > plane.value + slack) {
    forget_equal_steps();
  } else if (value >= plane.value - slack) {
    if (equal_steps_left_ == 0 || !(stream.uniform() < move_probability())) return false;
    --equal_steps_left_;
  } else {
    return false;
  }
  plane.take(m, t, value);
  return true;
}

bool OC1Climb::try_jump(Stream& stream) {
  double r_t = 0.0;
  random_plane(stream, r_, r_t);
  combine_columns(plane.columns(), r_.data(), plane.p(), direction_.data(), plane.n());
  for (double& c : direction_) c -= r_t;
  const double slack = plane.slack(plane.value);
  const Step step = plane.search_direction(direction_.data(), settings_.exact, plane.value + slack);
  if (!step.is_found) return false;
  const double value = plane.evaluate(step.t, direction_.data());
  if (value == kNone || !(value > plane.value + slack)) return false;
  for (std::size_t j = 0; j < plane.p(); ++j) plane.a[j] -= step.t * r_[j];
  plane.t -= step.t * r_t;
  add_scaled(-step.t, direction_.data(), plane.v.data(), plane.n());
  plane.value = value;
  plane.moved();
  forget_equal_steps();
  return true;
}

}  // namespace oblique
