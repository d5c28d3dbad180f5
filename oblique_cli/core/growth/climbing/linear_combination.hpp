// CART-LC at one node (Breiman, Friedman, Olshen & Stone 1984, section 5.2, in the form of Murthy et al. 1994): one
// deterministic climb from the best axis-parallel cut, over features of mean 0 and standard deviation 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "growth/climbing/moving_plane.hpp"

namespace oblique {

template <class Criterion>
class LinearCombination {
 public:
  explicit LinearCombination(const Options& options)
      : plane(false), sweep_tol_(options.number("sweep_tol")),
        rows_per_feature_(options.number("rows_per_feature")), standardisation_(options.choice("standardisation")),
        backward_elimination_(options.flag("backward_elimination")) {}

  static std::vector<Option> options() {
    return {number("sweep_tol"), number("rows_per_feature"), choice("standardisation", {"deviation", "range", "none"}),
            flag("backward_elimination")};
  }

  MovingPlane<Criterion> plane;

  double rows_per_feature() const { return rows_per_feature_; }

  // Climbs from the best axis-parallel cut, if there is one; the plane keeps where the climb ends.
  void climb(const Node&, const Cut& start) {
    if (start.order < 0) return;
    active_ = plane.features();
    direction_.resize(plane.n());
    without_.resize(plane.n());
    const std::size_t axis = static_cast<std::size_t>(start.order);
    const double threshold = plane.threshold_of(start);
    standardise();
    std::fill(plane.a.begin(), plane.a.end(), 0.0);
    plane.a[axis] = 1.0;
    plane.t = (threshold - mean_[axis]) / deviation_[axis];
    plane.moved();
    sweep_until_flat();
    while (backward_elimination_ && eliminate()) sweep_until_flat();
    plane.keep_if_better();
    if (plane.has_kept()) back_to_scaled();
  }

 private:
  static constexpr double kNone = MovingPlane<Criterion>::kNone;
  static constexpr double kLeastImportance = 0.2;  // below this share of the most important one, a feature goes

  // Mean 0 at the node, and as unit the standard deviation or the range there; or all as it was given.
  void standardise() {
    const std::size_t n = plane.n(), p = plane.p();
    mean_.assign(p, 0.0);
    deviation_.assign(p, 1.0);
    for (const std::size_t j : active_) {
      double* z = plane.column_to_change(j);
      if (standardisation_ == "none") {
        deviation_[j] = 1.0 / plane.scale(j);
        for (std::size_t i = 0; i < n; ++i) z[i] /= deviation_[j];
        continue;
      }
      double sum = 0.0, square = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += weight(i) * z[i];
      mean_[j] = sum / plane.totals().n;
      for (std::size_t i = 0; i < n; ++i) square += weight(i) * (z[i] - mean_[j]) * (z[i] - mean_[j]);
      deviation_[j] =
          standardisation_ == "range" ? plane.high(j) - plane.low(j) : std::sqrt(square / plane.totals().n);
      for (std::size_t i = 0; i < n; ++i) z[i] = (z[i] - mean_[j]) / deviation_[j];
    }
  }

  // The hyperplane kept, over the features that the plane had before.
  void back_to_scaled() {
    Vector& a = plane.kept_a();
    for (std::size_t j = 0; j < plane.p(); ++j) {
      a[j] /= deviation_[j];
      plane.kept_t() += a[j] * mean_[j];
    }
  }

  double weight(std::size_t i) const { return plane.rows().weights ? plane.rows().weights[i] : 1.0; }

  // For each feature the best of three steps, at which the hyperplane turns about three different places; then the
  // constant; again until a sweep gains too little.
  void sweep_until_flat() {
    plane.begin_sweep();
    plane.value = plane.evaluate(0.0, plane.column(plane.p()));
    for (;;) {
      const double before = plane.value;
      for (const std::size_t m : active_) improve_coefficient(m);
      improve_threshold();
      const Totals& totals = plane.totals();
      if (!(Criterion::gain(plane.value, totals) - Criterion::gain(before, totals) > sweep_tol_)) return;
      plane.begin_sweep();
    }
  }

  void improve_coefficient(std::size_t m) {
    const double* z = plane.column(m);
    const std::size_t n = plane.n();
    Step best;
    double best_value = plane.value + plane.slack(plane.value), best_gamma = 0.0;
    for (const double gamma : {-0.25, 0.0, 0.25}) {
      for (std::size_t i = 0; i < n; ++i) direction_[i] = z[i] + gamma;
      const Step step = plane.search_direction(direction_.data(), true, best_value);
      if (!step.found) continue;
      const double value = plane.evaluate(step.t, direction_.data());
      if (!(value > best_value)) continue;
      best = step;
      best_gamma = gamma;
      best_value = value + plane.slack(value);
      best.value = value;
    }
    if (!best.found) return;
    plane.a[m] -= best.t;
    plane.t += best.t * best_gamma;
    for (std::size_t i = 0; i < n; ++i) plane.v[i] -= best.t * (z[i] + best_gamma);
    plane.value = best.value;
    plane.moved();
  }

  void improve_threshold() {
    const std::size_t p = plane.p();
    const Step step = plane.search_coefficient(p, true, plane.value);
    if (!step.found) return;
    const double value = plane.evaluate(step.t, plane.column(p));
    if (value > plane.value + plane.slack(plane.value)) plane.take(p, step.t, value);
  }

  // Drops the feature whose loss costs least if that is a small part of what the most important one's would: coefficient
  // 0, the threshold searched anew. Returns whether one was dropped.
  bool eliminate() {
    const std::size_t p = plane.p();
    std::size_t in_use = 0, least = p;
    double smallest = 0.0, largest = 0.0;
    for (const std::size_t m : active_) {
      if (plane.a[m] == 0.0) continue;
      ++in_use;
      for (std::size_t i = 0; i < plane.n(); ++i) without_[i] = plane.v[i] - plane.a[m] * plane.column(m)[i];
      const Step step = plane.search_threshold_of(without_);
      // Without any cut left, nothing is gained at all.
      const double loss = plane.value - (step.found ? step.value : Criterion::base(plane.totals()));
      if (least == p || loss < smallest) {
        least = m;
        smallest = loss;
      }
      largest = std::max(largest, loss);
    }
    if (in_use < 2 || !(smallest < kLeastImportance * largest)) return false;
    plane.a[least] = 0.0;
    std::erase(active_, least);
    plane.moved();
    plane.compute_values();
    const Step step = plane.search_coefficient(p, true, kNone);
    if (step.found) plane.take(p, step.t, step.value);
    return true;
  }

  const double sweep_tol_;         // least gain of a sweep that is followed by another
  const double rows_per_feature_;  // a node of no more keeps the axis-parallel split
  const std::string standardisation_;
  const bool backward_elimination_;
  std::vector<std::size_t> active_;  // features that may have a coefficient
  Vector mean_, deviation_, direction_, without_;
};

}  // namespace oblique
