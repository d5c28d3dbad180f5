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
    if (targets != 1 || m != 2) return;
    inverse_.resize(n + 1);
    for (size_t i = 0; i < n; ++i) {
      inverse_[i + 1] = 1.0 / static_cast<double>(i + 1);
      sum_ += target(i);
      square_ += target(i) * target(i);
    }
  }

  // The first of the cuts of least error along w, in the middle of its gap; only the cut at `threshold` unless it is
  // NaN. For models of means, the error may be infinity if no cut has an error below `limit`.
  DirectionCut best(const double* w, double threshold, double limit) {
    DirectionCut best_cut;
    for (size_t i = 0; i < n_; ++i) {
      sorted_[i] = {dot_row(w, x_ + i * p_, p_), i};
      if (!std::isfinite(sorted_[i].first)) return best_cut;  // no order and therefore no cut
    }
    if (!inverse_.empty() && std::isnan(threshold) && !may_beat(limit)) return best_cut;
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
  struct Bin {
    size_t count = 0;
    double positive = 0.0, negative = 0.0;
    bool is_open = false;
  };

  double target(size_t i) const { return rows_[2 * i + 1]; }

  // Sum of squares explained by the means of both sides: `left` rows with sum s, and the others.
  double explained(size_t left, double s, double rest) const {
    return s * s * inverse_[left] + rest * rest * inverse_[n_ - left];
  }

  // Whether a cut along the projections in `sorted_` may have an error below `limit`. The rows are summed in bins of
  // equal width. The sum left of a cut inside a bin lies between the sum before the bin with all its negative targets
  // and that with all its positive targets, and `explained` is convex: only bins with a larger bound are sorted.
  bool may_beat(double limit) {
    const double goal = (1.0 - 1e-10) * square_ - limit / unit_;
    const auto by_value = [](const auto& a, const auto& b) { return a.first < b.first; };
    const auto ends = std::minmax_element(sorted_.begin(), sorted_.end(), by_value);
    const double low = ends.first->first;
    bins_.assign(n_ / 8 + 1, Bin());
    const auto last_bin = static_cast<double>(bins_.size() - 1);
    const double scale = last_bin / (ends.second->first - low);
    if (!std::isfinite(goal) || !std::isfinite(scale) || least_ > n_ / 2) return true;
    const auto bin_of = [&](double value) -> Bin& { return bins_[static_cast<size_t>((value - low) * scale)]; };
    for (const auto& [value, i] : sorted_) {
      Bin& bin = bin_of(value);
      ++bin.count;
      bin.positive += std::max(target(i), 0.0);
      bin.negative += std::min(target(i), 0.0);
    }
    size_t before = 0;
    double s = 0.0;
    bool any = false;
    for (Bin& bin : bins_) {
      const size_t first = std::max(before + 1, least_), last = std::min(before + bin.count, n_ - least_);
      if (bin.count > 0 && first <= last) {
        const double left = std::max(std::fabs(s + bin.positive), std::fabs(s + bin.negative));
        const double right = left + std::fabs(sum_);
        bin.is_open = std::max(explained(first, left, right), explained(last, left, right)) > goal;
        any = any || bin.is_open;
      }
      before += bin.count;
      s += bin.positive + bin.negative;
    }
    return any && opened_beat(bin_of, goal);
  }

  // Whether a cut in an open bin explains more than `goal`.
  template <class BinOf>
  bool opened_beat(const BinOf& bin_of, double goal) {
    opened_.clear();
    for (const auto& entry : sorted_)
      if (bin_of(entry.first).is_open) opened_.push_back(entry);
    std::sort(opened_.begin(), opened_.end());
    size_t left = 0;
    double s = 0.0;
    auto entry = opened_.begin();
    for (const Bin& bin : bins_) {
      if (!bin.is_open) {
        left += bin.count;
        s += bin.positive + bin.negative;
        continue;
      }
      for (size_t k = 0; k < bin.count; ++k, ++entry) {
        s += target(entry->second);
        ++left;
        const bool is_cut =
            left >= least_ && left + least_ <= n_ && (k + 1 == bin.count || entry[1].first > entry->first);
        if (is_cut && explained(left, s, sum_ - s) > goal) return true;
      }
    }
    return false;
  }

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
  double sum_ = 0.0, square_ = 0.0;  // of the targets
  Vector inverse_;                   // 1 / i, empty unless both sides have a mean as their model
  std::vector<Bin> bins_;
  std::vector<std::pair<double, size_t>> sorted_, opened_;
  std::vector<double> ordered_, reversed_;
  std::vector<int64_t> cuts_, backward_;
};

}  // namespace oblique
