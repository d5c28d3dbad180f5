// The best cut along each of many directions, by the residual sums of squares of both sides.
#pragma once

#include "common/interrupt.hpp"
#include "split/spread.hpp"

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

// Residual sums of squares of the first cuts[0], cuts[1], ... rows (n x m, the last columns are targets); cuts ascend.
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

// error : the sum over both sides, infinity without a cut; threshold : rows with a projection up to it go left
struct DirectionCut {
  double error = std::numeric_limits<double>::infinity();
  double threshold = std::numeric_limits<double>::quiet_NaN();
};

// The rows of a node. x : n x p features; rows : as in `prefix_rss`; sums are in units of `unit`
class DirectionCuts {
 public:
  DirectionCuts(const double* x, size_t n, size_t p, const double* rows, size_t m, size_t targets, double unit,
                size_t least, double zero)
      : x_(x), n_(n), p_(p), rows_(rows), m_(m), targets_(targets), unit_(unit), least_(std::max<size_t>(least, 1)),
        zero_(zero), sorted_(n), ordered_(n * m), reversed_(n * m) {
    spread_.measure(x, n, p);
  }

  // The first of the cuts of least error along w, in the middle of its gap; only the cut at `threshold` unless it is
  // NaN.
  DirectionCut best(const double* w, double threshold) {
    DirectionCut best_cut;
    for (size_t i = 0; i < n_; ++i) {
      sorted_[i] = {dot_row(w, x_ + i * p_, p_), i};
      if (!std::isfinite(sorted_[i].first)) return best_cut;  // no order and therefore no cut
    }
    std::sort(sorted_.begin(), sorted_.end());
    find_cuts(w, threshold);
    checkpoint(n_ * (p_ + m_));
    if (cuts_.empty()) return best_cut;
    for (size_t i = 0; i < n_; ++i) {
      const double* row = rows_ + sorted_[i].second * m_;
      std::copy(row, row + m_, ordered_.begin() + i * m_);
      std::copy(row, row + m_, reversed_.begin() + ((n_ - 1 - i) * m_));
    }
    const std::vector<double> left = prefix_rss(ordered_.data(), m_, targets_, cuts_.data(), cuts_.size(), zero_);
    backward_.assign(cuts_.rbegin(), cuts_.rend());
    for (int64_t& cut : backward_) cut = static_cast<int64_t>(n_) - cut;
    const std::vector<double> right =
        prefix_rss(reversed_.data(), m_, targets_, backward_.data(), backward_.size(), zero_);
    size_t at = 0;
    for (size_t c = 0; c < cuts_.size(); ++c) {
      const double error = unit_ * left[c] + unit_ * right[cuts_.size() - 1 - c];
      if (c == 0 || error < best_cut.error) best_cut.error = error, at = c;
    }
    const auto cut = static_cast<size_t>(cuts_[at]);
    const double low = sorted_[cut - 1].first, high = sorted_[cut].first;
    best_cut.threshold = std::isnan(threshold) ? low + 0.5 * (high - low) : threshold;
    return best_cut;
  }

 private:
  // Numbers of rows on the left, ascending. Projections closer than rounding are equal (docs/core.md, ties); otherwise
  // rounding would decide the side of a row.
  void find_cuts(const double* w, double threshold) {
    cuts_.clear();
    if (least_ > n_ / 2) return;
    if (!std::isnan(threshold)) {
      const auto above = std::upper_bound(sorted_.begin(), sorted_.end(), threshold,
                                          [](double value, const auto& row) { return value < row.first; });
      const auto cut = static_cast<size_t>(above - sorted_.begin());
      if (cut >= least_ && n_ - cut >= least_) cuts_.push_back(static_cast<int64_t>(cut));
      return;
    }
    const double gap = spread_.of_direction(w);
    for (size_t cut = least_; cut + least_ <= n_; ++cut)
      if (sorted_[cut].first - sorted_[cut - 1].first > gap) cuts_.push_back(static_cast<int64_t>(cut));
  }

  const double* x_;
  size_t n_, p_;
  const double* rows_;
  size_t m_, targets_;
  double unit_;
  size_t least_;
  double zero_;
  Spread spread_;
  std::vector<std::pair<double, size_t>> sorted_;
  std::vector<double> ordered_, reversed_;
  std::vector<int64_t> cuts_, backward_;
};

}  // namespace oblique
