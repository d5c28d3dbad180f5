// OC1 at one node (Murthy, Kasif & Salzberg, JAIR 2, 1994): coefficients are perturbed until nothing improves, then the
// hyperplane jumps in random directions, then all begins again elsewhere.
//
// Decisions where the article is silent:
// - The coefficients of a sweep are those of the features in order, then the constant. A feature that is constant at the
//   node is left out and keeps coefficient 0.
// - A random hyperplane has coefficients uniform in (-1, 1), per range of the feature unless features are taken as they
//   are, and passes through a point drawn uniformly from the box that the node's rows span. A random direction is
//   another such hyperplane.
// - Values within 1e-9 of the gain are equal. Among equal steps the least t wins, that is the largest coefficient.
// - The stagnation probability starts at `stagnation`, falls by a tenth of it with every equal step taken, and returns
//   to it when the value improves. A successful jump allows `jumps` more.
// - A coefficient lands in the middle of the gap between two steps. The finished hyperplane gets the middle of its gap,
//   in the arithmetic of prediction, which also decides its score; it must beat the best axis-parallel split.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/kernels.hpp"
#include "common/options.hpp"
#include "common/random.hpp"
#include "growth/climbing/moving_plane.hpp"

namespace oblique {

enum class PerturbationOrder { sequential, best, random50 };

template <class Criterion>
class OC1Climb {
 public:
  explicit OC1Climb(const Options& options)
      : plane(options.flag("direct")), restarts_(options.integer("restarts")), jumps_(options.integer("jumps")),
        stagnation_(options.number("stagnation")), exact_(options.flag("exact")), direct_(options.flag("direct")),
        as_given_(options.choice("standardisation") == "none") {
    const std::string& order = options.choice("order");
    order_ = order == "sequential" ? PerturbationOrder::sequential
             : order == "best"     ? PerturbationOrder::best
                                   : PerturbationOrder::random50;
  }

  static std::vector<Option> options() {
    return {integer("restarts"), integer("jumps"), choice("order", {"sequential", "best", "r50"}), number("stagnation"),
            choice("standardisation", {"range", "none"}), flag("exact"), flag("direct")};
  }

  MovingPlane<Criterion> plane;

  // Murthy et al., section 2: with fewer than 2 p rows a hyperplane has too many ways to fit them.
  double rows_per_feature() const { return 2.0; }

  // Climbs from the best axis-parallel cut `start` (order -1: none) and from random hyperplanes; the plane keeps the best.
  void climb(const Node& node, const Cut& start) {
    direction_.resize(plane.n());
    looked_at_.assign(plane.p() + 1, 0);
    active_ = plane.features();
    active_.push_back(plane.p());
    for (std::int64_t restart = 0; restart < restarts_; ++restart) {
      Stream stream = node.stream(static_cast<std::uint64_t>(restart));
      if (restart == 0 && start.order >= 0)
        start_from(start);
      else
        random_plane(stream, plane.a, plane.t);
      plane.start();
      forget_equal_steps();
      perturb_all(stream);
      for (std::int64_t jump = 0; jump < jumps_;) {
        if (try_jump(stream)) {
          perturb_all(stream);
          jump = 0;
        } else {
          ++jump;
        }
      }
      plane.keep_if_better();
    }
  }

 private:
  static constexpr double kNone = MovingPlane<Criterion>::kNone;
  static constexpr int kRandomPerturbations = 50;
  static constexpr int kEqualSteps = 10;

  void start_from(const Cut& start) {
    std::fill(plane.a.begin(), plane.a.end(), 0.0);
    plane.a[static_cast<std::size_t>(start.order)] = 1.0;
    plane.t = plane.threshold_of(start);
  }

  void random_plane(Stream& stream, Vector& a, double& t) const {
    a.assign(plane.p(), 0.0);
    t = 0.0;
    double largest = 0.0;
    for (const std::size_t j : plane.features()) largest = std::max(largest, plane.scale(j));
    for (const std::size_t j : plane.features()) {
      // Divided by the largest scale, because the length of a hyperplane's coefficients means nothing.
      const double unit = as_given_ ? plane.scale(j) / largest : 1.0 / (plane.high(j) - plane.low(j));
      a[j] = stream.between(-1.0, 1.0) * unit;
      t += a[j] * stream.between(plane.low(j), plane.high(j));
    }
  }

  void perturb_all(Stream& stream) {
    if (order_ == PerturbationOrder::random50) {
      plane.begin_sweep();
      for (int i = 0; i < kRandomPerturbations; ++i) perturb(active_[stream.below(active_.size())], stream);
      return;
    }
    bool modified = true;
    while (modified) {
      plane.begin_sweep();
      modified = false;
      if (order_ == PerturbationOrder::sequential)
        for (const std::size_t m : active_) modified = perturb(m, stream) || modified;
      else
        modified = perturb_best(stream);
    }
  }

  // Perturbs coefficient m; returns whether it was modified.
  bool perturb(std::size_t m, Stream& stream) {
    if (looked_at_[m] == plane.version() && !direct_) return false;
    const Step step = plane.search_coefficient(m, exact_, needed());
    const double value = step.found ? plane.evaluate(step.t, plane.column(m)) : kNone;
    if (offer(m, step.t, value, stream)) return true;
    // The next look would end as this one did, unless it was a tie that may be drawn for again.
    if (equal_steps_left_ == 0 || value < plane.value - plane.slack(plane.value)) looked_at_[m] = plane.version();
    return false;
  }

  // The coefficient whose perturbation gains most, the first on a tie.
  bool perturb_best(Stream& stream) {
    const std::size_t none = plane.p() + 1;
    std::size_t best = none;
    double best_value = kNone, best_t = 0.0;
    for (const std::size_t m : active_) {
      const Step step = plane.search_coefficient(m, exact_, needed());
      if (!step.found) continue;
      const double value = plane.evaluate(step.t, plane.column(m));
      if (value == kNone || !(best == none || value > best_value + plane.slack(best_value))) continue;
      best = m;
      best_value = value;
      best_t = step.t;
    }
    return best != none && offer(best, best_t, best_value, stream);
  }

  // The least value that `offer` may take.
  double needed() const {
    const double slack = plane.slack(plane.value);
    return equal_steps_left_ > 0 ? plane.value - slack : plane.value + slack;
  }

  // Takes a better step, or an equal one with the stagnation probability.
  bool offer(std::size_t m, double t, double value, Stream& stream) {
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

  double move_probability() const { return stagnation_ * equal_steps_left_ / kEqualSteps; }
  void forget_equal_steps() { equal_steps_left_ = stagnation_ > 0.0 ? kEqualSteps : 0; }

  // Moves the hyperplane along a random direction if that makes it better.
  bool try_jump(Stream& stream) {
    double r_t = 0.0;
    random_plane(stream, r_, r_t);
    combine_columns(plane.columns(), r_.data(), plane.p(), direction_.data(), plane.n());
    for (double& c : direction_) c -= r_t;
    const double slack = plane.slack(plane.value);
    const Step step = plane.search_direction(direction_.data(), exact_, plane.value + slack);
    if (!step.found) return false;
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

  const std::int64_t restarts_, jumps_;
  PerturbationOrder order_ = PerturbationOrder::sequential;
  const double stagnation_;
  const bool exact_;     // score every hyperplane of a line, see line_search.hpp
  const bool direct_;    // look again at what cannot improve
  const bool as_given_;  // draw coefficients for features as they are
  std::vector<std::size_t> active_;       // the features, and p for the threshold
  std::vector<std::uint64_t> looked_at_;  // per coefficient, the version that it cannot improve
  int equal_steps_left_ = 0;
  Vector r_, direction_;
};

}  // namespace oblique
