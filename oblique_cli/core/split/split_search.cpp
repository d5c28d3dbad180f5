// Exact threshold search over many directions without sorting every one of them.
//
// For each direction the rows are put into equal-width bins, classes are counted per bin, and an upper bound says how
// good a cut inside a bin can be. Where the bins that can still win hold many rows, they are divided into parts, of
// which the same is asked. Only the rows of what can still win then are sorted. The result is the split that sorting
// everything would find: same score, same tie rule (front.hpp).
//
// Under the tolerant tie rule two projected values are distinct if they differ by more than 1e-9 of the projection's
// scale (spread.hpp); the strict rule takes any difference.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "common/key_sort.hpp"
#include "split/bin_table.hpp"
#include "split/criteria.hpp"
#include "split/node_search.hpp"
#include "split/rare_rows.hpp"
#include "split/screen.hpp"

namespace oblique {

namespace {

template <class Criterion>
class SplitSearch final : public NodeSearch {
 public:
  explicit SplitSearch(const SearchOptions& options)
      : strict_(options.strict_ties), exhaustive_(options.exhaustive), min_leaf_(options.min_leaf) {}

  void begin(const NodeRows& rows) override {
    rows_ = &rows;
    // Only counts in single precision are cleared where they are added up.
    if (!use_float_) std::fill_n(bin_counts_, 2 * kMaxBins, 0u);
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
    if (totals_.counts) {
      of_count_.reach(rows.n, Criterion::needs_logarithms);
      totals_.of_count = &of_count_;
    }
    restart();
    left_.resize(static_cast<std::size_t>(n_classes));
    // Few rows a bin keep the bounds tight, few bins keep them cheap: about the square root of n, a power of two.
    n_bins_ = 16;
    while (n_bins_ < kMaxBins && static_cast<std::size_t>(n_bins_) * n_bins_ < 4 * rows.n) n_bins_ *= 2;
    // Counts beyond 2^24 are not exact in single precision.
    use_float_ = totals_.counts && rows.n < (std::size_t{1} << 24);
    if (use_float_)
      counts_table_.resize(n_classes, n_bins_, of_class_.data());
    else
      weights_table_.resize(n_classes, n_bins_, of_class_.data());
    if (bins_.size() < rows.n) bins_.resize(rows.n);
    screens_ = use_float_ && !strict_ && !exhaustive_ && rows.n >= Screen::kRows;
    if (screens_) screen_.begin(rows, of_class_.data());
    rare_.begin(rows, totals_);
    asks_rare_ = rare_.are_few() && !strict_ && !exhaustive_;
    class_of_row_.clear();
    if (rows.weights || strict_ || exhaustive_) fill_class_of_row();
    counts = SearchCounts{};
  }

  void restart() override {
    front_.reset(Criterion::base(totals_), Criterion::noise(totals_), strict_);
    most_ = Criterion::most(totals_);
  }

  bool is_over(std::int64_t order) const override { return front_.needed(order) > most_; }

  void direction(std::int64_t order, const double* z, double distinct) override {
    if (is_over(order)) {
      ++counts.directions;
      return;
    }
    search(order, z, range_of(z, rows_->n), distinct, false);
  }

  void reflected_direction(std::int64_t order, const double* x, const double* w, double c, double distinct) override {
    if (is_over(order)) {
      ++counts.directions;
      return;
    }
    const bool looks = screens_ && !(asks_rare_ && rare_.are_very_few()) && screen_.is_worth_it();
    if (looks && is_settled(order, x, w, c, distinct)) {
      ++counts.directions;
      checkpoint(rows_->n);
      return;
    }
    if (z_.size() < rows_->n) z_.resize(rows_->n);
    const Range range = project_reflected(x, w, c, z_.data(), rows_->n);
    search(order, z_.data(), range, distinct, true);
  }

  void fixed_cut(std::int64_t order, const double* z, double threshold, double least) override {
    ++counts.directions;
    checkpoint(rows_->n);
    double s = 0.0;
    for (int k = 0; k < rows_->n_classes; ++k) {
      double l = 0.0;
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i)
        if (z[i] <= threshold) l += rows_->weights ? rows_->weights[i] : 1.0;
      left_[k] = l;
      s += l;
    }
    if (s <= 0.0 || s >= totals_.n || std::min(s, totals_.n - s) < least - 1e-12 * totals_.n) return;
    front_.offer(order, threshold, Criterion::value(left_.data(), s, totals_));
  }

  double gain(double value) const override { return Criterion::gain(value, totals_); }

 private:
  // Below so many rows, sorting is quicker than binning. Sums of weights depend on the way they are added up, and the
  // trees of weighted rows with it: their limit stays what it was.
  static constexpr std::size_t kSortRows = 65, kSortWeighted = 24;
  static constexpr int kMaxBins = 256, kPayloadBits = 24;
  static constexpr float kCrowd = 64.0f;   // rows: so many are soon sorted
  static constexpr float kPicked = 96.0f;  // rows: so many are soon picked, and sorted, by their places
  static constexpr int kLooks = 3;
  static constexpr double kQuanta = 549755813888.0;  // 2^39 steps over the range, 500 times finer than `distinct`

  // Whether a few quick looks at a reflected direction tell all: no cut of it can win, or what could was in so few rows
  // that they were searched.
  bool is_settled(std::int64_t order, const double* x, const double* w, double c, double distinct) {
    if (!screen_.count(x, w, c, distinct)) return false;
    BinTable<float>& table = screen_.table();
    const auto look = [&] { open_bins(table, order, [&](int b) { return screen_.is_asked(b); }); };
    assume(true);
    look();
    for (int looks = 1; !open_.empty() && looks < kLooks && screen_.look_closer(open_); ++looks) look();
    const bool settled = open_.empty() || (rows_of_open(table) <= kPicked &&
                                           search_picked(table, order, x, w, c, distinct) && assumed_rightly());
    screen_.tell(!settled);
    return settled;
  }

  // Searches the open bins of the last look, of which only the rows are projected; false if keys do not do.
  bool search_picked(const BinTable<float>& table, std::int64_t order, const double* x, const double* w, double c,
                     double distinct) {
    const Range range = range_of_reflected(x, w, c, rows_->n);
    if (!(range.high - range.low > distinct)) return true;
    if (!keyable(range)) return false;
    ++counts.refined;
    const std::uint8_t *places = screen_.places(), *bin_of = screen_.bin_of();
    std::fill_n(role_, table.n_bins, std::uint8_t{0});
    const std::size_t used = lay_out_open(table);
    std::uint8_t wanted[256];
    for (int place = 0; place < 256; ++place) wanted[place] = role_[bin_of[place]];
    picked_.resize(used);
    picked_up_to_.resize(static_cast<std::size_t>(rows_->n_classes));
    pick_rows(places, rows_->first_row, rows_->n_classes, wanted, picked_.data(), picked_up_to_.data());
    const double fine = kQuanta / (range.high - range.low);
    std::size_t at = 0;
    for (std::size_t k = 0; k < picked_up_to_.size(); ++k)
      for (; at < picked_up_to_[k]; ++at) {
        const std::size_t i = picked_[at];
        keys_[end_[bin_of[places[i]]]++] = key(x[i] - c * w[i], range.low, fine, k);
      }
    scan_open(table, order, range.low, 1.0 / fine, distinct, [&](int b) {
      int last = 255;
      while (bin_of[last] > b) --last;
      return least_above(places, static_cast<std::uint8_t>(last), x, w, c, rows_->n);
    });
    return true;
  }

  // Gives every open bin its stretch of keys_, from start_[b] on and empty up to end_[b]; returns their length. Rows of
  // open bins are a small part of a large node.
  template <class T>
  std::size_t lay_out_open(const BinTable<T>& table) {
    std::size_t used = 0;
    for (const int b : open_) {
      role_[b] |= kOpen;
      start_[b] = end_[b] = used;
      // Weights do not say how many rows a bin holds.
      used += use_float_ ? static_cast<std::size_t>(table.s[b + 1] - table.s[b]) : bin_counts_[b];
    }
    if (keys_.size() < used) keys_.resize(used);
    return used;
  }

  // Scans the open bins, whose keys are in place, the best bound first. next_of(b) : the smallest projection beyond bin
  // b, infinity if there is none
  template <class T, class NextOf>
  void scan_open(const BinTable<T>& table, std::int64_t order, double low, double step, double distinct,
                 NextOf next_of) {
    std::sort(open_.begin(), open_.end(),
              [this](int a, int b) { return bound_[a] > bound_[b] || (bound_[a] == bound_[b] && a < b); });
    update_needed(order);
    for (const int b : open_) {
      if (bound_[b] < front_.needed(order)) break;
      ++counts.bins;
      // What follows the last row matters only if the cut behind it may win.
      const bool asks_next = !totals_.counts || (is_inside(table, b + 1) && edge_value(table, b + 1) >= needed_);
      const double next = asks_next ? next_of(b) : std::numeric_limits<double>::infinity();
      for (int k = 0; k < rows_->n_classes; ++k) left_[k] = static_cast<double>(table.of_class(k)[b]);
      scan_sorted(order, keys_.data() + start_[b], end_[b] - start_[b], low, step, distinct, next);
    }
  }

  // The cut between two bins is nearly always there, so a direction can be searched as if that beside its best bin
  // were: bins that are worse than it are not opened. If it turns out that it was not there, which is so where rows of
  // both bins are too near to each other, the direction is searched again without it.
  void assume(bool allowed) {
    assumes_ = allowed;
    assumed_ = -std::numeric_limits<double>::infinity();
  }

  bool assumed_rightly() const { return !(front_.bar() < assumed_); }

  void search(std::int64_t order, const double* z, Range range, double distinct, bool assumes) {
    ++counts.directions;
    checkpoint(4 * rows_->n);
    if (!(range.high - range.low > (strict_ ? 0.0 : distinct))) return;
    if (asks_rare_ && keyable(range)) {
      update_needed(order);
      if (!rare_.can_win(z, range, distinct, needed_)) return;
    }
    const bool unnumbered = !totals_.counts && rows_->n >= (std::size_t{1} << kPayloadBits);  // too many for a payload
    if (exhaustive_ || strict_ || unnumbered || rows_->n < (totals_.counts ? kSortRows : kSortWeighted) ||
        !keyable(range))
      search_by_sorting(order, z, range, distinct);
    else if (use_float_) {
      assume(assumes);
      search_by_bins(counts_table_, order, z, range, distinct);
      if (!assumed_rightly()) {
        assume(false);
        search_by_bins(counts_table_, order, z, range, distinct);
      }
    } else {
      assume(false);
      search_by_bins(weights_table_, order, z, range, distinct);
    }
  }

  // Whether steps of 1 / kQuanta of the range are normal numbers.
  static bool keyable(Range range) {
    const double width = range.high - range.low;
    return width > 1e-290 && width < 1e290;
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
    update_needed(order);
    if (strict_ || exhaustive_ || !keyable(range) || rows_->n >= (std::size_t{1} << kPayloadBits)) {
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
          consider(scan, order, middle_of_gap(entries_[i].z, entries_[i + 1].z));
      }
      return;
    }
    if (keys_.size() < rows_->n) keys_.resize(rows_->n);
    const double scale = kQuanta / (range.high - range.low);
    std::size_t n = 0;
    for (int k = 0; k < rows_->n_classes; ++k)
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i)
        keys_[n++] = key(z[i], range.low, scale, rows_->weights ? i : static_cast<std::size_t>(k));
    scan_sorted(order, keys_.data(), n, range.low, 1.0 / scale, distinct, std::numeric_limits<double>::infinity());
  }

  static std::uint64_t key(double z, double low, double scale, std::size_t payload) {
    return (static_cast<std::uint64_t>((z - low) * scale) << kPayloadBits) | payload;
  }

  void move(typename Criterion::Scan& scan, int k, double w) {
    scan.move(k, w, left_.data(), totals_);
    left_[k] += w;
  }

  void consider(typename Criterion::Scan& scan, std::int64_t order, double threshold) {
    if (scan.rough(left_.data(), totals_, needed_) < needed_) return;
    if (std::min(scan.s, totals_.n - scan.s) < min_leaf_ - 1e-12 * totals_.n) return;
    // Running sums carry the rounding of every step, so the value that counts is computed afresh.
    double s = 0.0;
    for (double l : left_) s += l;
    front_.offer(order, threshold, Criterion::value(left_.data(), s, totals_));
    update_needed(order);
  }

  void update_needed(std::int64_t order) { needed_ = front_.needed(order) - 1e-10 * totals_.n - 1e-13; }

  // keys[0..n) hold the rows of a bin; left_ holds the class weights left of it. `next` is the smallest projection
  // beyond the bin, infinity if there is none.
  void scan_sorted(std::int64_t order, std::uint64_t* keys, std::size_t n, double low, double step, double distinct,
                   double next) {
    sort_.sort(keys, n);
    typename Criterion::Scan scan;
    scan.start(left_.data(), totals_);
    const std::uint64_t gap = static_cast<std::uint64_t>(distinct / step);
    constexpr std::uint64_t mask = (std::uint64_t{1} << kPayloadBits) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t payload = keys[i] & mask;
      if (rows_->weights)
        move(scan, class_of_row_[payload], rows_->weights[payload]);
      else
        move(scan, static_cast<int>(payload), 1.0);
      const std::uint64_t here = keys[i] >> kPayloadBits;
      if (i + 1 < n) {
        const std::uint64_t there = keys[i + 1] >> kPayloadBits;
        if (there - here > gap)
          consider(scan, order,
                   middle_of_gap(low + static_cast<double>(here) * step, low + static_cast<double>(there) * step));
      } else if (std::isfinite(next)) {
        const double z = low + static_cast<double>(here) * step;
        if (next - z > distinct) consider(scan, order, middle_of_gap(z, next));
      }
    }
  }

  template <class T>
  void search_by_bins(BinTable<T>& first_table, std::int64_t order, const double* z, Range range, double distinct) {
    const double scale = static_cast<double>(n_bins_) * (1.0 - 1e-12) / (range.high - range.low);
    bin_rows(z, range.low, scale, n_bins_, bins_.data(), rows_->n);
    fill(first_table);
    open_bins(first_table, order, [](int) { return true; });
    if (open_.empty()) return;
    BinTable<T>* looked_into = &first_table;
    if constexpr (std::is_same_v<T, float>) {  // counts, whose sums do not depend on the bins
      if (is_crowded(first_table) && !is_tied(z)) {
        divide_open_bins(first_table, z, range.low, scale);
        open_bins(parts_table_, order, [this](int part) { return of_open_[part] != 0; });
        if (open_.empty()) return;
        looked_into = &parts_table_;
      }
    }
    const BinTable<T>& table = *looked_into;
    ++counts.refined;
    const int last_bin = table.last_filled();

    // One pass over the rows gathers the open bins, each in its own stretch of keys_, and the smallest projection of
    // the bin that follows each.
    std::fill_n(role_, table.n_bins, std::uint8_t{0});
    lay_out_open(table);
    for (const int b : open_) {
      next_[b] = b + 1;
      while (next_[b] <= last_bin && !table.filled(next_[b])) ++next_[b];
      if (next_[b] <= last_bin) {
        role_[next_[b]] |= kFollows;
        smallest_[next_[b]] = std::numeric_limits<double>::infinity();
      }
    }
    const double fine = kQuanta / (range.high - range.low);
    for (int k = 0; k < rows_->n_classes; ++k) {
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i) {
        const int bin = bins_[i];
        const std::uint8_t role = role_[bin];
        if (!role) continue;
        if (role & kOpen)
          keys_[end_[bin]++] = key(z[i], range.low, fine, rows_->weights ? i : static_cast<std::size_t>(k));
        if (role & kFollows) smallest_[bin] = std::min(smallest_[bin], z[i]);
      }
    }
    scan_open(table, order, range.low, 1.0 / fine, distinct, [&](int b) {
      return next_[b] <= last_bin ? smallest_[next_[b]] : std::numeric_limits<double>::infinity();
    });
  }

  // Bins that can still win, in open_ and bound_. may_be_open(b): whether bin b is asked at all.
  template <class T, class Asked>
  void open_bins(BinTable<T>& table, std::int64_t order, Asked may_be_open) {
    edge_sums(table.edges(), table.sums());
    Criterion::bounds(table, totals_);
    const double slack = Criterion::template slack<T>(totals_);
    double needed = std::max(front_.needed(order), assumed_);
    open_.clear();
    if (static_cast<double>(largest_of(table.bound.data(), static_cast<std::size_t>(table.n_bins))) + slack < needed)
      return;
    if (assumes_) {
      int best = -1;
      for (int b = 0; b < table.n_bins; ++b)
        if (table.filled(b) && may_be_open(b) && (best < 0 || table.bound[b] > table.bound[best])) best = b;
      for (int e = best; best >= 0 && e <= best + 1; ++e)
        if (is_inside(table, e)) assumed_ = std::max(assumed_, front_.bar_after(edge_value(table, e)));
      needed = std::max(needed, assumed_);
    }
    for (int b = 0; b < table.n_bins; ++b) {
      double bound = static_cast<double>(table.bound[b]) + slack;
      if (bound < needed || !table.filled(b) || !may_be_open(b)) continue;
      // A bin of one row has one cut, at its right edge, whose value is known without any allowance.
      if (totals_.counts && table.s[b + 1] - table.s[b] == 1 && is_inside(table, b + 1))
        bound = std::min(bound, edge_value(table, b + 1));
      bound_[b] = bound;
      if (bound >= needed) open_.push_back(b);
    }
  }

  float rows_of_open(const BinTable<float>& table) const {
    float rows = 0.0f;
    for (const int b : open_) rows += table.s[b + 1] - table.s[b];
    return rows;
  }

  // Rows of the open bins, and whether they are too many to be sorted unseen.
  bool is_crowded(const BinTable<float>& table) {
    rows_in_open_ = rows_of_open(table);
    return rows_in_open_ >= kCrowd && open_.size() <= kMaxBins / 2;
  }

  // Whether rows of one bin seem to have one value, so that dividing the bin would lead to nothing.
  bool is_tied(const double* z) const {
    constexpr std::size_t asked = 32;
    const double* first_of[kMaxBins] = {};
    bool same = false;
    for (std::size_t a = 0; a < asked; ++a) {
      const std::size_t i = a * (rows_->n - 1) / (asked - 1);
      const double*& first = first_of[bins_[i]];
      if (first && *first != z[i]) return false;
      same = same || first;
      first = z + i;
    }
    return same;
  }

  // Divides the open bins into parts, the more the more rows they hold, and joins the bins between them. Projections
  // that lie in a few narrow places, as those of features with two values do, leave most bins empty and the others
  // crowded; their parts have bounds that say something.
  void divide_open_bins(const BinTable<float>& table, const double* z, double low, double scale) {
    const int n_open = static_cast<int>(open_.size());
    const float wanted = std::min(std::max(0.5f * rows_in_open_, 64.0f), static_cast<float>(kMaxBins));
    const float spare = std::max(wanted - static_cast<float>(2 * n_open + 1), 0.0f);
    int next = 0, at = 0;
    const auto close = [&](int last) {  // joins bins [at, last)
      if (at == last) return;
      for (; at < last; ++at) {
        first_part_[at] = next;
        n_parts_[at] = 1.0;
      }
      of_open_[next++] = 0;
    };
    for (const int b : open_) {
      close(b);
      const int parts = 1 + static_cast<int>(spare * (table.s[b + 1] - table.s[b]) / rows_in_open_);
      first_part_[b] = next;
      n_parts_[b] = parts;
      std::fill_n(of_open_ + next, parts, std::uint8_t{1});
      next += parts;
      at = b + 1;
    }
    close(table.n_bins);
    const int padded = (next + 15) / 16 * 16;
    std::fill(of_open_ + next, of_open_ + padded, std::uint8_t{0});
    parts_table_.resize(rows_->n_classes, padded, of_class_.data());
    part_rows(z, low, scale, first_part_, n_parts_, bins_.data(), rows_->n);
    fill(parts_table_);
  }

  // Whether rows lie on both sides of edge e.
  template <class T>
  bool is_inside(const BinTable<T>& table, int e) const {
    return table.s[e] > 0 && static_cast<double>(table.s[e]) < totals_.n;
  }

  // The value of the cut at edge e, which is inside.
  template <class T>
  double edge_value(const BinTable<T>& table, int e) {
    for (int k = 0; k < rows_->n_classes; ++k) left_[k] = static_cast<double>(table.of_class(k)[e]);
    return Criterion::value(left_.data(), static_cast<double>(table.s[e]), totals_);
  }

  void fill(BinTable<float>& table) {
    for (int k = 0; k < rows_->n_classes; ++k) {
      count_rows(k);
      cumulate(bin_counts_, bin_counts_ + kMaxBins, table.n_bins, table.of_class(k));
    }
  }

  void fill(BinTable<double>& table) {
    std::fill_n(bin_counts_, n_bins_, 0u);
    for (std::size_t i = 0; i < rows_->n; ++i) ++bin_counts_[bins_[i]];
    for (int k = 0; k < rows_->n_classes; ++k) {
      std::fill_n(bin_weights_, n_bins_, 0.0);
      for (std::size_t i = rows_->first_row[k]; i < rows_->first_row[k + 1]; ++i)
        bin_weights_[bins_[i]] += rows_->weights ? rows_->weights[i] : 1.0;
      cumulate(bin_weights_, n_bins_, table.of_class(k));
      // The last edge must be the class total to the bit, or the right side would not be empty there.
      table.of_class(k)[n_bins_] = of_class_[k];
    }
  }

  // Adds the rows of class k to bin_counts_, two tables in turn so that a run of equal bins does not wait for its own
  // last store.
  void count_rows(int k) {
    const std::size_t last = rows_->first_row[k + 1];
    std::size_t i = rows_->first_row[k];
    std::uint32_t *even = bin_counts_, *odd = bin_counts_ + kMaxBins;
    for (; i + 8 <= last; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, bins_.data() + i, sizeof eight);
      ++even[eight & 255];
      ++odd[eight >> 8 & 255];
      ++even[eight >> 16 & 255];
      ++odd[eight >> 24 & 255];
      ++even[eight >> 32 & 255];
      ++odd[eight >> 40 & 255];
      ++even[eight >> 48 & 255];
      ++odd[eight >> 56];
    }
    for (; i < last; ++i) ++even[bins_[i]];
  }

  const NodeRows* rows_ = nullptr;
  const bool strict_, exhaustive_;
  const double min_leaf_;
  int n_bins_ = 16;
  Screen screen_;
  bool screens_ = false;
  BinTable<float> counts_table_, parts_table_;
  BinTable<double> weights_table_;
  bool use_float_ = true;
  bool assumes_ = false;
  double assumed_ = 0.0;
  RareRows<Criterion> rare_;
  bool asks_rare_ = false;
  double needed_ = 0.0, most_ = 0.0;
  std::vector<double> of_class_, left_, z_;
  CountTable of_count_;
  std::vector<std::uint8_t> bins_;
  std::vector<std::uint32_t> picked_;      // rows of open bins, class by class
  std::vector<std::size_t> picked_up_to_;  // the end of each class among them
  std::vector<int> open_, class_of_row_;
  std::vector<std::uint64_t> keys_;
  KeySort sort_;
  std::vector<Entry> entries_;
  static constexpr std::uint8_t kOpen = 1, kFollows = 2;
  std::uint8_t role_[kMaxBins] = {};
  std::size_t start_[kMaxBins] = {}, end_[kMaxBins] = {};
  int next_[kMaxBins] = {};
  double smallest_[kMaxBins] = {}, bound_[kMaxBins] = {};
  std::uint32_t bin_counts_[2 * kMaxBins] = {};
  double bin_weights_[kMaxBins] = {};
  float rows_in_open_ = 0.0f;
  int first_part_[kMaxBins] = {};        // of a bin
  double n_parts_[kMaxBins] = {};        // of a bin
  std::uint8_t of_open_[kMaxBins] = {};  // whether a part belongs to an open bin
};

}  // namespace

std::unique_ptr<NodeSearch> make_search(const SearchOptions& options) {
  return with_criterion(options.criterion, [&]<class Criterion>() -> std::unique_ptr<NodeSearch> {
    return std::make_unique<SplitSearch<Criterion>>(options);
  });
}

}  // namespace oblique
