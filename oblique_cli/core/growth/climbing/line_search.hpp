// The best step along a line of hyperplanes.
//
// A hyperplane sends row i left if v_i <= 0, and moving it along a direction changes v to v - t c. Perturbing one
// coefficient is the direction c = a column, its threshold c = 1, a jump c = the values of another hyperplane. Row i
// changes sides at t_i = v_i / c_i: to the left as t grows if c_i > 0, to the right if c_i < 0, never if c_i = 0.
//
// "exact" scores every hyperplane of the line. "faithful" is what Murthy, Kasif & Salzberg (1994) describe: the t_i are
// a feature, its best one-dimensional split is found over the rows that have one, and the hyperplane at that step is
// scored afterwards. Both are the same where all c_i have one sign.
//
// Rows are put into equal-width bins of a key that grows with t, and bins that cannot win are never sorted, as in
// split_search.hpp. Rows that go left and rows that go right may share a bin: the left weights of its cuts then lie in
// the box from "all of the latter gone" to "all of the former come", whose corners are two edges of the bounds' table.
// Where nothing is known to beat, the cuts at the two edges of the most promising bin say what the best one reaches at
// least, and a crowded bin is divided and bounded once more before any of it is sorted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/criteria.hpp"
#include "common/kernels.hpp"
#include "search/split_search.hpp"

namespace oblique {

// A step and the value of the cut that was searched: that of the hyperplane, or of the one-dimensional split.
struct Step {
  bool found = false;
  double t = 0.0;
  double value = 0.0;
};

// The direction of a line: c of every row, how many are positive and negative, and the largest magnitude.
struct Direction {
  const double* c = nullptr;
  std::size_t positive = 0, negative = 0;
  double size = 0.0;

  static Direction of(const double* c, std::size_t n) {
    Direction out{c, 0, 0, largest_magnitude(c, n)};
    for (std::size_t i = 0; i < n; ++i) {
      out.positive += c[i] > 0.0;
      out.negative += c[i] < 0.0;
    }
    return out;
  }
};

template <class Criterion>
class LineSearch {
 public:
  // direct: sort all rows and score every cut afresh. The slow way to the same step.
  void configure(bool strict, double min_leaf, bool direct) {
    strict_ = strict;
    min_leaf_ = min_leaf;
    direct_ = direct;
  }

  // totals: of the node, from a SplitSearch that stays alive.
  void begin(const NodeRows& rows, const Totals& totals) {
    rows_ = &rows;
    node_totals_ = totals;
    base_ = Criterion::base(totals);
    const std::size_t k = static_cast<std::size_t>(rows.n_classes);
    left_.resize(k);
    start_left_.resize(k);
    some_of_class_.resize(k);
    offsets_.resize(k + 1);
    if (keys_.size() < rows.n) {
      for (auto* v : {&keys_, &some_v_, &some_c_, &some_weights_}) v->resize(rows.n);
      node_class_of_.resize(rows.n);
      some_class_of_.resize(rows.n);
      bins_.resize(rows.n);
      list_.resize(rows.n);
      entries_.resize(rows.n);
    }
    fill_class_of(node_class_of_, rows.first_row, rows.n_classes);
  }

  // What two values must differ by to count as different, at a cut of value v.
  double slack(double v) const {
    if (strict_) return 0.0;
    return 1e-9 * std::max(v - base_, 0.0) + Criterion::noise(node_totals_);
  }

  // v: n values, v_size: their largest magnitude. needed: a value below which the hyperplane is of no use.
  Step search(const double* v, double v_size, const Direction& direction, bool exact, double needed) {
    const std::size_t n = rows_->n, positive = direction.positive, negative = direction.negative;
    v_ = v;
    c_ = direction.c;
    weights_ = rows_->weights;
    first_row_ = rows_->first_row;
    class_of_ = node_class_of_.data();
    n_ = n;
    totals_ = node_totals_;
    std::fill(start_left_.begin(), start_left_.end(), 0.0);
    const bool one_sign = positive == n || negative == n;
    // The one-dimensional split and the hyperplane are then the same cut, from one side or from the other.
    two_ways_ = exact && !one_sign;
    least_ = exact || one_sign ? min_leaf_ : 0.0;
    needed_value_ = exact || one_sign ? needed : -std::numeric_limits<double>::infinity();
    if (positive + negative < n) leave_out_fixed_rows(exact);
    if (n_ < 2 && !(two_ways_ && n_ == 1)) return {};
    if (two_ways_) {
      for (int k = 0; k < rows_->n_classes; ++k)
        for (std::size_t i = first_row_[k]; i < first_row_[k + 1]; ++i)
          if (c_[i] < 0.0) start_left_[k] += weights_ ? weights_[i] : 1.0;
    }
    // Large enough to keep most keys away from the ends, where they would crowd.
    const double scale = 4.0 * v_size / direction.size;
    if (!(scale > 0.0) || !std::isfinite(scale)) return {};
    const Range range = step_keys(v_, c_, scale, keys_.data(), n_);
    if (!(range.high - range.low > gap())) return {};
    front_.reset(Criterion::base(totals_), Criterion::noise(totals_), strict_);
    if (direct_ || n_ < kSortRows || n_ >= (std::size_t{1} << 24))
      sort_everything();
    else
      totals_.counts ? search_bins(counts_table_, range) : search_bins(weights_table_, range);
    const Cut cut = front_.winner();
    return {cut.order >= 0, cut.threshold, cut.value};
  }

 private:
  static constexpr std::size_t kSortRows = 32;
  static constexpr int kMaxBins = 256;
  static constexpr std::size_t kCrowdedRows = 48;   // a bin of more is divided
  static constexpr std::size_t kRowsOfPart = 8, kMaxParts = 256;

  struct Entry {
    double key;
    std::uint32_t row;
  };

  double gap() const { return strict_ ? 0.0 : 1e-9; }
  double weight(std::size_t i) const { return weights_ ? weights_[i] : 1.0; }
  double step_of(std::size_t i) const { return v_[i] / c_[i]; }

  // Rows with c = 0 never move. The exact search counts those on the left; the faithful one does without them.
  void leave_out_fixed_rows(bool exact) {
    std::size_t m = 0;
    for (int k = 0; k < rows_->n_classes; ++k) {
      offsets_[k] = m;
      double total = 0.0;
      for (std::size_t i = first_row_[k]; i < first_row_[k + 1]; ++i) {
        const double w = weight(i);
        if (c_[i] == 0.0) {
          if (v_[i] <= 0.0) start_left_[k] += w;
          continue;
        }
        total += w;
        some_v_[m] = v_[i];
        some_c_[m] = c_[i];
        some_weights_[m++] = w;
      }
      some_of_class_[k] = total;
    }
    offsets_[static_cast<std::size_t>(rows_->n_classes)] = m;
    v_ = some_v_.data();
    c_ = some_c_.data();
    if (weights_) weights_ = some_weights_.data();
    first_row_ = offsets_.data();
    fill_class_of(some_class_of_, first_row_, rows_->n_classes);
    class_of_ = some_class_of_.data();
    n_ = m;
    if (exact) return;
    std::fill(start_left_.begin(), start_left_.end(), 0.0);
    totals_.of_class = some_of_class_.data();
    totals_.n = 0.0;
    for (double w : some_of_class_) totals_.n += w;
  }

  static void fill_class_of(std::vector<int>& class_of, const std::size_t* first_row, int n_classes) {
    for (int k = 0; k < n_classes; ++k)
      std::fill(class_of.begin() + static_cast<std::ptrdiff_t>(first_row[k]),
                class_of.begin() + static_cast<std::ptrdiff_t>(first_row[k + 1]), k);
  }

  struct ByKey {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.key < b.key || (a.key == b.key && a.row < b.row);
    }
  };

  void sort_everything() {
    for (std::size_t i = 0; i < n_; ++i) entries_[i] = {keys_[i], static_cast<std::uint32_t>(i)};
    if (direct_)
      std::sort(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(n_), ByKey{});
    else
      sort(entries_.data(), n_);
    std::copy(start_left_.begin(), start_left_.end(), left_.begin());
    scan(entries_.data(), n_, Following{});
  }

  static void sort(Entry* entries, std::size_t n) {
    if (n > 24) {
      std::sort(entries, entries + n, ByKey{});
      return;
    }
    for (std::size_t i = 1; i < n; ++i) {
      const Entry entry = entries[i];
      std::size_t j = i;
      for (; j > 0 && entries[j - 1].key > entry.key; --j) entries[j] = entries[j - 1];
      entries[j] = entry;
    }
  }

  // Rows of which the first comes after those that are scanned, if any.
  struct Following {
    const Entry* entries = nullptr;
    std::size_t n = 0;
    Entry first() const {
      return n ? *std::min_element(entries, entries + n, ByKey{}) : Entry{std::numeric_limits<double>::infinity(), 0};
    }
  };

  // Moves sorted rows one at a time, left_ being the weights before the first.
  void scan(const Entry* entries, std::size_t n, Following next) {
    typename Criterion::Scan state;
    state.start(left_.data(), totals_);
    update_needed();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = entries[i].row;
      const int k = class_of_[row];
      const double w = two_ways_ && c_[row] < 0.0 ? -weight(row) : weight(row);
      state.move(k, w, left_.data(), totals_);
      left_[k] += w;
      if (i + 1 < n && !apart(entries[i], entries[i + 1])) continue;
      if (!allowed(state.s) || (!direct_ && state.rough(left_.data(), totals_, needed_) < needed_)) continue;
      const Entry after = i + 1 < n ? entries[i + 1] : next.first();
      if (apart(entries[i], after)) consider(state.s, row, after.row);
    }
  }

  bool apart(const Entry& entry, const Entry& after) const {
    return after.key - entry.key > gap() && after.key <= 1.5;
  }

  void consider(double s, std::size_t row, std::size_t next_row) {
    if (!direct_) {
      s = 0.0;
      for (double l : left_) s += l;
    }
    const double value = Criterion::value(left_.data(), s, totals_);
    if (value < needed_value_) return;
    const double t = 0.5 * step_of(row) + 0.5 * step_of(next_row);
    if (!std::isfinite(t)) return;
    front_.offer(0, t, value);
    update_needed();
  }

  // Whether both sides of a cut hold enough, s being the weight on the left.
  bool allowed(double s) const { return s >= 0.5 && totals_.n - s >= 0.5 && s >= least_ && totals_.n - s >= least_; }

  // What a cut must differ by from one of value v among those that are searched.
  double slack_of(double v) const {
    if (strict_) return 0.0;
    return 1e-9 * std::max(v - Criterion::base(totals_), 0.0) + Criterion::noise(totals_);
  }

  double bar() const { return std::max({front_.needed(0), needed_value_, floor_}); }
  void update_needed() { needed_ = bar() - 1e-10 * totals_.n - 1e-13; }

  template <class T>
  void search_bins(BinTable<T>& table, Range range) {
    int n_bins = 16;
    // Finer bins close more of each other, but every class pays for every bin.
    const std::size_t fineness = rows_->n_classes > 8 ? 4 : 16;
    while (n_bins < kMaxBins && static_cast<std::size_t>(n_bins) * n_bins < fineness * n_) n_bins *= 2;
    bin_rows(keys_.data(), range.low, n_bins * (1.0 - 1e-12) / (range.high - range.low), n_bins, bins_.data(), n_);
    two_ways_ ? fill_two_ways(table, n_bins) : fill(table, n_bins);
    edge_sums(table.edges(), table.sums());
    count_rows(table, n_bins);
    Criterion::bounds(table, totals_);

    const double slack = Criterion::template slack<T>(totals_);
    int best = -1;
    for (int b = 0; b < n_bins; ++b) {
      bound_[b] = static_cast<double>(table.bound[two_ways_ ? 2 * b : b]) + slack;
      if (rows_in_[b] && bound_[b] >= bar() && (best < 0 || bound_[b] > bound_[best])) best = b;
    }
    if (best < 0) return;
    if (!std::isfinite(needed_value_) && !two_ways_) {
      const double reached = std::max(value_before(table, best), value_before(table, best + 1));
      // All cuts that can tie with this one are wanted.
      floor_ = reached - 2.0 * slack_of(reached);
      refine(table, n_bins);
      const bool reaches = front_.winner().order >= 0 && front_.best() >= reached;
      floor_ = -std::numeric_limits<double>::infinity();
      // A cut at an edge of a bin does not exist where the rows beside the edge are too close to each other.
      if (reaches) return;
    }
    refine(table, n_bins);
  }

  // Value of the cut before bin b, or minus infinity if a side holds too little.
  template <class T>
  double value_before(const BinTable<T>& table, int b) {
    double s = 0.0;
    for (int k = 0; k < rows_->n_classes; ++k) {
      left_[k] = static_cast<double>(table.of_class(k)[b]);
      s += left_[k];
    }
    return allowed(s) ? Criterion::value(left_.data(), s, totals_) : -std::numeric_limits<double>::infinity();
  }

  // Sorts and scans the bins that can still win.
  template <class T>
  void refine(const BinTable<T>& table, int n_bins) {
    open_.clear();
    std::fill_n(wanted_, n_bins, std::uint8_t{0});
    for (int b = 0; b < n_bins; ++b) {
      if (!rows_in_[b] || bound_[b] < bar()) continue;
      open_.push_back(b);
      next_[b] = b + 1;
      while (next_[b] < n_bins && !rows_in_[next_[b]]) ++next_[b];
      wanted_[b] = 1;
      if (next_[b] < n_bins) wanted_[next_[b]] = 1;
    }
    if (open_.empty()) return;
    std::size_t used = 0;
    for (int b = 0; b < n_bins; ++b) {
      if (!wanted_[b]) continue;
      start_[b] = end_[b] = used;
      used += rows_in_[b];
    }
    std::size_t n_wanted = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      list_[n_wanted] = static_cast<std::uint32_t>(i);
      n_wanted += wanted_[bins_[i]];
    }
    for (std::size_t at = 0; at < n_wanted; ++at) {
      const std::uint32_t i = list_[at];
      entries_[end_[bins_[i]]++] = {keys_[i], i};
    }
    // The most promising one first: what it holds closes most of the others.
    std::swap(open_.front(), *std::max_element(open_.begin(), open_.end(),
                                               [this](int a, int b) { return bound_[a] < bound_[b]; }));
    for (const int b : open_) {
      if (bound_[b] < bar()) continue;
      for (int k = 0; k < rows_->n_classes; ++k) left_[k] = before(table, k, b);
      Following next;
      if (next_[b] < n_bins) next = {entries_.data() + start_[next_[b]], rows_in_[next_[b]]};
      search_bin(entries_.data() + start_[b], rows_in_[b], next);
    }
  }

  // Scans the rows of a bin, left_ being the weights before it; divides a crowded one first.
  void search_bin(Entry* entries, std::size_t n, Following next) {
    if (n > kCrowdedRows && totals_.counts && !two_ways_ && divide(entries, n)) {
      search_parts(entries, next);
      return;
    }
    sort(entries, n);
    scan(entries, n, next);
  }

  // Groups the rows of a bin by narrower bins; false if their keys are too close to each other for that.
  bool divide(Entry* entries, std::size_t n) {
    double low = entries[0].key, high = low;
    for (std::size_t i = 1; i < n; ++i) {
      low = std::min(low, entries[i].key);
      high = std::max(high, entries[i].key);
    }
    if (!(high - low > 1e-7)) return false;
    n_parts_ = 8;
    while (n_parts_ < kMaxParts && n_parts_ * kRowsOfPart < n) n_parts_ *= 2;
    const double scale = static_cast<double>(n_parts_) * (1.0 - 1e-12) / (high - low);
    const std::size_t classes = static_cast<std::size_t>(rows_->n_classes), last = n_parts_ - 1;
    part_counts_.assign(classes * n_parts_, 0u);
    std::fill_n(part_start_, n_parts_ + 1, std::size_t{0});
    if (spare_.size() < n) {
      spare_.resize(n);
      part_of_.resize(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t part = std::min(last, static_cast<std::size_t>((entries[i].key - low) * scale));
      part_of_[i] = static_cast<std::uint8_t>(part);
      ++part_start_[part + 1];
      ++part_counts_[static_cast<std::size_t>(class_of_[entries[i].row]) * n_parts_ + part];
    }
    for (std::size_t part = 0; part < n_parts_; ++part) part_start_[part + 1] += part_start_[part];
    std::copy_n(part_start_, n_parts_, part_end_);
    for (std::size_t i = 0; i < n; ++i) spare_[part_end_[part_of_[i]]++] = entries[i];
    std::copy_n(spare_.data(), n, entries);
    return true;
  }

  void search_parts(Entry* entries, Following next) {
    const int n_parts = static_cast<int>(n_parts_);
    parts_.resize(rows_->n_classes, n_parts, totals_.of_class);
    for (int k = 0; k < rows_->n_classes; ++k) {
      const std::uint32_t* counts = part_counts_.data() + static_cast<std::size_t>(k) * n_parts_;
      float* edge = parts_.of_class(k);
      edge[0] = static_cast<float>(left_[k]);
      for (int part = 0; part < n_parts; ++part) edge[part + 1] = edge[part] + static_cast<float>(counts[part]);
    }
    edge_sums(parts_.edges(), parts_.sums());
    Criterion::bounds(parts_, totals_);
    const double slack = Criterion::template slack<float>(totals_);
    open_parts_.clear();
    const auto bound = [&](int part) { return static_cast<double>(parts_.bound[part]) + slack; };
    for (int part = 0; part < n_parts; ++part)
      if (part_start_[part + 1] > part_start_[part] && bound(part) >= bar()) open_parts_.push_back(part);
    if (open_parts_.empty()) return;
    std::swap(open_parts_.front(), *std::max_element(open_parts_.begin(), open_parts_.end(), [this](int a, int b) {
                return parts_.bound[a] < parts_.bound[b];
              }));
    for (const int part : open_parts_) {
      if (bound(part) < bar()) continue;
      for (int k = 0; k < rows_->n_classes; ++k) left_[k] = static_cast<double>(parts_.of_class(k)[part]);
      int after = part + 1;
      while (after < n_parts && part_start_[after + 1] == part_start_[after]) ++after;
      Entry* rows = entries + part_start_[part];
      const std::size_t n = part_start_[part + 1] - part_start_[part];
      Following follows = next;
      if (after < n_parts) follows = {entries + part_start_[after], part_start_[after + 1] - part_start_[after]};
      sort(rows, n);
      scan(rows, n, follows);
    }
  }

  // Weight of class k on the left before the first row of bin b has moved.
  template <class T>
  double before(const BinTable<T>& table, int k, int b) const {
    if (two_ways_) return before_[static_cast<std::size_t>(k) * kMaxBins + static_cast<std::size_t>(b)];
    return static_cast<double>(table.of_class(k)[b]);
  }

  template <class T>
  void count_rows(const BinTable<T>& table, int n_bins) {
    if (totals_.counts && !two_ways_) {
      for (int b = 0; b < n_bins; ++b) rows_in_[b] = static_cast<std::uint32_t>(table.s[b + 1] - table.s[b]);
      return;
    }
    std::fill_n(rows_in_, n_bins, 0u);
    for (std::size_t i = 0; i < n_; ++i) ++rows_in_[bins_[i]];
  }

  // All rows go left: the edges of the bins.
  template <class T>
  void fill(BinTable<T>& table, int n_bins) {
    table.resize(rows_->n_classes, n_bins, totals_.of_class);
    for (int k = 0; k < rows_->n_classes; ++k) {
      if constexpr (std::is_same_v<T, float>) {
        std::uint32_t *even = counts_, *odd = counts_ + kMaxBins;
        std::size_t i = first_row_[k];
        const std::size_t last = first_row_[k + 1];
        for (; i + 1 < last; i += 2) {
          ++even[bins_[i]];
          ++odd[bins_[i + 1]];
        }
        if (i < last) ++even[bins_[i]];
        cumulate(even, odd, n_bins, table.of_class(k));
      } else {
        std::fill_n(come_, n_bins, 0.0);
        for (std::size_t i = first_row_[k]; i < first_row_[k + 1]; ++i) come_[bins_[i]] += weight(i);
        cumulate(come_, n_bins, table.of_class(k));
        table.of_class(k)[n_bins] = totals_.of_class[k];
      }
    }
  }

  // Two edges a bin: the corners of the box of its left weights. The bounds take a bin to begin one row above its lower
  // edge, so that edge is moved one row down in one class (without rows there, one row is on the left at least).
  template <class T>
  void fill_two_ways(BinTable<T>& table, int n_bins) {
    table.resize(rows_->n_classes, 2 * n_bins - 1, totals_.of_class);
    const std::size_t room = static_cast<std::size_t>(rows_->n_classes) * kMaxBins;
    if (before_.size() < room) before_.resize(room);
    std::fill_n(lowered_, n_bins, std::uint8_t{0});
    for (int k = 0; k < rows_->n_classes; ++k) {
      std::fill_n(come_, n_bins, 0.0);
      std::fill_n(go_, n_bins, 0.0);
      for (std::size_t i = first_row_[k]; i < first_row_[k + 1]; ++i)
        (c_[i] < 0.0 ? go_ : come_)[bins_[i]] += weight(i);
      double left = start_left_[k];
      double* before = before_.data() + static_cast<std::size_t>(k) * kMaxBins;
      T* edge = table.of_class(k);
      for (int b = 0; b < n_bins; ++b) {
        before[b] = left;
        double low = left - go_[b];
        if (!lowered_[b] && low >= 1.0) {
          lowered_[b] = 1;
          low -= 1.0;
        }
        edge[2 * b] = static_cast<T>(std::max(low, 0.0));
        edge[2 * b + 1] = static_cast<T>(std::min(left + come_[b], totals_.of_class[k]));
        left += come_[b] - go_[b];
      }
    }
  }

  const NodeRows* rows_ = nullptr;
  bool strict_ = false, direct_ = false, two_ways_ = false;
  double min_leaf_ = 1.0, least_ = 1.0, base_ = 0.0, needed_ = 0.0, needed_value_ = 0.0;
  // What the best cut of the line reaches, unless it is at an edge without a cut; less what ties.
  double floor_ = -std::numeric_limits<double>::infinity();
  Totals node_totals_, totals_;
  // What is searched: the node's rows, or those of them that move.
  const double *v_ = nullptr, *c_ = nullptr, *weights_ = nullptr;
  const std::size_t* first_row_ = nullptr;
  const int* class_of_ = nullptr;
  std::size_t n_ = 0;
  Front front_;
  BinTable<float> counts_table_;
  BinTable<double> weights_table_;
  std::vector<double> left_, start_left_, some_of_class_, keys_, some_v_, some_c_, some_weights_, before_;
  std::vector<std::size_t> offsets_;
  std::vector<int> node_class_of_, some_class_of_, open_;
  std::vector<std::uint8_t> bins_;
  std::vector<std::uint32_t> list_;
  std::vector<Entry> entries_, spare_;
  // A crowded bin in parts.
  BinTable<float> parts_;
  std::size_t n_parts_ = 0;
  std::vector<std::uint32_t> part_counts_;
  std::vector<std::uint8_t> part_of_;
  std::vector<int> open_parts_;
  std::size_t part_start_[kMaxParts + 1] = {}, part_end_[kMaxParts] = {};
  double bound_[kMaxBins] = {}, come_[kMaxBins] = {}, go_[kMaxBins] = {};
  std::uint32_t rows_in_[kMaxBins] = {}, counts_[2 * kMaxBins] = {};
  std::size_t start_[kMaxBins] = {}, end_[kMaxBins] = {};
  int next_[kMaxBins] = {};
  std::uint8_t wanted_[kMaxBins] = {}, lowered_[kMaxBins] = {};
};

}  // namespace oblique
