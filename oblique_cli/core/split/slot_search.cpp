#include "split/slot_search.hpp"

#include "common/interrupt.hpp"
#include "split/criteria.hpp"

namespace oblique {

namespace {

// The rule by which KeyScan (split/sort_tactic.hpp) finds gaps between neighboring projections and their thresholds. It
// stores projections of a bin as multiples of 2^-39 of the range, and compares neighbors in two bins by value.
class Gaps {
 public:
  Gaps(double low, double high, double distinct, bool strict, size_t rows) : low_(low) {
    const double width = high - low;
    distinct_ = strict ? 0.0 : distinct;
    keyed_ = !strict && width > 1e-290 && width < 1e290;
    scale_ = kQuanta / width;
    step_ = 1.0 / scale_;
    while (n_bins_ < 256 && static_cast<size_t>(n_bins_) * static_cast<size_t>(n_bins_) < 4 * rows) n_bins_ *= 2;
    if (rows < 24) n_bins_ = 1;
    bin_scale_ = static_cast<double>(n_bins_) * (1.0 - 1e-12) / width;
    gap_ = keyed_ ? static_cast<uint64_t>(distinct_ / step_) : 0;
  }

  // Whether a cut lies between a < b, and its threshold.
  bool between(double a, double b, double& threshold) const {
    if (!keyed_) {
      if (!(b - a > distinct_)) return false;
      threshold = middle_of_gap(a, b);
      return true;
    }
    const uint64_t here = key(a);
    const double from = low_ + static_cast<double>(here) * step_;
    if (bin(a) == bin(b)) {
      const uint64_t there = key(b);
      if (!(there - here > gap_)) return false;
      threshold = middle_of_gap(from, low_ + static_cast<double>(there) * step_);
      return true;
    }
    if (!(b - from > distinct_)) return false;
    threshold = middle_of_gap(from, b);
    return true;
  }

 private:
  static constexpr double kQuanta = 549755813888.0;

  uint64_t key(double z) const { return static_cast<uint64_t>((z - low_) * scale_); }
  int bin(double z) const { return std::min(static_cast<int>((z - low_) * bin_scale_), n_bins_ - 1); }

  double low_, distinct_, scale_, step_, bin_scale_;
  int n_bins_ = 16;
  bool keyed_;
  uint64_t gap_;
};

template <class Criterion>
class SlotSearchOf final : public SlotSearch {
 public:
  SlotSearchOf(const SearchOptions& options, const Vector& of_class)
      : strict_(options.strict_ties), min_leaf_(options.min_leaf), of_class_(of_class) {
    totals_.n_classes = static_cast<int>(of_class_.size());
    totals_.of_class = of_class_.data();
    totals_.counts = false;
    totals_.runtime_criterion = given_criterion(options.criterion);
    for (const double w : of_class_) totals_.n += w;
    front_.reset(Criterion::base(totals_), Criterion::noise(totals_), strict_);
    slack_ = Criterion::template slack<double>(totals_);
    left_.resize(of_class_.size());
  }

  void begin(Histograms histograms) override {
    given_ = std::move(histograms);
    class_of_code_.assign(given_.n_codes, 0);
    for (size_t c = 0; c < given_.present.size(); ++c) class_of_code_[given_.present[c]] = static_cast<int32_t>(c);
    Front edges = front_;
    open_.clear();
    for (size_t d = 0; d < given_.order.size(); ++d) {
      ++counts.directions;
      if (!fill(d)) continue;
      for (int b = 0; b < last_; ++b) {
        if (!table_.filled(b) || bound_of(b) < edges.needed(-1)) continue;
        // This assumes that every edge is a cut, so no bin with a bound below its value can win. `wanted` opens the
        // other bins if the assumption was wrong.
        double s = 0.0;
        for (size_t c = 0; c < of_class_.size(); ++c) s += left_[c] = table_.of_class(static_cast<int>(c))[b + 1];
        if (std::min(s, totals_.n - s) < min_leaf_ - 1e-12 * totals_.n || !(s > 0.0) || !(s < totals_.n)) continue;
        edges.offer(given_.order[d], static_cast<double>(b), Criterion::value(left_.data(), s, totals_));
      }
      open_bins(d, edges.needed(-1), kInfinity);
    }
    assumed_ = edges.needed(-1);
  }

  const std::vector<Look>& wanted(const Room& room) override {
    asked_.clear();
    looks_.clear();
    double rows = close();
    if (open_.empty() && assumed_ > front_.needed(-1)) {
      // The best edges are not cuts: no distinct rows lie beyond them.
      for (size_t d = 0; d < given_.order.size(); ++d)
        if (fill(d)) open_bins(d, front_.needed(-1), assumed_);
      assumed_ = -kInfinity;
      rows = close();
    }
    std::sort(open_.begin(), open_.end(),
              [](const Cell& a, const Cell& b) { return a.bound != b.bound ? a.bound > b.bound : earlier(a, b); });
    // Cells need memory as well, and there are many if bounds close few of their parts.
    const double of_cell = static_cast<double>(sizeof(Cell) + of_class_.size() * sizeof(double));
    const double most = std::max(room.bytes - of_cell * static_cast<double>(open_.size()), 0.25 * room.bytes);
    divide(rows <= room.few_rows, room, most);
    double bytes = 0.0;
    size_t n = 0;
    for (; n < open_.size(); ++n) {
      bytes += bytes_of(open_[n], room);
      if (n > 0 && bytes > most) break;
    }
    const auto end = open_.begin() + n;
    asked_.assign(std::make_move_iterator(open_.begin()), std::make_move_iterator(end));
    open_.erase(open_.begin(), end);
    std::sort(asked_.begin(), asked_.end(), earlier);
    for (const Cell& cell : asked_) looks_.push_back(look_at(cell));
    counts.bins += n;
    return looks_;
  }

  void take(const Found& hits) override {
    const size_t n = asked_.size();
    std::vector<size_t> by_bound(n), first_row(n + 1, 0), first_part(n + 1, 0);
    for (size_t i = 0; i < hits.n; ++i) ++first_row[static_cast<size_t>(hits.entry[i]) + 1];
    for (size_t e = 0; e < n; ++e) {
      by_bound[e] = e;
      first_row[e + 1] += first_row[e];
      first_part[e + 1] = first_part[e] + static_cast<size_t>(asked_[e].parts);
    }
    std::stable_sort(by_bound.begin(), by_bound.end(),
                     [&](size_t a, size_t b) { return asked_[a].bound > asked_[b].bound; });
    for (const size_t e : by_bound) {
      Cell& cell = asked_[e];
      if (cell.bound < front_.needed(given_.order[cell.direction])) continue;
      if (cell.after >= 0) cell.next = hits.smallest[e];
      if (cell.left.empty()) {
        cell.left.assign(of_class_.size(), 0.0);
        for (size_t c = 0; c < of_class_.size(); ++c)
          for (int32_t b = 0; b < cell.bin; ++b) cell.left[c] += count(cell.direction, c, b);
      }
      const Gaps gaps(given_.least[cell.direction], given_.largest[cell.direction], given_.distinct[cell.direction],
                      strict_, given_.rows);
      if (cell.parts == 0)
        scan_rows(cell, gaps, hits, first_row[e], first_row[e + 1]);
      else
        scan_parts(cell, gaps, hits, first_part[e]);
    }
    asked_.clear();
  }

  void offer_cut(int64_t order, double threshold, const double* left, double least) override {
    double s = 0.0;
    for (size_t c = 0; c < of_class_.size(); ++c) s += left[c];
    if (s <= 0.0 || s >= totals_.n || std::min(s, totals_.n - s) < least - 1e-12 * totals_.n) return;
    front_.offer(order, threshold, Criterion::value(left, s, totals_));
  }

  double gain(double value) const override { return Criterion::gain(value, totals_); }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kSoonSorted = 32.0;            // rows of a cell: dividing it would take longer than sorting
  static constexpr double kRowsOfPart = 64.0;            // target number of rows of a part
  static constexpr double kOfLook = 2.0 * sizeof(Look);  // bytes of a request and its copy
  static constexpr int32_t kMostParts = 256, kFewestParts = 8;

  // A bin that may contain the best cut, or have it at its right edge; or a part of a bin, from its smallest to its
  // largest row. next : the smallest projection beyond, unless it is in bin `after`; left : class weights left of it,
  // empty for a whole bin
  struct Cell {
    size_t direction;
    int32_t bin, after, parts;
    double from, to, rows, bound, next;
    Vector left;
  };

  static bool earlier(const Cell& a, const Cell& b) {
    return a.direction != b.direction ? a.direction < b.direction : a.bin != b.bin ? a.bin < b.bin : a.from < b.from;
  }

  // Decides into how many parts the rows of each open cell are counted: into fewer if memory is short, since another
  // pass over all rows takes longer than another level of parts.
  void divide(bool few, const Room& room, double most_bytes) {
    for (int32_t most = kMostParts; most >= kFewestParts; most /= 2) {
      double bytes = 0.0;
      for (Cell& cell : open_) {
        cell.parts = few || cell.rows <= kSoonSorted ? 0 : kFewestParts;
        while (cell.parts > 0 && cell.parts < most && cell.parts * kRowsOfPart < cell.rows) cell.parts *= 2;
        bytes += bytes_of(cell, room);
      }
      if (bytes <= most_bytes) return;
    }
  }

  static double bytes_of(const Cell& cell, const Room& room) {
    return kOfLook + (cell.parts == 0 ? cell.rows * room.of_row : cell.parts * room.of_part);
  }

  double count(size_t d, size_t c, int32_t b) const {
    const size_t code = given_.present[c];
    const size_t at = (d * given_.n_codes + code) * given_.n_bins + static_cast<size_t>(b);
    return given_.counts ? static_cast<double>(given_.counts[at]) : given_.weighted[at];
  }

  // Computes table_, bounds and last filled bin for a direction; false if it has no cut.
  bool fill(size_t d) {
    if (!(given_.largest[d] - given_.least[d] > (strict_ ? 0.0 : given_.distinct[d]))) return false;
    const int32_t width = static_cast<int32_t>(given_.n_bins);
    table_.resize(totals_.n_classes, width, of_class_.data());
    for (size_t c = 0; c < of_class_.size(); ++c) {
      double* cum = table_.of_class(static_cast<int>(c));
      cum[0] = 0.0;
      for (int32_t b = 0; b < width; ++b) cum[b + 1] = cum[b] + count(d, c, b);
      cum[width] = of_class_[c];
    }
    bound_table();
    checkpoint(of_class_.size() * given_.n_bins * 8);
    return true;
  }

  void bound_table() {
    edge_sums(table_.edges(), table_.sums());
    Criterion::bounds(table_, totals_);
    last_ = table_.last_filled();
  }

  // The next part with rows after b, or -1.
  int after(int b) const {
    for (int next = b + 1; next <= last_; ++next)
      if (table_.filled(next)) return next;
    return -1;
  }

  // Below infinity, so that the comparison also holds for a bin without a bound.
  double bound_of(int b) const { return std::min(table_.bound[b] + slack_, std::numeric_limits<double>::max()); }

  // Stores the bins of the direction in table_ with a bound in [least, below).
  void open_bins(size_t d, double least, double below) {
    for (int b = 0; b <= last_; ++b) {
      const double bound = bound_of(b);
      if (!(bound >= least && bound < below) || !table_.filled(b)) continue;
      open_.push_back({d, b, after(b), 0, -kInfinity, kInfinity, table_.s[b + 1] - table_.s[b], bound, kInfinity, {}});
    }
  }

  // Removes the cells that cannot win, and returns the number of rows in the others. Assumed cuts close whole bins
  // only, which are opened again if an assumption is wrong; parts are not.
  double close() {
    std::erase_if(open_, [&](const Cell& cell) {
      return cell.bound < front_.needed(given_.order[cell.direction]) || (is_whole(cell) && cell.bound < assumed_);
    });
    double rows = 0.0;
    for (const Cell& cell : open_) rows += cell.rows;
    return rows;
  }

  static bool is_whole(const Cell& cell) { return !std::isfinite(cell.from); }

  Look look_at(const Cell& cell) const {
    const size_t d = cell.direction;
    double low = cell.from, high = cell.to;
    if (is_whole(cell)) {  // approximate range of a whole bin: its first and last part take the rest
      const double step = given_.scale[d] > 0.0 ? 1.0 / given_.scale[d] : 0.0;
      const bool first = cell.bin == 0, last = cell.bin + 1 == static_cast<int32_t>(given_.n_bins) || step == 0.0;
      low = first ? given_.least[d] : std::max(given_.least[d], given_.low[d] + cell.bin * step);
      high = last ? given_.largest[d] : std::min(given_.largest[d], given_.low[d] + (cell.bin + 1) * step);
    }
    return {static_cast<int64_t>(d),   cell.bin,  cell.after, cell.from, cell.to, low,
            cell.parts / (high - low), cell.parts};
  }

  // All rows of a cell, in any order.
  void scan_rows(const Cell& cell, const Gaps& gaps, const Found& hits, size_t first, size_t end) {
    rows_.clear();
    for (size_t i = first; i < end; ++i) rows_.push_back({hits.z[i], i});
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.z < b.z; });
    left_ = cell.left;
    double threshold = 0.0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const size_t row = rows_[i].row;
      left_[class_of_code_[hits.code[row]]] += hits.weight[row];
      const bool is_last = i + 1 == rows_.size();
      if (!is_last && rows_[i + 1].z == rows_[i].z) continue;
      const double following = is_last ? cell.next : rows_[i + 1].z;
      if (!std::isfinite(following) || !gaps.between(rows_[i].z, following, threshold)) continue;
      offer_cut(given_.order[cell.direction], threshold, left_.data(), min_leaf_);
    }
    checkpoint(rows_.size() * 4);
  }

  // The parts of a cell: cuts between them have known values, cuts inside have bounds. A part of one value has none.
  void scan_parts(const Cell& cell, const Gaps& gaps, const Found& hits, size_t first) {
    const size_t width = static_cast<size_t>(cell.parts), classes = of_class_.size();
    table_.resize(totals_.n_classes, cell.parts, of_class_.data());
    for (size_t c = 0; c < classes; ++c) {
      double* cum = table_.of_class(static_cast<int>(c));
      cum[0] = cell.left[c];
      const size_t at = first * given_.n_codes + static_cast<size_t>(given_.present[c]) * width;
      for (size_t q = 0; q < width; ++q)
        cum[q + 1] = cum[q] + (hits.counts ? static_cast<double>(hits.counts[at + q]) : hits.weighted[at + q]);
    }
    bound_table();
    checkpoint(classes * width * 8);
    const int64_t order = given_.order[cell.direction];
    double threshold = 0.0;
    const auto can_win = [&](int q) { return table_.filled(q) && bound_of(q) >= front_.needed(order); };
    const auto next_of = [&](int q) {
      const int next = after(q);
      return next < 0 ? cell.next : hits.low[first + static_cast<size_t>(next)];
    };
    for (int q = 0; q <= last_; ++q) {
      if (!can_win(q)) continue;
      const double next = next_of(q);
      if (!std::isfinite(next) || !gaps.between(hits.high[first + static_cast<size_t>(q)], next, threshold)) continue;
      for (size_t c = 0; c < classes; ++c) left_[c] = table_.of_class(static_cast<int>(c))[q + 1];
      offer_cut(order, threshold, left_.data(), min_leaf_);
    }
    for (int q = 0; q <= last_; ++q) {
      const double low = hits.low[first + static_cast<size_t>(q)], high = hits.high[first + static_cast<size_t>(q)];
      if (!can_win(q) || !(low < high)) continue;
      Cell part{cell.direction, cell.bin, -1, 0, low, high, table_.s[q + 1] - table_.s[q], bound_of(q), next_of(q), {}};
      for (size_t c = 0; c < classes; ++c) part.left.push_back(table_.of_class(static_cast<int>(c))[q]);
      open_.push_back(std::move(part));
    }
  }

  const bool strict_;
  const double min_leaf_;
  const Vector of_class_;
  Totals totals_;
  double slack_ = 0.0;
  Histograms given_{};
  std::vector<int32_t> class_of_code_;
  BinTable<double> table_;
  int last_ = 0;
  std::vector<Cell> open_, asked_;
  std::vector<Look> looks_;
  double assumed_ = 0.0;
  Vector left_;
  struct Row {
    double z;
    size_t row;
  };
  std::vector<Row> rows_;
};

}  // namespace

std::unique_ptr<SlotSearch> make_slot_search(const SearchOptions& options, const Vector& of_class) {
  return with_criterion(options.criterion, [&]<class Criterion>() -> std::unique_ptr<SlotSearch> {
    return std::make_unique<SlotSearchOf<Criterion>>(options, of_class);
  });
}

}  // namespace oblique
