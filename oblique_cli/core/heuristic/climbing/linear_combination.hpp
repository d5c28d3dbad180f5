// CART-LC at one node (Breiman, Friedman, Olshen & Stone 1984, section 5.2, in the form of Murthy et al. 1994): one
// deterministic climb from the best axis-parallel cut, over features of mean 0 and standard deviation 1.
#pragma once

#include "heuristic/climbing/moving_plane.hpp"

namespace oblique {

class LinearCombination {
 public:
  MovingPlane plane;  // as of OC1Climb, for HillClimbing (families/oc1.cpp)

  explicit LinearCombination(const Options& options)
      : plane(search_of(options), false), sweep_tol_(options.number("sweep_tol")),
        rows_per_feature_(options.number("rows_per_feature")), standardization_(options.choice("standardization")),
        backward_elimination_(options.flag("backward_elimination")) {}

  double rows_per_feature() const { return rows_per_feature_; }

  // Climbs from the best axis-parallel cut, if there is one; the plane records the result.
  void climb(const Node&, const Cut& start) {
    if (start.order < 0) return;
    active_ = plane.features();
    direction_.resize(plane.n());
    without_.resize(plane.n());
    const size_t axis = start.order;
    const double threshold = plane.threshold_of(start);
    standardize();
    std::fill(plane.a.begin(), plane.a.end(), 0.0);
    plane.a[axis] = 1.0;
    plane.t = (threshold - mean_[axis]) / deviation_[axis];
    plane.moved();
    sweep_until_flat();
    while (backward_elimination_ && eliminate()) sweep_until_flat();
    plane.keep_if_better();
    for (size_t j = 0; plane.has_kept() && j < plane.p(); ++j) {
      plane.kept_a()[j] /= deviation_[j];
      plane.kept_t() += plane.kept_a()[j] * mean_[j];
    }
  }

 private:
  static constexpr double kNone = MovingPlane::kNone;
  static constexpr double kLeastImportance = 0.2;  // a feature below this share of the largest importance is dropped

  // Scales features to mean 0 and to units of the standard deviation or of the range at the node, or not at all.
  void standardize() {
    const size_t n = plane.n(), p = plane.p();
    mean_.assign(p, 0.0);
    deviation_.assign(p, 1.0);
    for (const size_t j : active_) {
      double* z = plane.column_to_change(j);
      if (standardization_ == "none") {
        deviation_[j] = 1.0 / plane.scale(j);
        for (size_t i = 0; i < n; ++i) z[i] /= deviation_[j];
        continue;
      }
      double sum = 0.0, square = 0.0;
      for (size_t i = 0; i < n; ++i) sum += plane.rows().weight(i) * z[i];
      mean_[j] = sum / plane.totals().n;
      for (size_t i = 0; i < n; ++i) square += plane.rows().weight(i) * (z[i] - mean_[j]) * (z[i] - mean_[j]);
      deviation_[j] = standardization_ == "range" ? plane.high(j) - plane.low(j) : std::sqrt(square / plane.totals().n);
      for (size_t i = 0; i < n; ++i) z[i] = (z[i] - mean_[j]) / deviation_[j];
    }
  }

  // A sweep takes the best of three steps, about three places, for each feature, then that of the constant; repeats.
  void sweep_until_flat() {
    plane.begin_sweep();
    plane.value = plane.evaluate(0.0, plane.column(plane.p()));
    for (;;) {
      const double before = plane.value;
      for (const size_t m : active_) improve_coefficient(m);
      if (const Step step = plane.search_coefficient(plane.p(), true, plane.value); step.is_found) {
        const double value = plane.evaluate(step.t, plane.column(plane.p()));
        if (value > plane.value + plane.slack(plane.value)) plane.take(plane.p(), step.t, value);
      }
      if (!(plane.gain(plane.value) - plane.gain(before) > sweep_tol_)) return;
      plane.begin_sweep();
    }
  }

  void improve_coefficient(size_t m) {
    const double* z = plane.column(m);
    const size_t n = plane.n();
    Step best;
    double best_value = plane.value + plane.slack(plane.value), best_gamma = 0.0;
    for (const double gamma : {-0.25, 0.0, 0.25}) {
      for (size_t i = 0; i < n; ++i) direction_[i] = z[i] + gamma;
      const Step step = plane.search_direction(direction_.data(), true, best_value);
      if (!step.is_found) continue;
      const double value = plane.evaluate(step.t, direction_.data());
      if (!(value > best_value)) continue;
      best = step;
      best_gamma = gamma;
      best_value = value + plane.slack(value);
      best.value = value;
    }
    if (!best.is_found) return;
    plane.a[m] -= best.t;
    plane.t += best.t * best_gamma;
    for (size_t i = 0; i < n; ++i) plane.v[i] -= best.t * (z[i] + best_gamma);
    plane.value = best.value;
    plane.moved();
  }

  // Drops the feature with the smallest loss of value if this loss is a small share of the largest: coefficient 0, with
  // a new search for the threshold. Returns whether a feature was dropped.
  bool eliminate() {
    const size_t p = plane.p();
    size_t in_use = 0, least = p;
    double smallest = 0.0, largest = 0.0;
    for (const size_t m : active_) {
      if (plane.a[m] == 0.0) continue;
      ++in_use;
      for (size_t i = 0; i < plane.n(); ++i) without_[i] = plane.v[i] - plane.a[m] * plane.column(m)[i];
      const Step step = plane.search_threshold_of(without_);
      // If no cut remains, the node loses its whole gain.
      const double loss = plane.value - (step.is_found ? step.value : plane.base());
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
    if (step.is_found) plane.take(p, step.t, step.value);
    return true;
  }

  const double sweep_tol_;         // least gain of a sweep for another sweep to follow
  const double rows_per_feature_;  // a node with at most this weight per feature keeps the axis-parallel split
  const std::string standardization_;
  const bool backward_elimination_;
  std::vector<size_t> active_;  // features that may have a coefficient
  Vector mean_, deviation_, direction_, without_;
};

}  // namespace oblique
