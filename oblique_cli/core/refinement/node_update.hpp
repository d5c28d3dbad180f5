// The reduced problem of one node: a plane that sends the rows that count to their preferred sides.
#pragma once

#include "common/key_sort.hpp"
#include "refinement/alternation.hpp"

namespace oblique {

// A row whose cost depends on its side: its number, whether it prefers the right side, and the difference of both costs
// as its weight.
struct CareRow {
  uint32_t row;
  bool right;
  double weight;
};

// A plane of unit length (or 0), and the weight of the rows that it sends to the wrong side.
struct PlaneCandidate {
  std::vector<double> w;
  double b = 0.0;
  bool missing_left = false;
  double wrong = 0.0;
  double length = 0.0;  // |w|_1
};

inline constexpr double kSlack = 1e-9;  // relative to the weight: rounding changes bounds of costs by far less

// Sorts values of rows by value, then by row number.
class ValueSort {
 public:
  using Value = std::pair<double, uint32_t>;
  void sort(std::vector<Value>& values);

 private:
  std::vector<uint64_t> keys_;
  std::vector<Value> sorted_;
  KeySort sorter_;
};

// The rows in the order of each feature, so that a node sorts integers or does not sort at all.
struct FeatureOrders {
  std::vector<uint32_t> ranks;  // (n, p) rank of every row; rows without a value are at 0
  std::vector<uint8_t> bins;    // (n, p) bin of every row by its rank; one value per bin if there are few values
  std::vector<size_t> n_bins;   // of each feature
};
inline constexpr uint8_t kNoBin = 255;  // of a row without the value
FeatureOrders orders_of(const RefinementRows& rows);

// Proposes planes for one node after another and reuses its buffers; one object for each thread.
class NodeUpdate {
 public:
  NodeUpdate(const RefinementRows& rows, const FeatureOrders& orders, const RefinementOptions& options)
      : rows_(rows), orders_(orders), options_(options) {}

  // The plane of least `wrong` + penalty * |w|_1 among: the best cut of each feature, the best cut along the present
  // plane, and the best cuts along the surrogate's solutions at a series of l1 penalties. The first of equals. False if
  // there is none, because all rows prefer one side or have the same values, or none that costs less than `enough`.
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
  Cut cut_axis(const std::vector<CareRow>& care, size_t feature);
  void cut_along(const std::vector<CareRow>& care, const std::vector<double>& w, double b, PlaneCandidate& best);
  double bound_along(const std::vector<CareRow>& care);
  void surrogates(const std::vector<CareRow>& care, PlaneCandidate& best);
  void choose_columns(const std::vector<double>& w);
  void solve_on_chosen(const TwoSides& sides, const LinearPenalty& penalty, const LinearOptions& options,
                       LinearFit& fit);
  bool too_dear(double cost, const PlaneCandidate& best) const;
  bool lacks(size_t row, const double* w) const;
  // Best cut of the sorted values_, in both orientations or with larger values to the right only; rows without a value
  // stay together.
  Cut best_cut(const std::vector<CareRow>& care, bool either_way, bool near, double wanted);

  const RefinementRows& rows_;
  const FeatureOrders& orders_;
  const RefinementOptions& options_;
  double weight_ = 0.0, enough_ = 0.0;  // of the rows that count; upper limit of the cost of a plane
  std::vector<uint64_t> keys_;
  KeySort sorter_;
  ValueSort value_sorter_;
  std::vector<ValueSort::Value> values_;  // value and index in `care`, of rows with a value
  std::vector<uint32_t> lacking_;         // indices in `care` of rows without a value
  std::vector<uint32_t> numbers_;
  std::vector<double> columns_, centered_, side_, row_weight_, direction_, centers_, along_;
  std::vector<double> sums_, least_;  // weight of either side in each bin; lower bounds by feature
  std::vector<uint8_t> bins_;         // of along_
  std::vector<size_t> in_order_;      // features by least_
  std::vector<Cut> cuts_;             // of the features
  std::vector<size_t> chosen_;        // columns of the features that a plane is limited to
  std::vector<double> some_;          // these columns of the rows that count
  LinearSolver solver_;
};

}  // namespace oblique
