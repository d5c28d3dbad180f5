// The best step along a line of hyperplanes; line_search.cpp describes the search.
// "exact" scores every hyperplane of the line. "faithful" follows Murthy, Kasif & Salzberg (1994): it treats the t_i as
// a feature, finds the best one-dimensional split of the rows that have a t_i, and scores the hyperplane at that step
// afterwards. Both give the same result if all c_i have one sign.
#pragma once

#include "heuristic/climbing/line.hpp"

namespace oblique {

// One object serves all lines of one node after another. The calls are virtual, one per line; the loops over rows are
// compiled for each criterion.
class LineSearch {
 public:
  virtual ~LineSearch() = default;

  // totals : of the node, from a search that outlives this object.
  virtual void begin(const NodeRows& rows, const Totals& totals) = 0;
  // v : n values, v_size : their largest magnitude. needed : value below which the hyperplane is useless.
  virtual Step search(const double* v, double v_size, const Direction& direction, bool exact, double needed) = 0;
  // The criterion's value of a cut with these class weights on the left, of sum s; and its score in the form of the
  // publication.
  virtual double value(const double* left, double s) const = 0;
  virtual double gain(double of_value) const = 0;

  // Value of the node without a cut, and the rounding error of a value.
  double base() const { return base_; }
  double noise() const { return noise_; }
  // The least difference of values that counts, at a cut of value v.
  double slack(double v) const {
    if (strict_) return 0.0;
    return 1e-9 * std::max(v - base_, 0.0) + noise_;
  }

 protected:
  explicit LineSearch(bool strict) : strict_(strict) {}

  const bool strict_;
  double base_ = 0.0, noise_ = 0.0;
};

// direct : sort all rows and compute every cut's value from scratch: slow, with the same step.
std::unique_ptr<LineSearch> make_line_search(const std::string& criterion, bool strict, double min_leaf, bool direct);

}  // namespace oblique
