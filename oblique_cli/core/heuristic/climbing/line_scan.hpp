// Scan of the rows of a line in the order of their steps, for the best cut between them.
#pragma once

#include "heuristic/climbing/line_search.hpp"
#include "split/front.hpp"

namespace oblique {

// A row and its key, which increases with its step.
struct LineEntry {
  double key;
  uint32_t row;

  bool operator<(const LineEntry& other) const { return key < other.key || (key == other.key && row < other.row); }
};

inline void sort_entries(LineEntry* entries, size_t n) {
  if (n > 24) {
    std::sort(entries, entries + n);
    return;
  }
  for (size_t i = 1; i < n; ++i) {
    const LineEntry entry = entries[i];
    size_t j = i;
    for (; j > 0 && entries[j - 1].key > entry.key; --j) entries[j] = entries[j - 1];
    entries[j] = entry;
  }
}

// Rows of which the first comes directly after the scanned rows, if there are any.
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

}  // namespace oblique
