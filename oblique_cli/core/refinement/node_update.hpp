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

// Proposes planes for one node after another with the same buffers; one for each thread.
class NodeUpdate {
 public:
  NodeUpdate(const RefinementRows& rows, const std::uint32_t* ranks, const RefinementOptions& options)
      : rows_(rows), ranks_(ranks), options_(options) {}

  // The plane of least `wrong` + penalty * |w|_1 among: the best cut of each feature, the best cut along the present
  // plane, and the best cut along the surrogate's answers at a series of l1 penalties. Equally good ones: the first.
  // False if there is none, because all rows are of one side or of one place.
  bool propose(const std::vector<CareRow>& care, const double* present, double present_b, PlaneCandidate& best);

 private:
  void cut_axes(const std::vector<CareRow>& care, PlaneCandidate& best);
  void cut_along(const std::vector<CareRow>& care, const std::vector<double>& w, double b, PlaneCandidate& best);
  void surrogates(const std::vector<CareRow>& care, PlaneCandidate& best);
  bool lacks(std::size_t row, const double* w) const;
  struct Cut {
    double threshold, wrong;
    bool right_above;  // whether larger values go right
    bool missing_left;
    bool found;
  };
  // Best cut of the sorted values_, both ways around or with larger values to the right only, with rows without a value
  // as a block.
  Cut best_cut(const std::vector<CareRow>& care, bool either_way, bool near, double wanted);

  void sort_values();

  const RefinementRows& rows_;
  const std::uint32_t* ranks_;
  const RefinementOptions& options_;
  std::vector<std::uint64_t> keys_;
  KeySort sorter_;
  std::vector<std::pair<double, std::uint32_t>> values_, sorted_;  // value and place in `care`, of rows that have one
  std::vector<std::uint32_t> lacking_;                             // places in `care` of rows that have none
  std::vector<std::uint32_t> numbers_;
  std::vector<double> columns_, side_, weight_, direction_, centers_;
  LinearSolver solver_;
};

}  // namespace oblique
