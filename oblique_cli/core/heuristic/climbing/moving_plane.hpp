// A hyperplane that moves by one coefficient, or along a direction, at a time, and its value at a node.
// The hyperplane is sum_j a_j z_j - t <= 0 -> left, over the node's features divided by a power of two near their range
// (which changes no step but keeps all numbers within range). Its values v are stored for all rows and updated after
// every accepted step in O(n).
#pragma once

#include "heuristic/climbing/line_search.hpp"
#include "heuristic/heuristic.hpp"

namespace oblique {

class MovingPlane {
 public:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();  // if a side has too little weight

  // The hyperplane, its values v over the rows, and the value of its cut. Code that writes a, t or v must call `moved`.
  Vector a, v;
  double t = 0.0, value = 0.0;

  // direct : recompute all values after every step and sort with std::sort, as the baseline of the benchmarks.
  MovingPlane(const SearchOptions& options, bool direct)
      : direct_(direct), min_leaf_(options.min_leaf),
        line_(
            make_line_search(options.criterion, options.strict_ties, options.min_leaf, options.exhaustive || direct)) {}

  // Begins a node; the hyperplane is then undefined.
  void begin(const Node& node) {
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
    left_.resize(static_cast<size_t>(rows_->n_classes));
    features_.clear();
    moved();
    for (size_t j = 0; j < p_; ++j) {
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
      for (size_t i = 0; i < n(); ++i) z[i] = rows_->columns[j][i] / scale_[j];
      low_[j] = range.low / scale_[j];
      high_[j] = range.high / scale_[j];
      features_.push_back(j);
    }
    std::fill_n(column_to_change(p_), n(), 1.0);
    column_[p_] = column_to_change(p_);
    line_of_.resize(p_ + 1);
    for (size_t j = 0; j <= p_; ++j) line_of_[j] = LineDirection::of(column_[j], n());
    if (direct_) {
      tried_a_.resize(p_);
      by_row_.resize(n() * p_);
      for (size_t i = 0; i < n(); ++i)
        for (size_t j = 0; j < p_; ++j) by_row_[i * p_ + j] = column_[j][i];
    }
  }

  // Features that vary at the node; their columns z, ones at index p; the scale, least and greatest value of each.
  const std::vector<size_t>& features() const { return features_; }
  size_t p() const { return p_; }
  size_t n() const { return rows_->n; }
  const NodeRows& rows() const { return *rows_; }
  const Totals& totals() const { return totals_; }
  const double* column(size_t j) const { return column_[j]; }
  double* column_to_change(size_t j) { return columns_.data() + j * n(); }
  const double* const* columns() const { return column_.data(); }
  double scale(size_t j) const { return scale_[j]; }
  double low(size_t j) const { return low_[j]; }
  double high(size_t j) const { return high_[j]; }

  // The threshold of the best axis-parallel cut over z. The search knows it only to a part in 2^39.
  double threshold_of(const Cut& cut) const {
    const size_t j = cut.order;
    double threshold = cut.threshold;
    oblique::settle(rows_->columns[j], n(), threshold);
    return threshold / scale_[j];
  }

  // Scores of the node: see LineSearch.
  double base() const { return line_->base(); }
  double noise() const { return line_->noise(); }
  double gain(double of_value) const { return line_->gain(of_value); }
  double slack(double of_value) const { return line_->slack(of_value); }
  // A number that changes with every change of the hyperplane.
  uint64_t version() const { return version_; }
  void moved() { ++version_; }
  // Begins with the present a and t: computes v and the value.
  void start() {
    computed_ = ++version_;
    compute_values();
    value = evaluate(0.0, column_[p_]);
  }

  void compute_values() {
    sized_ = 0;
    if (direct_) {
      values_by_row(a.data(), t, v.data());
      return;
    }
    combine_columns(column_.data(), a.data(), p_, v.data(), n());
    for (double& each : v) each -= t;
  }

  // Recomputes v once per sweep, so that rounding errors do not accumulate, and scales very large or very small
  // coefficients back by a power of two, which changes nothing else.
  void begin_sweep() {
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

  // The best step when coefficient m moves (p: the threshold), or when the hyperplane moves along values c.
  Step search_coefficient(size_t m, bool exact, double needed) {
    return line_->search(v.data(), size_of_v(), line_of_[m], exact, needed);
  }
  Step search_direction(const double* c, bool exact, double needed) {
    return line_->search(v.data(), size_of_v(), LineDirection::of(c, n()), exact, needed);
  }
  // The best threshold of the hyperplane whose values are w.
  Step search_threshold_of(const Vector& w) {
    return line_->search(w.data(), largest_magnitude(w.data(), n()), line_of_[p_], true, kNone);
  }

  // Value of the hyperplane v - step c, or kNone.
  double evaluate(double step, const double* c) {
    if (direct_ && step != 0.0) {
      // The direct version stores no values and computes all of them for each tried hyperplane.
      tried_a_ = a;
      double tried_t = t;
      const size_t m = place_of(c);
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

  void take(size_t m, double step, double new_value) {
    (m == p_ ? t : a[m]) += m == p_ ? step : -step;
    if (direct_)
      compute_values();
    else
      add_scaled(-step, column_[m], v.data(), n());
    value = new_value;
    moved();
  }

  void keep_if_better() {
    if (value == kNone || !(best_value_ == kNone || value > best_value_ + slack(best_value_))) return;
    best_value_ = value;
    best_a_ = a;
    best_t_ = t;
  }

  bool has_kept() const { return best_value_ != kNone; }
  Vector& kept_a() { return best_a_; }
  double& kept_t() { return best_t_; }

  // Expresses the recorded hyperplane in the original features: unit normal, threshold in the middle of its gap, and
  // the value of its split in the arithmetic of prediction. False if all rows are on one side.
  bool settle(const Node& node, Split& out, double& out_value) {
    double unit = std::numeric_limits<double>::infinity(), size = 0.0;
    for (size_t j = 0; j < p_; ++j)
      if (best_a_[j] != 0.0) unit = std::min(unit, scale_[j]);
    Vector& w = out.normal;
    w.assign(p_, 0.0);
    for (size_t j = 0; j < p_; ++j) {
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

 private:
  double size_of_v() {
    if (sized_ != version_) {
      sized_ = version_;
      size_of_v_ = largest_magnitude(v.data(), n());
    }
    return size_of_v_;
  }

  double value_of(const double* values, const double* c, double step) {
    double s = 0.0;
    for (int k = 0; k < rows_->n_classes; ++k) {
      const size_t first = rows_->first_row[k], count = rows_->first_row[k + 1] - first;
      left_[k] = rows_->weights ? weigh_left(values + first, c + first, step, rows_->weights + first, count)
                                : static_cast<double>(count_left(values + first, c + first, step, count));
      s += left_[k];
    }
    if (s < std::max(min_leaf_, 0.5) || totals_.n - s < std::max(min_leaf_, 0.5)) return kNone;
    return line_->value(left_.data(), s);
  }

  // The index of a column; p + 1 for another direction.
  size_t place_of(const double* c) const {
    return static_cast<size_t>(std::find(column_.begin(), column_.end(), c) - column_.begin());
  }

  void values_by_row(const double* coefficients, double threshold, double* out) const {
    for (size_t i = 0; i < n(); ++i) {
      double sum = 0.0;
      for (size_t j = 0; j < p_; ++j) sum += coefficients[j] * by_row_[i * p_ + j];
      out[i] = sum - threshold;
    }
  }

  const bool direct_;
  const double min_leaf_;
  const NodeRows* rows_ = nullptr;
  Totals totals_;
  size_t p_ = 0;
  std::unique_ptr<LineSearch> line_;
  std::vector<const double*> column_;   // p features and the constant 1
  std::vector<LineDirection> line_of_;  // directions of these columns
  Vector columns_, by_row_, scale_, low_, high_;
  std::vector<size_t> features_;
  Vector tried_a_, tried_v_, best_a_, left_;
  double best_t_ = 0.0, best_value_ = kNone, size_of_v_ = 0.0;
  // Version numbers: of the present plane, of the last recomputation of the values, of the last known largest value.
  uint64_t version_ = 1, computed_ = 0, sized_ = 0;
};

}  // namespace oblique
