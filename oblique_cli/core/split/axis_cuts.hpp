// Axis-parallel cuts of a node: the best cut so far, and a sweep along one feature.
#pragma once

#include "split/bag.hpp"
#include "split/monotone.hpp"

namespace oblique {

// A feature under search. rank : nullptr unless ranks are used; keys : the node's rows in order, as in SortedRows, or
// nullptr; facts : of every training row, its class in the upper 16 bits and its weight in the lower
struct AxisFeature {
  const double* x;
  const uint32_t* rank;
  const uint64_t* keys;
  const uint32_t* facts;
};

// Rows of this rank and lower go left, or rows of values up to `last` if the search used no ranks.
struct AxisCut {
  int feature = -1;  // -1: no feature varies
  double value = 0.0;
  bool by_rank = false;
  uint32_t rank = 0;
  double last = 0.0;

  void set(uint32_t of_rank) {
    by_rank = true;
    rank = of_rank;
  }
  void set(double value_of_last) {
    by_rank = false;
    last = value_of_last;
  }
  bool goes_right(const AxisFeature& of, uint32_t row) const {
    return by_rank ? of.rank[row] > rank : of.x[row] > last;
  }
};

class AxisCuts {
 public:
  void begin(const Bag& bag) {
    counts_ = bag.counts;
    best = AxisCut{};
    total_ = squares_ = 0.0;
    totals_.clear();
    for (const ClassRun& run : *bag.runs) {
      totals_.push_back(run.weight);
      total_ += run.weight;
      squares_ += run.weight * run.weight;
    }
    left_.resize(totals_.size());
  }
  // Starts with all rows on the right of the cut; classes are indices into the runs of the bag, or codes.
  void start() { std::fill(left_.begin(), left_.end(), 0.0); }
  void start_by_code(const std::vector<ClassRun>& runs) {
    const auto most = static_cast<size_t>(runs.back().code) + 1;  // runs are sorted by class
    if (left_.size() < most) {
      left_.resize(most);
      totals_.resize(most);
    }
    for (const ClassRun& run : runs) {
      left_[run.code] = 0.0;
      totals_[run.code] = run.weight;
    }
  }

  // Both sides of a cut that moves to the right. A local object, so that its sums stay in registers.
  class Sweep {
   public:
    explicit Sweep(AxisCuts& cuts)
        : cuts_(cuts), left_of_(cuts.left_.data()), totals_(cuts.totals_.data()), right_squares_(cuts.squares_),
          right_(cuts.total_), beats_(cuts.beats()) {}
    void move(size_t k, double w) {
      const double l = left_of_[k];
      left_squares_ += w * (2.0 * l + w);
      right_squares_ -= w * (2.0 * (totals_[k] - l) - w);
      left_of_[k] = l + w;
      left_ += w;
      right_ -= w;
    }
    // Divides only if products show that the cut may be better: they are exact to about 1e-15, and beats_ allows for
    // more. last : rank or value of the last row on the left
    template <class Last>
    void consider(Last last) {
      if (left_squares_ * right_ + right_squares_ * left_ < beats_ * (left_ * right_)) return;
      if (!(left_ > 0.0 && right_ > 0.0)) return;  // weights that vanish in the sum with the others
      const double value = gini_value(left_squares_, left_, right_squares_, right_);
      if (cuts_.best.feature >= 0 && !(value > cuts_.best.value * kBeats)) return;
      if (cuts_.allowed && !is_allowed()) return;
      cuts_.best.feature = cuts_.feature;
      cuts_.best.value = value;
      cuts_.best.set(last);
      beats_ = cuts_.beats();
    }

   private:
    // For a node of two classes, whose indices are their codes.
    bool is_allowed() const {
      return cuts_.allowed->allow(second_share(left_of_[0], left_of_[1]),
                                  second_share(totals_[0] - left_of_[0], totals_[1] - left_of_[1]));
    }

    AxisCuts& cuts_;
    double* left_of_;
    const double* totals_;
    double left_squares_ = 0.0, left_ = 0.0, right_squares_, right_, beats_;
  };

  AxisCut best;
  int feature = 0;                       // under search
  const AllowedCuts* allowed = nullptr;  // of the feature under search, with monotone constraints

 private:
  // A value that is certainly not sufficient; no test for weights that are not counts, whose products may overflow or
  // vanish.
  double beats() const { return best.feature >= 0 && counts_ ? best.value : 0.0; }

  bool counts_ = false;
  double total_ = 0.0, squares_ = 0.0;
  std::vector<double> totals_, left_;
};

}  // namespace oblique
