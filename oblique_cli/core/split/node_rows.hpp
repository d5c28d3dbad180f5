// The rows of one node, in the form that all searches use.
#pragma once

#include "common/standard.hpp"

namespace oblique {

class TableRows;

// The rows of one node, grouped by class in ascending code order. They have contiguous columns; the rows of a large
// node may instead lie in the input table, which Stretches in table_rows.hpp reads as well.
struct NodeRows {
  std::vector<const double*> columns;  // p pointers to n values; all nullptr if the rows lie in the table
  const TableRows* table = nullptr;
  const double* weights = nullptr;  // n weights, or nullptr when all are 1
  size_t n = 0;
  int n_classes = 0;                  // classes present
  const size_t* first_row = nullptr;  // n_classes + 1 offsets into the rows
};

// The middle of the gap between two numbers, or the lower one if the middle rounds to the upper.
inline double middle_of_gap(double low, double high) {
  const double middle = 0.5 * low + 0.5 * high;
  return middle >= low && middle < high ? middle : low;
}

// Moves a threshold to the middle of its gap among z; false if all z are on one side of it.
inline bool settle(const double* z, size_t n, double& threshold) {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < n; ++i) {
    if (z[i] <= threshold)
      low = std::max(low, z[i]);
    else
      high = std::min(high, z[i]);
  }
  if (!std::isfinite(low) || !std::isfinite(high)) return false;
  threshold = middle_of_gap(low, high);
  return true;
}

}  // namespace oblique
