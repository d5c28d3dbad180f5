// Rows fall into equal-width bins of a key that increases with t; bins that cannot contain the best cut are never
// sorted, as in split/split_search.cpp. Rows that go left and rows that go right may share a bin: the left weights of
// its cuts then lie in the box between "all rows that go right are gone" and "all rows that go left have come", whose
// corners are two edges of the table of bounds. Where no earlier value is known, the cuts at both edges of the most
// promising bin give a lower bound of the best value. A crowded bin is divided and bounded again before any of it is
// sorted.
#include "heuristic/climbing/line_search.hpp"

#include "common/interrupt.hpp"
#include "common/key_sort.hpp"
#include "split/criteria.hpp"
#include "split/front.hpp"

namespace oblique {

// A row and its key, which increases with its step.
struct LineEntry {
  double key;
  uint32_t row;

  bool operator<(const LineEntry& other) const { return key < other.key || (key == other.key && row < other.row); }
};

inline void sort_entries(LineEntry* entries, size_t n) {
  if (n > 24) return std::sort(entries, entries + n);
  insertion_sort(entries, n, [](const LineEntry& a, const LineEntry& b) { return a.key < b.key; });
}

// Rows among which is the one directly after the scanned rows; none if no row follows.
struct Following {
  const LineEntry* entries = nullptr;
  size_t n = 0;

  LineEntry first() const {
    return n ? *std::min_element(entries, entries + n) : LineEntry{std::numeric_limits<double>::infinity(), 0};
  }
};

template <class Criterion>
class LineScan {
 public:
  std::vector<double> left;  // of each class, the weight on the left before the first scanned row

  // strict : no tolerance. afresh : compute every cut's value from scratch instead of updating it.
  void configure(bool strict, bool afresh) {
    strict_ = strict;
    afresh_ = afresh;
  }

  // Begins a line. least : least weight on either side of a cut; needed : value below which a cut is useless.
  void begin(const LineRows& rows, double least, double needed) {
    rows_ = &rows;
    least_ = least;
    needed_value_ = needed;
    left.resize(static_cast<size_t>(rows.n_classes));
    front_.reset(Criterion::base(rows.totals), Criterion::noise(rows.totals), strict_);
  }

  double gap() const { return strict_ ? 0.0 : 1e-9; }
  const Front& front() const { return front_; }

  bool needs_a_value() const { return std::isfinite(needed_value_); }
  double bar() const { return std::max({front_.needed(0), needed_value_, floor_}); }
  // Raises the required value to `value`, or lowers it back.
  void set_floor(double value) { floor_ = value; }
  void drop_floor() { floor_ = kNone; }

  // Value of the cut with `left` on the left, or minus infinity if a side has too little weight.
  double value_here() const {
    double s = 0.0;
    for (const double l : left) s += l;
    return allowed(s) ? Criterion::value(left.data(), s, rows_->totals) : kNone;
  }

  // Moves sorted rows one at a time.
  void scan(const LineEntry* entries, size_t n, Following next) {
    const LineRows& rows = *rows_;
    typename Criterion::Scan state;
    state.start(left.data(), rows.totals);
    update_needed();
    for (size_t i = 0; i < n; ++i) {
      const size_t row = entries[i].row;
      const int k = rows.class_of[row];
      const double w = rows.two_ways && rows.c[row] < 0.0 ? -rows.weight(row) : rows.weight(row);
      state.move(k, w, left.data(), rows.totals);
      left[k] += w;
      if (i + 1 < n && !apart(entries[i], entries[i + 1])) continue;
      if (!allowed(state.s) || (!afresh_ && state.rough(left.data(), rows.totals, needed_) < needed_)) continue;
      const LineEntry after = i + 1 < n ? entries[i + 1] : next.first();
      if (apart(entries[i], after)) consider(state.s, row, after.row);
    }
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  bool apart(const LineEntry& entry, const LineEntry& after) const {
    return after.key - entry.key > gap() && after.key <= 1.5;
  }

  void consider(double s, size_t row, size_t next_row) {
    if (!afresh_) {
      s = 0.0;
      for (double l : left) s += l;
    }
    const double value = Criterion::value(left.data(), s, rows_->totals);
    if (value < needed_value_) return;
    const double t = 0.5 * rows_->step_of(row) + 0.5 * rows_->step_of(next_row);
    if (!std::isfinite(t)) return;
    front_.offer(0, t, value);
    update_needed();
  }

  // Whether both sides of a cut have enough weight; s is the weight on the left.
  bool allowed(double s) const {
    const double n = rows_->totals.n;
    return s >= 0.5 && n - s >= 0.5 && s >= least_ && n - s >= least_;
  }

  void update_needed() { needed_ = bar() - 1e-10 * rows_->totals.n - 1e-13; }

  const LineRows* rows_ = nullptr;
  bool strict_ = false, afresh_ = false;
  double least_ = 1.0, needed_value_ = kNone, needed_ = 0.0, floor_ = kNone;
  Front front_;
};

// A bin of a line that holds many rows: it is divided and bounded again before its rows are sorted.
template <class Criterion>
class CrowdedBin {
 public:
  // Groups the rows of a bin into narrower bins, its parts; false if their keys are too close to each other.
  bool divide(const LineRows& rows, LineEntry* entries, size_t n) {
    double low = entries[0].key, high = low;
    for (size_t i = 1; i < n; ++i) {
      low = std::min(low, entries[i].key);
      high = std::max(high, entries[i].key);
    }
    if (!(high - low > 1e-7)) return false;
    n_parts_ = 8;
    while (n_parts_ < kMaxParts && n_parts_ * kRowsOfPart < n) n_parts_ *= 2;
    const double scale = static_cast<double>(n_parts_) * (1.0 - 1e-12) / (high - low);
    const size_t classes = static_cast<size_t>(rows.n_classes), last = n_parts_ - 1;
    counts_.assign(classes * n_parts_, 0u);
    std::fill_n(start_, n_parts_ + 1, size_t{0});
    if (spare_.size() < n) {
      spare_.resize(n);
      part_of_.resize(n);
    }
    for (size_t i = 0; i < n; ++i) {
      const size_t part = std::min(last, static_cast<size_t>((entries[i].key - low) * scale));
      part_of_[i] = static_cast<uint8_t>(part);
      ++start_[part + 1];
      ++counts_[static_cast<size_t>(rows.class_of[entries[i].row]) * n_parts_ + part];
    }
    for (size_t part = 0; part < n_parts_; ++part) start_[part + 1] += start_[part];
    std::copy_n(start_, n_parts_, end_);
    for (size_t i = 0; i < n; ++i) spare_[end_[part_of_[i]]++] = entries[i];
    std::copy_n(spare_.data(), n, entries);
    return true;
  }

  // Scans the parts that may contain the best cut; scan.left holds the weights before the bin.
  void search(const LineRows& rows, LineEntry* entries, Following next, LineScan<Criterion>& scan) {
    bound(rows, scan.left);
    const double slack = Criterion::template slack<float>(rows.totals);
    const auto bound_of = [&](int part) { return static_cast<double>(table_.bound[part]) + slack; };
    const int n_parts = static_cast<int>(n_parts_);
    open_.clear();
    for (int part = 0; part < n_parts; ++part)
      if (start_[part + 1] > start_[part] && bound_of(part) >= scan.bar()) open_.push_back(part);
    if (open_.empty()) return;
    std::swap(open_.front(), *std::max_element(open_.begin(), open_.end(),
                                               [this](int a, int b) { return table_.bound[a] < table_.bound[b]; }));
    for (const int part : open_) {
      if (bound_of(part) < scan.bar()) continue;
      for (int k = 0; k < rows.n_classes; ++k) scan.left[k] = static_cast<double>(table_.of_class(k)[part]);
      int after = part + 1;
      while (after < n_parts && start_[after + 1] == start_[after]) ++after;
      LineEntry* of_part = entries + start_[part];
      const size_t n = start_[part + 1] - start_[part];
      Following follows = next;
      if (after < n_parts) follows = {entries + start_[after], start_[after + 1] - start_[after]};
      sort_entries(of_part, n);
      scan.scan(of_part, n, follows);
    }
  }

 private:
  static constexpr size_t kRowsOfPart = 8, kMaxParts = 256;

  void bound(const LineRows& rows, const std::vector<double>& left) {
    const int n_parts = static_cast<int>(n_parts_);
    table_.resize(rows.n_classes, n_parts, rows.totals.of_class);
    for (int k = 0; k < rows.n_classes; ++k) {
      const uint32_t* counts = counts_.data() + static_cast<size_t>(k) * n_parts_;
      float* edge = table_.of_class(k);
      edge[0] = static_cast<float>(left[k]);
      for (int part = 0; part < n_parts; ++part) edge[part + 1] = edge[part] + static_cast<float>(counts[part]);
    }
    edge_sums(table_.edges(), table_.sums());
    Criterion::bounds(table_, rows.totals);
  }

  BinTable<float> table_;
  size_t n_parts_ = 0;
  std::vector<uint32_t> counts_;
  std::vector<uint8_t> part_of_;
  std::vector<LineEntry> spare_;
  std::vector<int> open_;
  size_t start_[kMaxParts + 1] = {}, end_[kMaxParts] = {};
};

namespace {

constexpr size_t kSortRows = 32;     // with fewer rows, sorting is faster than binning
constexpr size_t kCrowdedRows = 48;  // a bin with more rows is divided
constexpr double kNone = -std::numeric_limits<double>::infinity();

template <class Criterion>
class LineSearchBy final : public LineSearch {
 public:
  LineSearchBy(bool strict, double min_leaf, bool direct) : LineSearch(strict), min_leaf_(min_leaf), direct_(direct) {
    scan_.configure(strict, direct);
  }

  void begin(const NodeRows& rows, const Totals& totals) override {
    node_totals_ = totals;
    base_ = Criterion::base(totals);
    noise_ = Criterion::noise(totals);
    rows_.begin(rows, totals);
    if (keys_.size() >= rows.n) return;
    keys_.resize(rows.n);
    bins_.resize(rows.n);
    list_.resize(rows.n);
    entries_.resize(rows.n);
  }

  double value(const double* left, double s) const override { return Criterion::value(left, s, node_totals_); }
  double gain(double of_value) const override { return Criterion::gain(of_value, node_totals_); }

  Step search(const double* v, double v_size, const LineDirection& direction, bool exact, double needed) override {
    checkpoint(4 * rows_.n);
    rows_.turn(v, direction, exact);
    if (rows_.n < 2 && !(rows_.two_ways && rows_.n == 1)) return {};
    // Large enough to keep most keys away from the ends, where they would crowd.
    const double scale = 4.0 * v_size / direction.size;
    if (!(scale > 0.0) || !std::isfinite(scale)) return {};
    const Range range = step_keys(rows_.v, rows_.c, scale, keys_.data(), rows_.n);
    if (!(range.high - range.low > scan_.gap())) return {};
    const bool all_count = exact || rows_.one_sign(direction);
    scan_.begin(rows_, all_count ? min_leaf_ : 0.0, all_count ? needed : kNone);
    if (direct_ || rows_.n < kSortRows || rows_.n >= (size_t{1} << 24)) {
      for (size_t i = 0; i < rows_.n; ++i) entries_[i] = {keys_[i], static_cast<uint32_t>(i)};
      direct_ ? std::sort(entries_.begin(), entries_.begin() + rows_.n) : sort_entries(entries_.data(), rows_.n);
      std::copy(rows_.start_left.begin(), rows_.start_left.end(), scan_.left.begin());
      scan_.scan(entries_.data(), rows_.n, Following{});
    } else {
      rows_.totals.counts ? search_bins(counts_table_, range) : search_bins(weights_table_, range);
    }
    const Cut cut = scan_.front().winner();
    return {cut.order >= 0, cut.threshold, cut.value};
  }

 private:
  template <class T>
  void search_bins(BinTable<T>& table, Range range) {
    const size_t n = rows_.n;
    int n_bins = 16;
    // Finer bins exclude more cuts, but each bin has a cost for every class.
    const size_t fineness = rows_.n_classes > 8 ? 4 : 16;
    while (n_bins < kMaxBins && static_cast<size_t>(n_bins) * n_bins < fineness * n) n_bins *= 2;
    bin_rows(keys_.data(), range.low, n_bins * (1.0 - 1e-12) / (range.high - range.low), n_bins, bins_.data(), n);
    rows_.two_ways ? fill_two_ways(table, n_bins) : fill(table, n_bins);
    edge_sums(table.edges(), table.sums());
    count_rows(table, n_bins);
    Criterion::bounds(table, rows_.totals);

    const double slack = Criterion::template slack<T>(rows_.totals), bar = scan_.bar();
    int best = -1;
    for (int b = 0; b < n_bins; ++b) {
      bound_[b] = static_cast<double>(table.bound[rows_.two_ways ? 2 * b : b]) + slack;
      if (rows_in_[b] && bound_[b] >= bar && (best < 0 || bound_[b] > bound_[best])) best = b;
    }
    if (best < 0) return;
    if (!scan_.needs_a_value() && !rows_.two_ways) {
      const double reached = std::max(value_before(table, best), value_before(table, best + 1));
      // Accept all cuts that can tie with this one: those within the least difference of values that counts.
      const double over_base = std::max(reached - Criterion::base(rows_.totals), 0.0);
      const double tie = strict_ ? 0.0 : 1e-9 * over_base + Criterion::noise(rows_.totals);
      scan_.set_floor(reached - 2.0 * tie);
      refine(table, n_bins);
      const bool reaches = scan_.front().winner().order >= 0 && scan_.front().best() >= reached;
      scan_.drop_floor();
      // A cut at an edge of a bin is not allowed if the rows next to the edge are too close to each other.
      if (reaches) return;
    }
    refine(table, n_bins);
  }

  // Value of the cut before bin b, or minus infinity if a side has too little weight.
  template <class T>
  double value_before(const BinTable<T>& table, int b) {
    for (int k = 0; k < rows_.n_classes; ++k) scan_.left[k] = static_cast<double>(table.of_class(k)[b]);
    return scan_.value_here();
  }

  // Sorts and scans the open bins, after dividing the crowded ones; scan_.left holds the weights before a bin.
  template <class T>
  void refine(const BinTable<T>& table, int n_bins) {
    gather(n_bins);
    if (open_.empty()) return;
    // The most promising bin comes first: its best cut closes most of the others.
    std::swap(open_.front(),
              *std::max_element(open_.begin(), open_.end(), [this](int a, int b) { return bound_[a] < bound_[b]; }));
    for (const int b : open_) {
      if (bound_[b] < scan_.bar()) continue;
      for (int k = 0; k < rows_.n_classes; ++k) scan_.left[k] = before(table, k, b);
      Following next;
      if (next_[b] < n_bins) next = {entries_.data() + start_[next_[b]], rows_in_[next_[b]]};
      LineEntry* const entries = entries_.data() + start_[b];
      if (rows_in_[b] > kCrowdedRows && rows_.totals.counts && !rows_.two_ways &&
          crowded_.divide(rows_, entries, rows_in_[b])) {
        crowded_.search(rows_, entries, next, scan_);
        continue;
      }
      sort_entries(entries, rows_in_[b]);
      scan_.scan(entries, rows_in_[b], next);
    }
  }

  // Lists the open bins in open_, and copies their rows and those of the bins after them into entries_.
  void gather(int n_bins) {
    open_.clear();
    std::fill_n(wanted_, n_bins, uint8_t{0});
    const double bar = scan_.bar();
    for (int b = 0; b < n_bins; ++b) {
      if (!rows_in_[b] || bound_[b] < bar) continue;
      open_.push_back(b);
      next_[b] = b + 1;
      while (next_[b] < n_bins && !rows_in_[next_[b]]) ++next_[b];
      wanted_[b] = 1;
      if (next_[b] < n_bins) wanted_[next_[b]] = 1;
    }
    if (open_.empty()) return;
    size_t used = 0;
    for (int b = 0; b < n_bins; ++b) {
      if (!wanted_[b]) continue;
      start_[b] = end_[b] = used;
      used += rows_in_[b];
    }
    size_t n_wanted = 0;
    for (size_t i = 0; i < rows_.n; ++i) {
      list_[n_wanted] = static_cast<uint32_t>(i);
      n_wanted += wanted_[bins_[i]];
    }
    for (size_t at = 0; at < n_wanted; ++at) {
      const uint32_t i = list_[at];
      entries_[end_[bins_[i]]++] = {keys_[i], i};
    }
  }

  // Weight of class k on the left before the first row of bin b moves.
  template <class T>
  double before(const BinTable<T>& table, int k, int b) const {
    if (rows_.two_ways) return before_[static_cast<size_t>(k) * kMaxBins + static_cast<size_t>(b)];
    return static_cast<double>(table.of_class(k)[b]);
  }

  template <class T>
  void count_rows(const BinTable<T>& table, int n_bins) {
    if (rows_.totals.counts && !rows_.two_ways) {
      for (int b = 0; b < n_bins; ++b) rows_in_[b] = static_cast<uint32_t>(table.s[b + 1] - table.s[b]);
      return;
    }
    std::fill_n(rows_in_, n_bins, 0u);
    for (size_t i = 0; i < rows_.n; ++i) ++rows_in_[bins_[i]];
  }

  // If all rows go left: the edges of the bins.
  template <class T>
  void fill(BinTable<T>& table, int n_bins) {
    table.resize(rows_.n_classes, n_bins, rows_.totals.of_class);
    for (int k = 0; k < rows_.n_classes; ++k) {
      const size_t first = rows_.first_row[k], last = rows_.first_row[k + 1];
      if constexpr (std::is_same_v<T, float>) {
        uint32_t *even = counts_, *odd = counts_ + kMaxBins;
        size_t i = first;
        for (; i + 1 < last; i += 2) {
          ++even[bins_[i]];
          ++odd[bins_[i + 1]];
        }
        if (i < last) ++even[bins_[i]];
        cumulate(even, odd, n_bins, table.of_class(k));
      } else {
        std::fill_n(come_, n_bins, 0.0);
        for (size_t i = first; i < last; ++i) come_[bins_[i]] += rows_.weight(i);
        cumulate(come_, n_bins, table.of_class(k));
        table.of_class(k)[n_bins] = rows_.totals.of_class[k];
      }
    }
  }

  // Two edges per bin: the corners of the box of its left weights. The bounds assume that a bin begins one row above
  // its lower edge, so that edge is lowered by one row in one class (without rows there, by one row on the left).
  template <class T>
  void fill_two_ways(BinTable<T>& table, int n_bins) {
    table.resize(rows_.n_classes, 2 * n_bins - 1, rows_.totals.of_class);
    const size_t room = static_cast<size_t>(rows_.n_classes) * kMaxBins;
    if (before_.size() < room) before_.resize(room);
    std::fill_n(lowered_, n_bins, uint8_t{0});
    for (int k = 0; k < rows_.n_classes; ++k) {
      std::fill_n(come_, n_bins, 0.0);
      std::fill_n(go_, n_bins, 0.0);
      for (size_t i = rows_.first_row[k]; i < rows_.first_row[k + 1]; ++i)
        (rows_.c[i] < 0.0 ? go_ : come_)[bins_[i]] += rows_.weight(i);
      double left = rows_.start_left[k];
      double* of_bins = before_.data() + static_cast<size_t>(k) * kMaxBins;
      T* edge = table.of_class(k);
      for (int b = 0; b < n_bins; ++b) {
        of_bins[b] = left;
        double low = left - go_[b];
        if (!lowered_[b] && low >= 1.0) {
          lowered_[b] = 1;
          low -= 1.0;
        }
        edge[2 * b] = static_cast<T>(std::max(low, 0.0));
        edge[2 * b + 1] = static_cast<T>(std::min(left + come_[b], rows_.totals.of_class[k]));
        left += come_[b] - go_[b];
      }
    }
  }

  const double min_leaf_;
  const bool direct_;
  Totals node_totals_;
  LineRows rows_;
  LineScan<Criterion> scan_;
  CrowdedBin<Criterion> crowded_;
  BinTable<float> counts_table_;
  BinTable<double> weights_table_;
  std::vector<double> keys_, before_;
  std::vector<int> open_;
  std::vector<uint8_t> bins_;
  std::vector<uint32_t> list_;
  std::vector<LineEntry> entries_;
  double bound_[kMaxBins] = {}, come_[kMaxBins] = {}, go_[kMaxBins] = {};
  uint32_t rows_in_[kMaxBins] = {}, counts_[2 * kMaxBins] = {};
  size_t start_[kMaxBins] = {}, end_[kMaxBins] = {};
  int next_[kMaxBins] = {};
  uint8_t wanted_[kMaxBins] = {}, lowered_[kMaxBins] = {};
};

}  // namespace

std::unique_ptr<LineSearch> make_line_search(const std::string& criterion, bool strict, double min_leaf, bool direct) {
  return with_criterion(criterion, [&]<class Criterion>() -> std::unique_ptr<LineSearch> {
    return std::make_unique<LineSearchBy<Criterion>>(strict, min_leaf, direct);
  });
}

}  // namespace oblique
