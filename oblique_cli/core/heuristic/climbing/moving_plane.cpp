#include "heuristic/climbing/moving_plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oblique {

// ---- the node
// --------------------------------------------------------------------------------------------------------

void MovingPlane::begin(const Node& node) {
  rows_ = &node.rows;
  totals_ = node.search.totals();
  p_ = node.n_features();
  best_value_ = kNone;
  line_->begin(*rows_, totals_);
  columns_.resize((p_ + 1) * n());
  scale_.assign(p_, 1.0);
  low_.assign(p_, 0.0);
  high_.assign(p_, 0.0);
  a.assign(p_, 0.0);
  column_.resize(p_ + 1);
  v.resize(n());
  tried_v_.resize(n());
  left_.resize(static_cast<std::size_t>(rows_->n_classes));
  features_.clear();
  moved();
  for (std::size_t j = 0; j < p_; ++j) {
    double* z = column_to_change(j);
    column_[j] = z;
    const Range range = range_of(rows_->columns[j], n());
    const double width = range.high - range.low;
    if (!(width > 0.0) || !std::isfinite(width)) {
      std::fill_n(z, n(), 0.0);
      continue;
    }
    scale_[j] = std::exp2(std::ceil(std::log2(width)));
    if (!std::isfinite(scale_[j])) scale_[j] = width;
    for (std::size_t i = 0; i < n(); ++i) z[i] = rows_->columns[j][i] / scale_[j];
    low_[j] = range.low / scale_[j];
    high_[j] = range.high / scale_[j];
    features_.push_back(j);
  }
  std::fill_n(column_to_change(p_), n(), 1.0);
  column_[p_] = column_to_change(p_);
  line_of_.resize(p_ + 1);
  for (std::size_t j = 0; j <= p_; ++j) line_of_[j] = Direction::of(column_[j], n());
  if (direct_) {
    tried_a_.resize(p_);
    by_row_.resize(n() * p_);
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t j = 0; j < p_; ++j) by_row_[i * p_ + j] = column_[j][i];
  }
}

double MovingPlane::threshold_of(const Cut& cut) const {
  const std::size_t j = static_cast<std::size_t>(cut.order);
  double threshold = cut.threshold;
  oblique::settle(rows_->columns[j], n(), threshold);
  return threshold / scale_[j];
}

// ---- moves
// -----------------------------------------------------------------------------------------------------------

void MovingPlane::start() {
  computed_ = ++version_;
  compute_values();
  value = evaluate(0.0, column_[p_]);
}

void MovingPlane::compute_values() {
  sized_ = 0;
  if (direct_) {
    values_by_row(a.data(), t, v.data());
    return;
  }
  combine_columns(column_.data(), a.data(), p_, v.data(), n());
  for (double& each : v) each -= t;
}

void MovingPlane::begin_sweep() {
  if (computed_ == version_) return;
  computed_ = version_;
  double largest = 0.0;
  for (const double each : a) largest = std::max(largest, std::fabs(each));
  if (largest > 0.0 && std::isfinite(largest) && (largest > 0x1p30 || largest < 0x1p-30)) {
    const double factor = std::exp2(-std::floor(std::log2(largest)));
    for (double& each : a) each *= factor;
    t *= factor;
  }
  compute_values();
}

void MovingPlane::take(std::size_t m, double step, double new_value) {
  (m == p_ ? t : a[m]) += m == p_ ? step : -step;
  if (direct_)
    compute_values();
  else
    add_scaled(-step, column_[m], v.data(), n());
  value = new_value;
  moved();
}

// ---- values
// ----------------------------------------------------------------------------------------------------------

double MovingPlane::evaluate(double step, const double* c) {
  if (direct_ && step != 0.0) {
    // The direct version stores no values and computes all of them for each tried hyperplane.
    tried_a_ = a;
    double tried_t = t;
    const std::size_t m = place_of(c);
    if (m < p_)
      tried_a_[m] -= step;
    else if (m == p_)
      tried_t += step;
    if (m <= p_) {
      values_by_row(tried_a_.data(), tried_t, tried_v_.data());
      return value_of(tried_v_.data(), c, 0.0);
    }
  }
  return value_of(v.data(), c, step);
}

double MovingPlane::value_of(const double* values, const double* c, double step) {
  double s = 0.0;
  for (int k = 0; k < rows_->n_classes; ++k) {
    const std::size_t first = rows_->first_row[k], count = rows_->first_row[k + 1] - first;
    left_[k] = rows_->weights ? weigh_left(values + first, c + first, step, rows_->weights + first, count)
                              : static_cast<double>(count_left(values + first, c + first, step, count));
    s += left_[k];
  }
  if (s < std::max(min_leaf_, 0.5) || totals_.n - s < std::max(min_leaf_, 0.5)) return kNone;
  return line_->value(left_.data(), s);
}

// The index of a column; p + 1 for another direction.
std::size_t MovingPlane::place_of(const double* c) const {
  return static_cast<std::size_t>(std::find(column_.begin(), column_.end(), c) - column_.begin());
}

void MovingPlane::values_by_row(const double* coefficients, double threshold, double* out) const {
  for (std::size_t i = 0; i < n(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < p_; ++j) sum += coefficients[j] * by_row_[i * p_ + j];
    out[i] = sum - threshold;
  }
}

// ---- the best
// --------------------------------------------------------------------------------------------------------

void MovingPlane::keep_if_better() {
  if (value == kNone || !(best_value_ == kNone || value > best_value_ + slack(best_value_))) return;
  best_value_ = value;
  best_a_ = a;
  best_t_ = t;
}

bool MovingPlane::settle(const Node& node, Split& out, double& out_value) {
  double unit = std::numeric_limits<double>::infinity(), size = 0.0;
  for (std::size_t j = 0; j < p_; ++j)
    if (best_a_[j] != 0.0) unit = std::min(unit, scale_[j]);
  Vector& w = out.normal;
  w.assign(p_, 0.0);
  for (std::size_t j = 0; j < p_; ++j) {
    if (best_a_[j] != 0.0) w[j] = best_a_[j] * (unit / scale_[j]);
    size = std::max(size, std::fabs(w[j]));
  }
  if (!(size > 0.0) || !std::isfinite(size)) return false;
  for (double& each : w) each /= size;
  const double length = norm(w.data(), p_);
  for (double& each : w) each /= length;
  out.threshold = best_t_ * unit / size / length;
  if (!std::isfinite(out.threshold)) return false;

  node.predicted.project(w.data(), v.data());
  if (!oblique::settle(v.data(), n(), out.threshold)) return false;
  for (double& each : v) each -= out.threshold;
  // Rows equal to the threshold go left in both arithmetics.
  out_value = value_of(v.data(), column_[p_], 0.0);
  return out_value != kNone;
}

}  // namespace oblique
