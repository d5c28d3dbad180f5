// Exact threshold search over many directions without sorting every one of them.
//
// For each direction the rows are put into equal-width bins, classes are counted per bin, and an upper bound says how
// good a cut inside a bin can be. Only the rows of bins that can still win are sorted. The result is the split that
// sorting everything would find: same score, same tie rule.
//
// Tie rule ("tolerant"): two projected values are distinct if they differ by more than 1e-9 of the projection's scale
// (sum over features of |h_j| times the feature's range at the node, plus a few rounding errors of its magnitude); the
// winner is the first cut in enumeration order (direction, then threshold) whose value is within 1e-9 of the best
// cut's gain. "strict" drops both tolerances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "criteria.hpp"
#include "kernels.hpp"

namespace oblique {

// The rows of one node: columns contiguous, rows grouped by class in ascending code order.
struct NodeRows {
  std::vector<const double*> columns;   // p pointers to n values
  const double* weights = nullptr;      // n weights, or nullptr when all are 1
  std::size_t n = 0;
  int n_classes = 0;                    // classes present
  const std::size_t* first_row = nullptr;  // n_classes + 1 offsets into the rows
};

struct Cut {
  std::int64_t order = -1;   // place of the direction in the enumeration; -1: no cut
  double threshold = 0.0;    // a point well inside the gap, in the direction's own projection
  double value = 0.0;        // criterion's V
};

// The candidates that may still win: increasing order, increasing value, all within the tie slack of the best.
class Front {
 public:
  void reset(double base, double noise, bool strict) {
    cuts_.clear();
    base_ = base;
    noise_ = strict ? 0.0 : noise;
    relative_ = strict ? 0.0 : 1e-9;
    best_ = base_;
    // A cut counts only if its gain is positive beyond the noise.
    bar_ = base_ + noise_;
  }

  // A cut below the bar cannot win.
  double bar() const { return bar_; }

  // A cut of a direction later than all seen so far must beat this to matter: the best so far is earlier and as good.
  double to_beat() const { return cuts_.empty() ? base_ + noise_ : best_; }

  void offer(std::int64_t order, double threshold, double value) {
    if (!(value > base_ + noise_) || value < bar_) return;
    if (value > best_) {
      best_ = value;
      const double slack = relative_ * (best_ - base_) + (relative_ > 0.0 ? noise_ : 0.0);
      bar_ = std::max(best_ - slack, base_ + noise_);
    }
    std::size_t place = 0;
    while (place < cuts_.size() && before(cuts_[place], order, threshold)) {
      if (cuts_[place].value >= value) return;
      ++place;
    }
    std::size_t end = place;
    while (end < cuts_.size() && cuts_[end].value <= value) ++end;
    cuts_.erase(cuts_.begin() + static_cast<std::ptrdiff_t>(place), cuts_.begin() + static_cast<std::ptrdiff_t>(end));
    cuts_.insert(cuts_.begin() + static_cast<std::ptrdiff_t>(place), Cut{order, threshold, value});
    std::erase_if(cuts_, [this](const Cut& c) { return c.value < bar_; });
  }

  Cut winner() const { return cuts_.empty() ? Cut{} : cuts_.front(); }

 private:
  static bool before(const Cut& c, std::int64_t order, double threshold) {
    return c.order < order || (c.order == order && c.threshold < threshold);
  }
  std::vector<Cut> cuts_;
  double base_ = 0.0, noise_ = 0.0, relative_ = 0.0, best_ = 0.0, bar_ = 0.0;
};

// What a search did, for tests and benchmarks.
struct SearchCounts {
  std::uint64_t directions = 0;   // directions looked at
  std::uint64_t refined = 0;      // directions in which at least one bin had to be sorted
  std::uint64_t bins = 0;         // bins sorted
};

template <class Criterion>
class SplitSearch {
 public:
  // exhaustive: sort every direction, never bin. The slow way to the same result.
  void configure(bool strict, double min_leaf, bool exhaustive) {
    strict_ = strict;
    min_leaf_ = min_leaf;
    exhaustive_ = exhaustive;
  }

  void begin(const NodeRows& rows) {
    rows_ = &rows;
    const int n_classes = rows.n_classes;
    of_class_.assign(static_cast<std::size_t>(n_classes), 0.0);
    for (int k = 0; k < n_classes; ++k) {
      const std::size_t first = rows.first_row[k], last = rows.first_row[k + 1];
      if (rows.weights) {
        double sum = 0.0;
        for (std::size_t i = first; i < last; ++i) sum += rows.weights[i];
        of_class_[k] = sum;
      } else {
        of_class_[k] = static_cast<double>(last - first);
      }
    }
    totals_ = Totals{};
    totals_.n_classes = n_classes;
    totals_.of_class = of_class_.data();
    totals_.counts = rows.weights == nullptr;
    for (double w : of_class_) totals_.n += w;
    if (Criterion::needs_logarithms && totals_.counts) {
      for (std::size_t i = x_log_x_.size(); i <= rows.n; ++i) {
        const double x = static_cast<double>(i);
        x_log_x_.push_back(i == 0 ? 0.0 : x * std::log(x));
      }
      totals_.x_log_x = x_log_x_.data();
    }
    front_.reset(Criterion::base(totals_), Criterion::noise(totals_), strict_);
    left_.resize(static_cast<std::size_t>(n_classes));
    // Few rows a bin keep the bounds tight, few bins keep them cheap: about the square root of n, a power of two.
    n_bins_ = 16;
    while (n_bins_ < 256 && static_cast<std::size_t>(n_bins_) * n_bins_ < rows.n) n_bins_ *= 2;
    table_.reserve(n_classes, n_bins_);
    if (z_.size() < rows.n) {
      z_.resize(rows.n);
      bins_.resize(rows.n);
      keys_.resize(rows.n);
    }
    class_of_row_.clear();
    if (rows.weights || strict_) fill_class_of_row();
    counts = SearchCounts{};
  }

  const Totals& totals() const { return totals_; }
  Front& front() { return front_; }

  // A direction whose projections are z (n values). `distinct` is the gap above which two of them differ.
  void direction(std::int64_t order, const double* z, double distinct) {
    search(order, z, range_of(z, rows_->n), distinct);
  }

  // A direction whose projections are x - c * w.
  void reflected_direction(std::int64_t order, const double* x, const double* w, double c, double distinct) {
    const Range range = project_reflected(x, w, c, z_.data(), rows_->n);
    search(order, z_.data(), range, distinct);
  }

  // A cut that is given, threshold and all: left is z <= threshold, and both sides must weigh at least `least`.
  void fixed_cut(std::int64_t order, const double* z, double threshold, double least) {
    ++counts.directions;
    double s = 0.0;
    for (int k = 0; k < rows_->n_classes; ++k) {
      double l = 0.0;
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i)
        if (z[i] <= threshold) l += rows_->weights ? rows_->weights[i] : 1.0;
      left_[k] = l;
      s += l;
    }
    if (s <= 0.0 || s >= totals_.n || s < least || totals_.n - s < least) return;
    front_.offer(order, threshold, Criterion::value(left_.data(), s, totals_));
  }

  SearchCounts counts;

 private:
  static constexpr std::size_t kSortRows = 24;         // below this many rows, sorting is quicker than binning
  static constexpr int kPayloadBits = 24;
  static constexpr double kQuanta = 549755813888.0;     // 2^39 steps over the range, 500 times finer than `distinct`

  void search(std::int64_t order, const double* z, Range range, double distinct) {
    ++counts.directions;
    if (!(range.high - range.low > (strict_ ? 0.0 : distinct))) return;
    if (exhaustive_ || strict_ || rows_->n < kSortRows)
      search_by_sorting(order, z, range, distinct);
    else
      search_by_bins(order, z, range, distinct);
  }

  void fill_class_of_row() {
    class_of_row_.resize(rows_->n);
    for (int k = 0; k < rows_->n_classes; ++k)
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i) class_of_row_[i] = k;
  }

  // One entry of a sorted run: its projection and what to move to the left.
  struct Entry {
    double z;
    std::uint32_t row;
  };

  void search_by_sorting(std::int64_t order, const double* z, Range range, double distinct) {
    ++counts.refined;
    std::fill(left_.begin(), left_.end(), 0.0);
    if (strict_ || rows_->n >= (std::size_t{1} << kPayloadBits)) {
      entries_.resize(rows_->n);
      for (std::size_t i = 0; i < rows_->n; ++i) entries_[i] = {z[i], static_cast<std::uint32_t>(i)};
      std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.z < b.z; });
      if (class_of_row_.empty()) fill_class_of_row();
      typename Criterion::Scan scan;
      scan.start(left_.data(), totals_);
      const double gap = strict_ ? 0.0 : distinct;
      for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
        const std::size_t row = entries_[i].row;
        move(scan, class_of_row_[row], rows_->weights ? rows_->weights[row] : 1.0);
        if (entries_[i + 1].z - entries_[i].z > gap)
          consider(scan, order, 0.5 * entries_[i].z + 0.5 * entries_[i + 1].z);
      }
      return;
    }
    const double scale = kQuanta / (range.high - range.low);
    std::size_t n = 0;
    for (int k = 0; k < rows_->n_classes; ++k)
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i)
        keys_[n++] = key(z[i], range.low, scale, rows_->weights ? i : static_cast<std::size_t>(k));
    scan_sorted(order, n, range.low, 1.0 / scale, distinct, std::numeric_limits<double>::infinity());
  }

  static std::uint64_t key(double z, double low, double scale, std::size_t payload) {
    return (static_cast<std::uint64_t>((z - low) * scale) << kPayloadBits) | payload;
  }

  void move(typename Criterion::Scan& scan, int k, double w) {
    scan.move(k, w, left_.data(), totals_);
    left_[k] += w;
  }

  void consider(typename Criterion::Scan& scan, std::int64_t order, double threshold) {
    if (scan.s < min_leaf_ || totals_.n - scan.s < min_leaf_) return;
    double value = scan.value(left_.data(), totals_);
    if (Criterion::scan_is_exact_for_counts && totals_.counts) {
      if (value >= front_.bar()) front_.offer(order, threshold, value);
      return;
    }
    // A running value carries the rounding of every step; near the bar it is computed afresh.
    if (value < front_.bar() - 1e-10 * totals_.n) return;
    double s = 0.0;
    for (double l : left_) s += l;
    value = Criterion::value(left_.data(), s, totals_);
    front_.offer(order, threshold, value);
  }

  // keys_[0..n) hold the rows of a bin; left_ holds the class weights left of it. `next` is the smallest projection
  // beyond the bin, infinity if there is none.
  void scan_sorted(std::int64_t order, std::size_t n, double low, double step, double distinct, double next) {
    std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(n));
    typename Criterion::Scan scan;
    scan.start(left_.data(), totals_);
    const std::uint64_t gap = static_cast<std::uint64_t>(distinct / step);
    constexpr std::uint64_t mask = (std::uint64_t{1} << kPayloadBits) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t payload = keys_[i] & mask;
      if (rows_->weights)
        move(scan, class_of_row_[payload], rows_->weights[payload]);
      else
        move(scan, static_cast<int>(payload), 1.0);
      const std::uint64_t here = keys_[i] >> kPayloadBits;
      if (i + 1 < n) {
        const std::uint64_t there = keys_[i + 1] >> kPayloadBits;
        if (there - here > gap)
          consider(scan, order, low + (static_cast<double>(here) + 0.5 * static_cast<double>(there - here)) * step);
      } else if (std::isfinite(next)) {
        const double z = low + static_cast<double>(here) * step;
        if (next - z > distinct) consider(scan, order, 0.5 * z + 0.5 * next);
      }
    }
  }

  void search_by_bins(std::int64_t order, const double* z, Range range, double distinct) {
    const int n_bins = n_bins_;
    const double scale = static_cast<double>(n_bins) * (1.0 - 1e-12) / (range.high - range.low);
    bin_rows(z, range.low, scale, n_bins, bins_.data(), rows_->n);
    fill_table(n_bins);
    table_.limits(totals_.n);
    Criterion::bounds(table_, totals_);

    // Bins whose bound reaches the bar, best first. The bound's own rounding is covered by a few times the noise.
    const double margin = 16.0 * Criterion::noise(totals_);
    for (int b = 0; b < n_bins; ++b) {
      table_.bound[b] += margin + 1e-12 * std::fabs(table_.bound[b]);
      // A bin of one row has one cut, at its right edge, whose value is known without any allowance.
      if (totals_.counts && table_.s[b + 1] - table_.s[b] == 1.0 && table_.s[b + 1] < totals_.n)
        table_.bound[b] = std::min(table_.bound[b], edge_value(b + 1));
    }
    open_.clear();
    const int last_bin = table_.last_filled();
    for (int b = 0; b <= last_bin; ++b)
      if (table_.bound[b] > front_.to_beat() && table_.s[b + 1] > table_.s[b]) open_.push_back(b);
    if (open_.empty()) return;
    ++counts.refined;
    std::sort(open_.begin(), open_.end(), [this](int a, int b) {
      return table_.bound[a] > table_.bound[b] || (table_.bound[a] == table_.bound[b] && a < b);
    });

    // One pass over the rows gathers all open bins and the smallest projection of the bin that follows each.
    slot_.assign(static_cast<std::size_t>(n_bins), -1);
    follows_.assign(static_cast<std::size_t>(n_bins), 0);
    smallest_.assign(static_cast<std::size_t>(n_bins), std::numeric_limits<double>::infinity());
    if (buckets_.size() < open_.size()) buckets_.resize(open_.size());
    for (std::size_t i = 0; i < open_.size(); ++i) {
      slot_[open_[i]] = static_cast<int>(i);
      buckets_[i].clear();
      int next = open_[i] + 1;
      while (next <= last_bin && table_.s[next] == table_.s[next + 1]) ++next;
      if (next <= last_bin) follows_[next] = 1;
    }
    const double fine = kQuanta / (range.high - range.low);
    const double step = 1.0 / fine;
    for (int k = 0; k < rows_->n_classes; ++k) {
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i) {
        const int bin = bins_[i];
        if (slot_[bin] >= 0)
          buckets_[slot_[bin]].push_back(key(z[i], range.low, fine, rows_->weights ? i : static_cast<std::size_t>(k)));
        if (follows_[bin] && z[i] < smallest_[bin]) smallest_[bin] = z[i];
      }
    }
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const int b = open_[i];
      if (table_.bound[b] < front_.bar()) break;
      ++counts.bins;
      for (int k = 0; k < rows_->n_classes; ++k) left_[k] = table_.of_class(k)[b];
      int next = b + 1;
      while (next <= last_bin && table_.s[next] == table_.s[next + 1]) ++next;
      std::copy(buckets_[i].begin(), buckets_[i].end(), keys_.begin());
      scan_sorted(order, buckets_[i].size(), range.low, step, distinct,
                  next <= last_bin ? smallest_[next] : std::numeric_limits<double>::infinity());
    }
  }

  double edge_value(int e) {
    for (int k = 0; k < rows_->n_classes; ++k) left_[k] = table_.of_class(k)[e];
    return Criterion::value(left_.data(), table_.s[e], totals_);
  }

  void fill_table(int n_bins) {
    table_.n_bins = n_bins;
    std::fill_n(table_.s.begin(), n_bins + 1, 0.0);
    std::fill_n(table_.q.begin(), n_bins + 1, 0.0);
    std::fill_n(table_.m.begin(), n_bins + 1, 0.0);
    for (int k = 0; k < rows_->n_classes; ++k) {
      const std::size_t first = rows_->first_row[k], last = rows_->first_row[k + 1];
      double* cum = table_.of_class(k);
      if (rows_->weights) {
        std::fill_n(bin_weights_, n_bins, 0.0);
        for (std::size_t i = first; i < last; ++i) bin_weights_[bins_[i]] += rows_->weights[i];
        cumulate_weights(bin_weights_, n_bins, cum);
        // The last edge must be the class total to the bit, or the right side would not be empty there.
        cum[n_bins] = of_class_[k];
      } else {
        std::fill_n(bin_counts_, 2 * n_bins, 0u);
        // Two tables in turn, so that a run of equal bins does not wait for its own last store.
        std::size_t i = first;
        for (; i + 1 < last; i += 2) {
          ++bin_counts_[bins_[i]];
          ++bin_counts_[n_bins + bins_[i + 1]];
        }
        if (i < last) ++bin_counts_[bins_[i]];
        for (int b = 0; b < n_bins; ++b) bin_counts_[b] += bin_counts_[n_bins + b];
        cumulate_counts(bin_counts_, n_bins, cum);
      }
      accumulate_edges(cum, of_class_[k], n_bins + 1, table_.s.data(), table_.q.data(), table_.m.data());
    }
  }

  const NodeRows* rows_ = nullptr;
  bool strict_ = false, exhaustive_ = false;
  double min_leaf_ = 1.0;
  int n_bins_ = 16;
  Totals totals_;
  Front front_;
  BinTable table_;
  std::vector<double> of_class_, left_, z_, x_log_x_, smallest_;
  std::vector<std::uint8_t> bins_;
  std::vector<char> follows_;
  std::vector<int> open_, slot_, class_of_row_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::vector<std::uint64_t>> buckets_;
  std::vector<Entry> entries_;
  std::uint32_t bin_counts_[512] = {};
  double bin_weights_[256] = {};
};

}  // namespace oblique
