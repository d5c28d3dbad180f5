// OC1 at one node (Murthy, Kasif & Salzberg, JAIR 2, 1994): it perturbs coefficients until nothing improves, then moves
// the hyperplane in random directions, then restarts from a random hyperplane.
//
// Decisions where the article is silent:
// - A sweep perturbs the coefficients of the features in order, then the constant. A feature that is constant at the
//   node keeps coefficient 0.
// - A random hyperplane has coefficients uniform in (-1, 1), per range of the feature unless features are unscaled, and
//   passes through a point drawn uniformly from the bounding box of the node's rows. A random direction is another such
//   hyperplane.
// - Values within 1e-9 of the gain are equal. Among equal steps the least t wins, that is the largest coefficient.
// - The stagnation probability starts at `stagnation`, falls by a tenth of it with every equal step taken, and returns
//   to it when the value improves. A successful jump allows `jumps` more.
// - A coefficient moves to the middle of the gap between two steps. The final hyperplane gets the middle of its gap, in
//   the arithmetic of prediction, which also decides its score; it must beat the best axis-parallel split.
#pragma once

#include "heuristic/climbing/moving_plane.hpp"

namespace oblique {

enum class PerturbationOrder { sequential, best, random50 };

// Settings of the climb. The proposer of OC1 has the same defaults.
struct OC1Settings {
  int64_t restarts = 20, jumps = 5;
  PerturbationOrder order = PerturbationOrder::sequential;
  double stagnation = 1.0;
  bool exact = false;     // score every hyperplane of a line, see line_search.hpp
  bool direct = false;    // search again even where no improvement is possible
  bool as_given = false;  // draw coefficients for unscaled features
};

inline PerturbationOrder order_of(const Options& options) {
  const std::string& order = options.choice("order");
  if (order == "r50") return PerturbationOrder::random50;
  return order == "best" ? PerturbationOrder::best : PerturbationOrder::sequential;
}

inline OC1Settings settings_of(const Options& options) {
  return OC1Settings{options.integer("restarts"),
                     options.integer("jumps"),
                     order_of(options),
                     options.number("stagnation"),
                     options.flag("exact"),
                     options.flag("direct"),
                     options.choice("standardization") == "none"};
}

class OC1Climb {
 public:
  MovingPlane plane;  // at the node; it records the best hyperplane

  explicit OC1Climb(const Options& options) : OC1Climb(search_of(options), settings_of(options)) {}
  OC1Climb(const SearchOptions& search, const OC1Settings& settings)
      : plane(search, settings.direct), settings_(settings) {}

  // Murthy et al., section 2: with fewer than 2 p rows a hyperplane has too many ways to fit them.
  double rows_per_feature() const { return 2.0; }

  // Climbs from the best axis-parallel cut `start` (order -1: none) and from random hyperplanes; the plane has begun.
  void climb(const Node& node, const Cut& start) {
    begin_climb();
    for (int64_t restart = 0; restart < settings_.restarts; ++restart) {
      Stream stream = node.stream(static_cast<uint64_t>(restart));
      if (restart == 0 && start.order >= 0) {
        std::fill(plane.a.begin(), plane.a.end(), 0.0);
        plane.a[start.order] = 1.0;
        plane.t = plane.threshold_of(start);
      } else {
        random_plane(stream, plane.a, plane.t);
      }
      climb_on(stream);
    }
  }

  // Climbs once, from a hyperplane over the features of the node. The plane has begun at the node and records the best.
  void climb_from(const Split& start, Stream stream) {
    begin_climb();
    plane.t = start.threshold;
    std::fill(plane.a.begin(), plane.a.end(), 0.0);
    size_t next = 0;
    for (size_t j = 0; j < plane.p(); ++j) {
      if (next < plane.features().size() && plane.features()[next] == j) {
        ++next;
        plane.a[j] = start.normal[j] * plane.scale(j);
      } else {
        plane.t -= start.normal[j] * plane.rows().columns[j][0];  // a constant feature moves the threshold only
      }
    }
    climb_on(stream);
  }

 private:
  static constexpr double kNone = MovingPlane::kNone;
  static constexpr int kRandomPerturbations = 50;
  static constexpr int kEqualSteps = 10;

  void begin_climb() {
    direction_.resize(plane.n());
    looked_at_.assign(plane.p() + 1, 0);
    active_ = plane.features();
    active_.push_back(plane.p());
  }

  // Moves the plane until no perturbation and no random direction improves it.
  void climb_on(Stream& stream) {
    plane.start();
    forget_equal_steps();
    perturb_all(stream);
    for (int64_t jump = 0; jump < settings_.jumps;) {
      if (try_jump(stream)) {
        perturb_all(stream);
        jump = 0;
      } else {
        ++jump;
      }
    }
    plane.keep_if_better();
  }

  void random_plane(Stream& stream, Vector& a, double& t) const {
    a.assign(plane.p(), 0.0);
    t = 0.0;
    double largest = 0.0;
    for (const size_t j : plane.features()) largest = std::max(largest, plane.scale(j));
    for (const size_t j : plane.features()) {
      // Divided by the largest scale, because the length of the coefficient vector has no meaning.
      const double unit = settings_.as_given ? plane.scale(j) / largest : 1.0 / (plane.high(j) - plane.low(j));
      a[j] = stream.between(-1.0, 1.0) * unit;
      t += a[j] * stream.between(plane.low(j), plane.high(j));
    }
  }

  void perturb_all(Stream& stream) {
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
        for (const size_t m : active_) modified = perturb(m, stream) || modified;
      else
        modified = perturb_best(stream);
    }
  }

  // Perturbs coefficient m; returns whether it was modified.
  bool perturb(size_t m, Stream& stream) {
    if (looked_at_[m] == plane.version() && !settings_.direct) return false;
    const Step step = plane.search_coefficient(m, settings_.exact, needed());
    const double value = step.is_found ? plane.evaluate(step.t, plane.column(m)) : kNone;
    if (offer(m, step.t, value, stream)) return true;
    // Searching again would give the same result, unless this was a tie that a random draw decides.
    if (equal_steps_left_ == 0 || value < plane.value - plane.slack(plane.value)) looked_at_[m] = plane.version();
    return false;
  }

  // The coefficient whose perturbation gains most, the first on a tie.
  bool perturb_best(Stream& stream) {
    const size_t none = plane.p() + 1;
    size_t best = none;
    double best_value = kNone, best_t = 0.0;
    for (const size_t m : active_) {
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

  // The least value that `offer` may accept.
  double needed() const {
    const double slack = plane.slack(plane.value);
    return equal_steps_left_ > 0 ? plane.value - slack : plane.value + slack;
  }

  // Accepts a better step, or an equal one with the stagnation probability.
  bool offer(size_t m, double t, double value, Stream& stream) {
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

  double move_probability() const { return settings_.stagnation * equal_steps_left_ / kEqualSteps; }
  void forget_equal_steps() { equal_steps_left_ = settings_.stagnation > 0.0 ? kEqualSteps : 0; }

  // Moves the hyperplane along a random direction if that improves it.
  bool try_jump(Stream& stream) {
    double r_t = 0.0;
    random_plane(stream, r_, r_t);
    combine_columns(plane.columns(), r_.data(), plane.p(), direction_.data(), plane.n());
    for (double& c : direction_) c -= r_t;
    const double slack = plane.slack(plane.value);
    const Step step = plane.search_direction(direction_.data(), settings_.exact, plane.value + slack);
    if (!step.is_found) return false;
    const double value = plane.evaluate(step.t, direction_.data());
    if (value == kNone || !(value > plane.value + slack)) return false;
    for (size_t j = 0; j < plane.p(); ++j) plane.a[j] -= step.t * r_[j];
    plane.t -= step.t * r_t;
    add_scaled(-step.t, direction_.data(), plane.v.data(), plane.n());
    plane.value = value;
    plane.moved();
    forget_equal_steps();
    return true;
  }

  const OC1Settings settings_;
  std::vector<size_t> active_;       // the features, and p for the threshold
  std::vector<uint64_t> looked_at_;  // per coefficient, the version of the plane that it cannot improve
  int equal_steps_left_ = 0;
  Vector r_, direction_;
};

}  // namespace oblique
