#include "heuristic/climbing/linear_combination.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/options.hpp"
#include "heuristic/climbing/climb.hpp"

namespace oblique {

void LinearCombination::climb(const Node&, const Cut& start) {
  if (start.order < 0) return;
  active_ = plane.features();
  direction_.resize(plane.n());
  without_.resize(plane.n());
  const std::size_t axis = static_cast<std::size_t>(start.order);
  const double threshold = plane.threshold_of(start);
  standardize();
  std::fill(plane.a.begin(), plane.a.end(), 0.0);
  plane.a[axis] = 1.0;
  plane.t = (threshold - mean_[axis]) / deviation_[axis];
  plane.moved();
  sweep_until_flat();
  while (backward_elimination_ && eliminate()) sweep_until_flat();
  plane.keep_if_better();
  if (plane.has_kept()) back_to_scaled();
}

void LinearCombination::standardize() {
  const std::size_t n = plane.n(), p = plane.p();
  mean_.assign(p, 0.0);
  deviation_.assign(p, 1.0);
  for (const std::size_t j : active_) {
    double* z = plane.column_to_change(j);
    if (standardization_ == "none") {
      deviation_[j] = 1.0 / plane.scale(j);
      for (std::size_t i = 0; i < n; ++i) z[i] /= deviation_[j];
      continue;
    }
    double sum = 0.0, square = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += weight(i) * z[i];
    mean_[j] = sum / plane.totals().n;
    for (std::size_t i = 0; i < n; ++i) square += weight(i) * (z[i] - mean_[j]) * (z[i] - mean_[j]);
    deviation_[j] = standardization_ == "range" ? plane.high(j) - plane.low(j) : std::sqrt(square / plane.totals().n);
    for (std::size_t i = 0; i < n; ++i) z[i] = (z[i] - mean_[j]) / deviation_[j];
  }
}

void LinearCombination::back_to_scaled() {
  Vector& a = plane.kept_a();
  for (std::size_t j = 0; j < plane.p(); ++j) {
    a[j] /= deviation_[j];
    plane.kept_t() += a[j] * mean_[j];
  }
}

void LinearCombination::sweep_until_flat() {
  plane.begin_sweep();
  plane.value = plane.evaluate(0.0, plane.column(plane.p()));
  for (;;) {
    const double before = plane.value;
    for (const std::size_t m : active_) improve_coefficient(m);
    improve_threshold();
    if (!(plane.gain(plane.value) - plane.gain(before) > sweep_tol_)) return;
    plane.begin_sweep();
  }
}

void LinearCombination::improve_coefficient(std::size_t m) {
  const double* z = plane.column(m);
  const std::size_t n = plane.n();
  Step best;
  double best_value = plane.value + plane.slack(plane.value), best_gamma = 0.0;
  for (const double gamma : {-0.25, 0.0, 0.25}) {
    for (std::size_t i = 0; i < n; ++i) direction_[i] = z[i] + gamma;
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
  for (std::size_t i = 0; i < n; ++i) plane.v[i] -= best.t * (z[i] + best_gamma);
  plane.value = best.value;
  plane.moved();
}

void LinearCombination::improve_threshold() {
  const std::size_t p = plane.p();
  const Step step = plane.search_coefficient(p, true, plane.value);
  if (!step.is_found) return;
  const double value = plane.evaluate(step.t, plane.column(p));
  if (value > plane.value + plane.slack(plane.value)) plane.take(p, step.t, value);
}

bool LinearCombination::eliminate() {
  const std::size_t p = plane.p();
  std::size_t in_use = 0, least = p;
  double smallest = 0.0, largest = 0.0;
  for (const std::size_t m : active_) {
    if (plane.a[m] == 0.0) continue;
    ++in_use;
    for (std::size_t i = 0; i < plane.n(); ++i) without_[i] = plane.v[i] - plane.a[m] * plane.column(m)[i];
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

}  // namespace oblique
