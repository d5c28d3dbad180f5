// Least squares updated row by row: the residual sum of squares of the first 1, 2, ... rows, in O(m^2) per row.
#pragma once

#include "common/interrupt.hpp"

namespace oblique {

// The triangular factor R of the rows so far, updated by Givens rotations. The last columns are targets; the part of a
// target that rotations leave is squared into the residual sum of squares directly, not as a difference of two large
// numbers: no digits cancel, and the condition number is not squared as in normal equations. All targets share the
// factor, and their sums are one sum.
// If the entry of a row in a column is below `zero` after the elimination of the previous columns, the column depends
// on them up to rounding. It gets no pivot, so a repeated or constant column takes no degree of freedom.
class GrowingFactor {
 public:
  // columns : number of columns, targets included; targets : number of targets, at least 1; zero : limit below which an
  // entry is zero, for columns of unit scale
  GrowingFactor(size_t columns, size_t targets, double zero)
      : m_(columns), regressors_(columns - targets), zero_(zero), r_(columns * columns, 0.0), row_(columns) {}

  void add(const double* values) {
    for (size_t j = 0; j < m_; ++j) row_[j] = values[j];
    for (size_t j = 0; j < regressors_; ++j) {
      const double b = row_[j];
      if (std::fabs(b) <= zero_) continue;
      double* pivot = r_.data() + j * m_;
      const double a = pivot[j];
      const double length = std::sqrt(a * a + b * b);
      const double c = a / length, s = b / length;
      pivot[j] = length;
      for (size_t k = j + 1; k < m_; ++k) {
        const double above = pivot[k], below = row_[k];
        pivot[k] = c * above + s * below;
        row_[k] = c * below - s * above;
      }
    }
    for (size_t j = regressors_; j < m_; ++j) rss_ += row_[j] * row_[j];
  }

  double rss() const { return rss_; }

 private:
  size_t m_, regressors_;
  double zero_, rss_ = 0.0;
  std::vector<double> r_, row_;
};

// Residual sums of squares of the first cuts[0], cuts[1], ... rows of `rows` (n x m, the last `targets` columns are
// targets); cuts ascend.
inline std::vector<double> prefix_rss(const double* rows, size_t m, size_t targets, const int64_t* cuts, size_t n_cuts,
                                      double zero) {
  std::vector<double> out(n_cuts);
  GrowingFactor factor(m, targets, zero);
  int64_t done = 0;
  for (size_t c = 0; c < n_cuts; ++c) {
    for (; done < cuts[c]; ++done) {
      factor.add(rows + static_cast<size_t>(done) * m);
      checkpoint(m * m);
    }
    out[c] = factor.rss();
  }
  return out;
}

}  // namespace oblique
