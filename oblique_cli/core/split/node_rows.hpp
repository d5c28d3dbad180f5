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

  double weight(size_t i) const { return weights ? weights[i] : 1.0; }
  // Of rows [first, last), added up in their order.
  double weight(size_t first, size_t last) const {
    return weights ? std::accumulate(weights + first, weights + last, 0.0) : static_cast<double>(last - first);
  }
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

struct Totals;

// Any thread may call the functions; they must depend on their arguments alone, and may throw.
struct GivenCriterion {
  // out[i] = V of cut i; left, right : (m, n_classes) weights of the classes on either side, row by row
  std::function<void(const std::vector<double>& left, const std::vector<double>& right, size_t m, double* out)> values;
  // The published score of a cut of value v, linear in v; empty: the value itself.
  std::function<double(double v, const Totals& t)> gain;
};

// Registers a criterion for all engines. Throws std::invalid_argument if its name is in use.
void give_criterion(const std::string& name, GivenCriterion criterion);
// The criterion of a name, at a permanent address, or nullptr; and the names of all.
const GivenCriterion* given_criterion(const std::string& name);
std::vector<std::string> given_criteria();

// Functions of counts that are looked up often. Those of large counts are computed, because few are needed.
class CountTable {
 public:
  static constexpr size_t kMost = 65536;

  // Prepares for counts up to n.
  void reach(size_t n, bool logarithms) {
    const size_t size = n < kMost ? n + 1 : kMost;
    for (size_t i = inverse_.size(); i < size; ++i) inverse_.push_back(i == 0 ? 0.0 : inverse_of(i));
    for (size_t i = x_log_x_.size(); logarithms && i < size; ++i) x_log_x_.push_back(i == 0 ? 0.0 : x_log_x_of(i));
  }

  // 1 / i and i log i; 0 for i = 0.
  double inverse(size_t i) const { return i < kMost ? inverse_[i] : inverse_of(i); }
  double x_log_x(size_t i) const { return i < kMost ? x_log_x_[i] : x_log_x_of(i); }

 private:
  static double inverse_of(size_t i) { return 1.0 / static_cast<double>(i); }
  static double x_log_x_of(size_t i) { return static_cast<double>(i) * std::log(static_cast<double>(i)); }

  std::vector<double> inverse_, x_log_x_;
};

// The classes present at a node. Weights are in units of the smallest positive one, so every row weighs at least 1.
struct Totals {
  int n_classes = 0;
  const double* of_class = nullptr;
  double n = 0.0;
  bool counts = true;                                 // all weights are 1, so every sum is an exact integer
  const CountTable* of_count = nullptr;               // when counts is true
  const GivenCriterion* runtime_criterion = nullptr;  // when the criterion is given at run time
};

}  // namespace oblique
