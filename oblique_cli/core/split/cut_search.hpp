// The common part of all searches of a node: the weights of its classes, and the rule which cuts are accepted.
#pragma once

#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "split/node_search.hpp"

namespace oblique {

// A direction under search. Its projections are x - c * w, or x if w is nullptr.
struct Direction {
  int64_t order;    // index in the enumeration
  double distinct;  // the gap above which two projections differ
  const double* x;
  const double* w = nullptr;
  double c = 0.0;
  const double* z = nullptr;  // the projections and their range, computed on demand
  Range range{};
};

// A criterion is as in criteria.hpp.
template <class Criterion>
class CutSearch : public NodeSearch {
 public:
  explicit CutSearch(const SearchOptions& options)
      : strict(options.strict_ties), min_leaf_(options.min_leaf), given_(given_criterion(options.criterion)) {}

  void begin(const NodeRows& node_rows) override {
    rows = &node_rows;
    of_class_.assign(static_cast<size_t>(rows->n_classes), 0.0);
    for (int k = 0; k < rows->n_classes; ++k) of_class_[k] = rows->weight(rows->first_row[k], rows->first_row[k + 1]);
    totals_ = Totals{};
    totals_.n_classes = rows->n_classes;
    totals_.of_class = of_class_.data();
    totals_.counts = rows->weights == nullptr;
    totals_.runtime_criterion = given_;
    for (double w : of_class_) totals_.n += w;
    if (totals_.counts) {
      of_count_.reach(rows->n, Criterion::needs_logarithms);
      totals_.of_count = &of_count_;
    }
    restart();
    left.resize(of_class_.size());
    counts = SearchCounts{};
  }

  void restart() override {
    front_.reset(Criterion::base(totals_), Criterion::noise(totals_), strict);
    most_ = Criterion::most(totals_);
  }

  bool is_over(int64_t order) const override { return front_.needed(order) > most_; }

  void direction(int64_t order, const double* z, double distinct) override { take({order, distinct, z}); }
  void reflected_direction(int64_t order, const double* x, const double* w, double c, double distinct) override {
    take({order, distinct, x, w, c});
  }

  void fixed_cut(int64_t order, const double* z, double threshold, double least) override {
    ++counts.directions;
    checkpoint(rows->n);
    double s = 0.0;
    for (int k = 0; k < rows->n_classes; ++k) {
      double l = 0.0;
      for (size_t i = rows->first_row[k]; i < rows->first_row[k + 1]; ++i)
        if (z[i] <= threshold) l += weight(i);
      left[k] = l;
      s += l;
    }
    if (s > 0.0 && s < totals_.n && is_enough(s, least) && is_allowed(left.data()))
      front_.offer(order, threshold, value_at(s));
  }

  double gain(double value) const override { return Criterion::gain(value, totals_); }

  // For tactics.

  // Projects the rows; false if no two projections differ.
  bool project(Direction& d) {
    checkpoint(4 * rows->n);
    if (d.w) {
      if (z_.size() < rows->n) z_.resize(rows->n);
      d.range = project_reflected(d.x, d.w, d.c, z_.data(), rows->n);
      d.z = z_.data();
    } else {
      d.range = range_of(d.x, rows->n);
      d.z = d.x;
    }
    return d.range.high - d.range.low > (strict ? 0.0 : d.distinct);
  }

  double weight(size_t i) const { return rows->weight(i); }
  double needed(int64_t order) const { return front_.needed(order); }
  double bar_after(double value) const { return front_.bar_after(value); }

  // Whether a side of weight s and the other one weigh at least `least`.
  bool is_enough(double s, double least) const { return !(std::min(s, totals_.n - s) < least - 1e-12 * totals_.n); }
  // The value of the cut with `left` on the left, of weight s.
  double value_at(double s) const { return Criterion::value(left.data(), s, totals_); }
  // Offers that cut with a fresh sum: running sums carry the rounding of every step.
  void offer(int64_t order, double threshold) {
    double s = 0.0;
    for (double l : left) s += l;
    front_.offer(order, threshold, value_at(s));
  }

  // The least running value for which a cut of direction `order` needs its exact value.
  double roughly_needed(int64_t order) const { return front_.needed(order) - 1e-10 * totals_.n - 1e-13; }

  // A cut that moves along a direction, from the weights in `left`. A local object keeps its sums in registers.
  class Sweep {
   public:
    Sweep(CutSearch& search, int64_t order)
        : search_(search), totals_(search.totals_), left_(search.left.data()), order_(order),
          needed_(search.roughly_needed(order)) {
      scan_.start(left_, totals_);
    }
    // Moves weight w of class k to the left.
    void move(int k, double w) {
      scan_.move(k, w, left_, totals_);
      left_[k] += w;
    }
    // Offers the cut at this place if its value may suffice.
    void consider(double threshold) {
      if (scan_.rough(left_, totals_, needed_) < needed_) return;
      if (!search_.is_enough(scan_.s, search_.min_leaf_)) return;
      search_.offer(order_, threshold);
      needed_ = search_.roughly_needed(order_);
    }

   private:
    CutSearch& search_;
    const Totals totals_;
    double* const left_;
    typename Criterion::Scan scan_;
    const int64_t order_;
    double needed_;
  };

  const bool strict;
  const NodeRows* rows = nullptr;
  std::vector<double> left;  // weights of the classes left of the current cut

 protected:
  virtual void search(Direction& d) = 0;

  const double min_leaf_;

 private:
  void take(Direction d) {
    ++counts.directions;
    if (!is_over(d.order)) search(d);
  }

  const GivenCriterion* const given_;
  double most_ = 0.0;
  std::vector<double> of_class_, z_;
  CountTable of_count_;
};

// Tactics run in turn, each with its own buffers. Leaving a tactic out changes the time of a search, not its result.
class Tactic {
 public:
  virtual ~Tactic() = default;
  // Begins the node of the search.
  virtual void begin() = 0;
  // Whether the direction is complete: none of its cuts can win except those already offered. A tactic that does not
  // complete a direction passes its open bins on in OpenBins.
  virtual bool settles(Direction& d) = 0;
};

// Keys of projections use this many bits for a row: for its class, or for its index at the node if rows have weights.
inline constexpr int kPayloadBits = 24;

// Whether steps of 2^-39 of a range are normal numbers.
inline bool is_keyable(Range range) {
  const double width = range.high - range.low;
  return width > 1e-290 && width < 1e290;
}

}  // namespace oblique
