// The reduced problem of one node: which plane sends the rows that care to their sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/key_sort.hpp"
#include "linear/linear_solver.hpp"
#include "refinement/alternation.hpp"

namespace oblique {

// A row that cares: its number, whether its side is the right one, and its weight.
struct CareRow {
  std::uint32_t row;
  bool right;
  double weight;
};

// A plane of unit length or 0, and the weight of the rows that care which it sends to the wrong side.
struct PlaneCandidate {
  std::vector<double> w;
  double b = 0.0;
  bool missing_left = false;
  double wrong = 0.0;
  double length = 0.0;  // |w|_1
};

inline constexpr double kSlack = 1e-9;  // of the weight: bounds of costs are off by rounding, which is far less

// Sorts values of rows by value, then by row number.
class ValueSort {
 public:
  using Value = std::pair<double, std::uint32_t>;
  void sort(std::vector<Value>& values);

 private:
  std::vector<std::uint64_t> keys_;
  std::vector<Value> sorted_;
  KeySort sorter_;
};

// The rows in the order of each feature, so that a node sorts whole numbers, or does not sort at all.
struct FeatureOrders {
  std::vector<std::uint32_t> ranks;  // (p, n) place of every row; rows that lack a value are at 0
  std::vector<std::uint8_t> bins;    // (n, p) part of the order in which a row is, a value each if these are few
  std::vector<std::size_t> n_bins;   // of each feature
};
inline constexpr std::uint8_t kNoBin = 255;  // of a row that lacks the value
FeatureOrders orders_of(const RefinementRows& rows);

// Proposes planes for one node after another with the same buffers; one for each thread.
class NodeUpdate {
 public:
  NodeUpdate(const RefinementRows& rows, const FeatureOrders& orders, const RefinementOptions& options)
      : rows_(rows), orders_(orders), options_(options) {}

  // The plane of least `wrong` + penalty * |w|_1 among: the best cut of each feature, the best cut along the present
  // plane, and the best cut along the surrogate's answers at a series of l1 penalties. Equally good ones: the first.
  // False if there is none, because all rows are of one side or of one place, or none that costs less than `enough`.
  bool propose(const std::vector<CareRow>& care, const double* present, double present_b, double enough,
               PlaneCandidate& best);

 private:
  struct Cut {
    double threshold, wrong;
    bool right_above;  // whether larger values go right
    bool missing_left;
    bool is_found;
  };

  void cut_axes(const std::vector<CareRow>& care, PlaneCandidate& best);
  void bound_axes(const std::vector<CareRow>& care);
  Cut cut_axis(const std::vector<CareRow>& care, std::size_t feature);
  void cut_along(const std::vector<CareRow>& care, const std::vector<double>& w, double b, PlaneCandidate& best);
  double bound_along(const std::vector<CareRow>& care);
  void surrogates(const std::vector<CareRow>& care, PlaneCandidate& best);
  void choose_columns(const std::vector<double>& w);
  void solve_on_chosen(const TwoSides& sides, const LinearPenalty& penalty, const LinearOptions& options,
                       LinearFit& fit);
  bool too_dear(double cost, const PlaneCandidate& best) const;
  bool lacks(std::size_t row, const double* w) const;
  // Best cut of the sorted values_, both ways around or with larger values to the right only, with rows without a value
  // as a block.
  Cut best_cut(const std::vector<CareRow>& care, bool either_way, bool near, double wanted);

  const RefinementRows& rows_;
  const FeatureOrders& orders_;
  const RefinementOptions& options_;
  double weight_ = 0.0, enough_ = 0.0;  // of the rows that care; what a plane may cost
  std::vector<std::uint64_t> keys_;
  KeySort sorter_;
  ValueSort value_sorter_;
  std::vector<ValueSort::Value> values_;  // value and place in `care`, of rows that have one
  std::vector<std::uint32_t> lacking_;    // places in `care` of rows that have none
  std::vector<std::uint32_t> numbers_;
  std::vector<double> columns_, centered_, side_, row_weight_, direction_, centers_, along_;
  std::vector<double> sums_, least_;   // weight of either side in each bin; least weight that an axis gets wrong
  std::vector<std::uint8_t> bins_;     // of along_
  std::vector<std::size_t> in_order_;  // features by least_
  std::vector<Cut> cuts_;              // of the features
  std::vector<std::size_t> chosen_;    // columns of the features that a plane is limited to
  std::vector<double> some_;           // these of the rows that care
  LinearSolver solver_;
};

}  // namespace oblique
