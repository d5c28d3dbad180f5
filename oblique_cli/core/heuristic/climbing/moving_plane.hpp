// A hyperplane that moves by one coefficient, or along a direction, at a time, and its value at a node.
// The hyperplane is sum_j a_j z_j - t <= 0 -> left, over the node's features divided by a power of two near their range
// (which changes no step but keeps all numbers within range). Its values v are stored for all rows and updated after
// every accepted step in O(n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "common/eigen.hpp"
#include "common/kernels.hpp"
#include "heuristic/climbing/line.hpp"
#include "heuristic/climbing/line_search.hpp"
#include "split/front.hpp"
#include "split/node.hpp"

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
  void begin(const Node& node);

  // Features that vary at the node; their columns z, with the column of ones at index p; the scale, least and greatest
  // value of each.
  const std::vector<std::size_t>& features() const { return features_; }
  std::size_t p() const { return p_; }
  std::size_t n() const { return rows_->n; }
  const NodeRows& rows() const { return *rows_; }
  const Totals& totals() const { return totals_; }
  const double* column(std::size_t j) const { return column_[j]; }
  double* column_to_change(std::size_t j) { return columns_.data() + j * n(); }
  const double* const* columns() const { return column_.data(); }
  double scale(std::size_t j) const { return scale_[j]; }
  double low(std::size_t j) const { return low_[j]; }
  double high(std::size_t j) const { return high_[j]; }

  // The threshold of the best axis-parallel cut over z. The search knows it only to a part in 2^39.
  double threshold_of(const Cut& cut) const;

  // Scores of the node: see LineSearch.
  double base() const { return line_->base(); }
  double noise() const { return line_->noise(); }
  double gain(double of_value) const { return line_->gain(of_value); }
  double slack(double of_value) const { return line_->slack(of_value); }
  // A number that changes with every change of the hyperplane.
  std::uint64_t version() const { return version_; }
  void moved() { ++version_; }
  // Begins with the present a and t: computes v and the value.
  void start();
  // Recomputes v.
  void compute_values();
  // Recomputes v once per sweep, so that rounding errors do not accumulate, and scales very large or very small
  // coefficients back by a power of two, which changes nothing else.
  void begin_sweep();

  // The best step when coefficient m moves (p: the threshold), or when the hyperplane moves along values c.
  Step search_coefficient(std::size_t m, bool exact, double needed) {
    return line_->search(v.data(), size_of_v(), line_of_[m], exact, needed);
  }
  Step search_direction(const double* c, bool exact, double needed) {
    return line_->search(v.data(), size_of_v(), Direction::of(c, n()), exact, needed);
  }
  // The best threshold of the hyperplane whose values are w.
  Step search_threshold_of(const Vector& w) {
    return line_->search(w.data(), largest_magnitude(w.data(), n()), line_of_[p_], true, kNone);
  }

  // Value of the hyperplane v - step c, or kNone.
  double evaluate(double step, const double* c);
  // Takes a step of coefficient m.
  void take(std::size_t m, double step, double new_value);

  // Records the hyperplane if it is better than the recorded one.
  void keep_if_better();
  bool has_kept() const { return best_value_ != kNone; }
  Vector& kept_a() { return best_a_; }
  double& kept_t() { return best_t_; }

  // Expresses the recorded hyperplane in the original features: unit normal, threshold in the middle of its gap, and
  // the value of its split in the arithmetic of prediction. False if all rows are on one side.
  bool settle(const Node& node, Split& out, double& out_value);

 private:
  double size_of_v() {
    if (sized_ != version_) {
      sized_ = version_;
      size_of_v_ = largest_magnitude(v.data(), n());
    }
    return size_of_v_;
  }
  double value_of(const double* values, const double* c, double step);
  std::size_t place_of(const double* c) const;
  void values_by_row(const double* coefficients, double threshold, double* out) const;

  const bool direct_;
  const double min_leaf_;
  const NodeRows* rows_ = nullptr;
  Totals totals_;
  std::size_t p_ = 0;
  std::unique_ptr<LineSearch> line_;
  std::vector<const double*> column_;  // p features and the constant 1
  std::vector<Direction> line_of_;     // directions of these columns
  Vector columns_, by_row_, scale_, low_, high_;
  std::vector<std::size_t> features_;
  Vector tried_a_, tried_v_, best_a_, left_;
  double best_t_ = 0.0, best_value_ = kNone, size_of_v_ = 0.0;
  // Version numbers: of the present plane, of the last recomputation of the values, of the last known largest value.
  std::uint64_t version_ = 1, computed_ = 0, sized_ = 0;
};

}  // namespace oblique
