// The best step along a line of hyperplanes; line_search.cpp describes the search.
// A hyperplane sends row i left if v_i <= 0; moving it along a direction changes v to v - t c. Perturbing one
// coefficient is the direction c = a column, perturbing the threshold c = 1, a jump c = the values of another
// hyperplane. Row i changes sides at t_i = v_i / c_i: to the left as t increases if c_i > 0, to the right if c_i < 0,
// never if c_i = 0.
// "exact" scores every hyperplane of the line. "faithful" follows Murthy, Kasif & Salzberg (1994): it treats the t_i as
// a feature, finds the best one-dimensional split of the rows that have a t_i, and scores the hyperplane at that step
// afterwards. Both give the same result if all c_i have one sign.
#pragma once

#include "common/kernels.hpp"
#include "split/node_rows.hpp"

namespace oblique {

// A step and the value of the cut at it: the value of the hyperplane, or of the one-dimensional split.
struct Step {
  bool is_found = false;
  double t = 0.0;
  double value = 0.0;
};

// The direction of a line: c of every row, the numbers of positive and negative c, and the largest magnitude.
struct LineDirection {
  const double* c = nullptr;
  size_t positive = 0, negative = 0;
  double size = 0.0;

  static LineDirection of(const double* c, size_t n) {
    LineDirection out{c, 0, 0, largest_magnitude(c, n)};
    for (size_t i = 0; i < n; ++i) {
      out.positive += c[i] > 0.0;
      out.negative += c[i] < 0.0;
    }
    return out;
  }
};

// The rows of a node along one line at a time: all rows, or only the moving rows.
struct LineRows {
  const double *v = nullptr, *c = nullptr, *weights = nullptr;
  const size_t* first_row = nullptr;
  const int* class_of = nullptr;
  size_t n = 0;
  int n_classes = 0;
  Totals totals;                   // of the rows in use
  std::vector<double> start_left;  // of each class, the weight on the left before the first row moves
  bool two_ways = false;           // whether rows that go left and rows that go right are both in use

  double weight(size_t i) const { return weights ? weights[i] : 1.0; }
  double step_of(size_t i) const { return v[i] / c[i]; }

  // of_node : totals of the node, which must outlive this object.
  void begin(const NodeRows& rows, const Totals& of_node) {
    rows_ = &rows;
    node_totals_ = of_node;
    n_classes = rows.n_classes;
    const size_t k = rows.n_classes;
    start_left.resize(k);
    some_of_class_.resize(k);
    offsets_.resize(k + 1);
    if (some_v_.size() < rows.n) {
      for (auto* room : {&some_v_, &some_c_, &some_weights_}) room->resize(rows.n);
      node_class_of_.resize(rows.n);
      some_class_of_.resize(rows.n);
    }
    fill_class_of(node_class_of_, rows.first_row);
  }

  // Selects a line. exact : score every hyperplane of the line, not only the best one-dimensional split of the steps.
  void turn(const double* values, const LineDirection& direction, bool exact) {
    v = values;
    c = direction.c;
    weights = rows_->weights;
    first_row = rows_->first_row;
    class_of = node_class_of_.data();
    n = rows_->n;
    totals = node_totals_;
    std::fill(start_left.begin(), start_left.end(), 0.0);
    two_ways = exact && !one_sign(direction);
    if (direction.positive + direction.negative < n) leave_out_fixed_rows(exact);
    if (n < 2 && !(two_ways && n == 1)) return;
    if (two_ways) {
      for (int k = 0; k < n_classes; ++k)
        for (size_t i = first_row[k]; i < first_row[k + 1]; ++i)
          if (c[i] < 0.0) start_left[k] += weight(i);
    }
  }

  // Whether all rows move the same way: the one-dimensional split and the hyperplane are then the same cut.
  bool one_sign(const LineDirection& direction) const {
    return direction.positive == rows_->n || direction.negative == rows_->n;
  }

 private:
  // Rows with c = 0 never move. The exact search counts those on the left; the faithful search leaves them out.
  void leave_out_fixed_rows(bool exact) {
    size_t m = 0;
    for (int k = 0; k < n_classes; ++k) {
      offsets_[k] = m;
      double total = 0.0;
      for (size_t i = first_row[k]; i < first_row[k + 1]; ++i) {
        const double w = weight(i);
        if (c[i] == 0.0) {
          if (v[i] <= 0.0) start_left[k] += w;
          continue;
        }
        total += w;
        some_v_[m] = v[i];
        some_c_[m] = c[i];
        some_weights_[m++] = w;
      }
      some_of_class_[k] = total;
    }
    offsets_[n_classes] = m;
    v = some_v_.data();
    c = some_c_.data();
    if (weights) weights = some_weights_.data();
    first_row = offsets_.data();
    fill_class_of(some_class_of_, first_row);
    class_of = some_class_of_.data();
    n = m;
    if (exact) return;
    std::fill(start_left.begin(), start_left.end(), 0.0);
    totals.of_class = some_of_class_.data();
    totals.n = 0.0;
    for (double w : some_of_class_) totals.n += w;
  }

  void fill_class_of(std::vector<int>& out, const size_t* first) const {
    for (int k = 0; k < n_classes; ++k) std::fill(out.begin() + first[k], out.begin() + (first[k + 1]), k);
  }

  const NodeRows* rows_ = nullptr;
  Totals node_totals_;
  std::vector<double> some_of_class_, some_v_, some_c_, some_weights_;
  std::vector<size_t> offsets_;
  std::vector<int> node_class_of_, some_class_of_;
};

// Serves all lines of one node after another. Calls are virtual, one per line; loops are compiled per criterion.
class LineSearch {
 public:
  virtual ~LineSearch() = default;

  // totals : of the node, from a search that outlives this object.
  virtual void begin(const NodeRows& rows, const Totals& totals) = 0;
  // v : n values, v_size : their largest magnitude. needed : value below which the hyperplane is useless.
  virtual Step search(const double* v, double v_size, const LineDirection& direction, bool exact, double needed) = 0;
  // The criterion's value of a cut with these class weights on the left, of sum s; and its published score.
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
