// The search of regression: the cut of a node after which the means of both sides leave the least sum of squares.
#pragma once

#include "common/key_sort.hpp"
#include "split/cut_search.hpp"

namespace oblique {

// The value of a cut is the sum of squares that the means of both sides explain: s^2 (1 / l + 1 / (n - l)) for l rows
// with sum s on the left, if all targets sum to 0. Rows are summed in bins of equal width along a direction. The sum
// left of a cut inside a bin lies between the sum before the bin with all its negative targets and that with all its
// positive ones, and the value is convex in it: only bins with a sufficient bound are divided again, the best first,
// and sorted if they have few rows.
class NumberSearch final : public NodeSearch {
 public:
  // least : least rows on either side
  explicit NumberSearch(size_t least) : least_(least) {}

  // Begins a node with two classes: the targets of the first are not positive, those of the second are. targets : of
  // the rows, with sum 0 up to rounding
  void begin(const NodeRows& rows, const double* targets) {
    target_ = targets;
    begin(rows);
  }

  void begin(const NodeRows& rows) override {
    n_ = rows.n;
    n_low_ = rows.first_row[1];
    counts = SearchCounts{};
    weights_.resize(n_);
    for (size_t i = 1; i < n_; ++i) weights_[i] = 1.0 / static_cast<double>(i) + 1.0 / static_cast<double>(n_ - i);
    double largest = 0.0;
    square_ = 0.0;
    for (size_t i = 0; i < n_; ++i) {
      square_ += target_[i] * target_[i];
      largest = std::max(largest, std::fabs(target_[i]));
    }
    bin_.resize(n_);
    steps_.resize(n_);
    keys_.resize(n_);
    z_.resize(n_);
    row_.resize(n_ + 1);
    n_bins_ = bins_for(n_);
    // A bin has one integer for its rows: their number above kSumBits, and the sum of their rounded targets below.
    unit_ = std::max(largest * static_cast<double>(n_) * 0x1p-39, 0x1p-1000);
    for (size_t i = 0; i < n_; ++i) steps_[i] = kOneRow + static_cast<uint64_t>(std::fabs(target_[i]) / unit_ + 0.5);
    // Errors of a sum of rounded targets and of a sum of targets.
    error_ = static_cast<double>(n_) * unit_;
    restart();
  }

  void restart() override { front_.reset(0.0, 1e-12 * square_, false); }
  bool is_over(int64_t order) const override { return front_.needed(order) > square_ * (1.0 + 1e-9); }
  double gain(double value) const override { return value; }

  void direction(int64_t order, const double* z, double distinct) override {
    search(order, z, range_of(z, n_), distinct);
  }
  void reflected_direction(int64_t order, const double* x, const double* w, double c, double distinct) override {
    const Range range = project_reflected(x, w, c, z_.data(), n_);
    search(order, z_.data(), range, distinct);
  }
  void fixed_cut(int64_t order, const double* z, double threshold, double) override {
    ++counts.directions;
    offer(order, z, threshold);
  }

 private:
  static constexpr int kMaxBins = 256, kMostDivisions = 8;
  static constexpr size_t kSortRows = 32;  // rows that are sorted at once
  static constexpr int kSumBits = 64 - kPayloadBits;
  static constexpr uint64_t kOneRow = uint64_t{1} << kSumBits, kSum = kOneRow - 1;

  // Neighbors along a direction, row_[first] and those after it, whose cuts have values up to `bound`.
  struct Bin {
    size_t first, count, before;  // before : rows on the left of the bin
    int64_t sum;                  // of their targets, in units
    double bound;
    int divisions;                             // that led to it
    double low = 0.0, high = 0.0, next = 0.0;  // its range, and the smallest projection behind it or, if unknown, NaN

    bool operator<(const Bin& other) const { return bound < other.bound; }
  };

  static int bins_for(size_t rows) {
    int bins = 1;
    while (rows > kSortRows && bins < kMaxBins && static_cast<size_t>(4 * bins) < rows) bins *= 2;
    return bins;
  }

  double value(size_t left, double sum) const { return sum * sum * weights_[left]; }

  // Offers a cut by its exact sum, which does not depend on the direction.
  void offer(int64_t order, const double* z, double threshold) {
    size_t left = 0;
    double sum = 0.0;
    for (size_t i = 0; i < n_; ++i) {
      const bool goes_left = z[i] <= threshold;
      left += goes_left;
      sum += goes_left ? target_[i] : 0.0;
    }
    if (left >= least_ && left + least_ <= n_) front_.offer(order, threshold, value(left, sum));
  }

  void search(int64_t order, const double* z, Range range, double distinct) {
    ++counts.directions;
    checkpoint(4 * n_);
    const double width = range.high - range.low;
    if (!(width > distinct && width > 1e-290 && width < 1e290) || 2 * least_ > n_) return;
    best_ = front_.needed(order);
    waiting_.clear();
    sorted_.clear();
    const Bin all{0, n_, 0, 0, std::numeric_limits<double>::infinity(), 0};
    if (n_bins_ > 1) {
      bin_rows(z, range.low, static_cast<double>(n_bins_) * (1.0 - 1e-12) / width, n_bins_, bin_.data(), n_);
      add_up(n_bins_, n_, [](size_t i) { return i; });
      divide(all, n_bins_, [](size_t i) { return i; });
      if (waiting_.empty()) return;
    } else {
      std::iota(row_.begin(), row_.end(), 0u);
      waiting_.push_back(all);
    }
    ++counts.refined;
    while (!waiting_.empty() && !(waiting_.front().bound < best_)) {
      std::pop_heap(waiting_.begin(), waiting_.end());
      const Bin bin = waiting_.back();
      waiting_.pop_back();
      refine(bin, z, distinct);
    }
    for (Bin& bin : sorted_)
      if (!(bin.bound < best_)) scan(bin, order, z, distinct, true);
  }

  // Sums the steps of rows by bin. Two tables in turn, so that a run of equal bins does not wait for its last store.
  template <class RowOf>
  void add_up(int n_bins, size_t n, const RowOf& row_of) {
    for (auto& table : steps_in_) std::fill_n(table, n_bins, uint64_t{0});
    for (size_t i = 0; i < n; ++i) {
      const size_t row = row_of(i);
      steps_in_[(row >= n_low_) * 2 + (i & 1)][bin_[row]] += steps_[row];
    }
  }

  // Adds the parts of a bin whose cuts may have the value best_ to those waiting.
  template <class RowOf>
  void divide(const Bin& bin, int n_parts, const RowOf& row_of) {
    size_t place[kMaxBins], step[kMaxBins];  // a part that is closed shares the spare place behind all rows
    size_t before = bin.before, at = bin.first;
    int64_t sum = bin.sum;
    bool is_any_open = false;
    for (int b = 0; b < n_parts; ++b) {
      const uint64_t low = steps_in_[0][b] + steps_in_[1][b], high = steps_in_[2][b] + steps_in_[3][b];
      const auto negative = static_cast<int64_t>(low & kSum), positive = static_cast<int64_t>(high & kSum);
      const size_t count = (low + high) >> kSumBits;
      const size_t first = std::max(before + 1, least_), last = std::min(before + count, n_ - least_);
      const int64_t size = std::max(std::abs(sum + positive), std::abs(sum - negative));
      const double reach = static_cast<double>(size) * unit_ + error_;
      const double bound =
          count > 0 && first <= last ? reach * reach * std::max(weights_[first], weights_[last]) : -1.0;
      const bool is_open = bound >= best_;
      place[b] = is_open ? at : n_;
      step[b] = is_open;
      if (is_open) {
        waiting_.push_back({at, count, before, sum, bound, bin.divisions + 1});
        std::push_heap(waiting_.begin(), waiting_.end());
        at += count;
        is_any_open = true;
      }
      before += count;
      sum += positive - negative;
    }
    if (!is_any_open) return;
    for (size_t i = 0; i < bin.count; ++i) {
      const size_t row = row_of(i);
      size_t& to = place[bin_[row]];
      row_[to] = static_cast<uint32_t>(row);
      to += step[bin_[row]];
    }
  }

  // Divides a bin of many rows; sorts one of few, or of equal projections, and raises best_ to the value of its cuts.
  void refine(Bin bin, const double* z, double distinct) {
    const uint32_t* rows = row_.data() + bin.first;
    bin.low = bin.high = z[rows[0]];
    for (size_t i = 1; i < bin.count; ++i) {
      bin.low = std::min(bin.low, z[rows[i]]);
      bin.high = std::max(bin.high, z[rows[i]]);
    }
    const double width = bin.high - bin.low;
    const bool is_tied = !(width > distinct);
    if (bin.count > kSortRows && bin.divisions < kMostDivisions && !is_tied && width > 1e-290) {
      const int n_parts = bins_for(bin.count);
      const double scale = static_cast<double>(n_parts) * (1.0 - 1e-12) / width;
      for (size_t i = 0; i < bin.count; ++i)
        bin_[rows[i]] = static_cast<uint8_t>(std::min(static_cast<int>((z[rows[i]] - bin.low) * scale), n_parts - 1));
      spare_.assign(rows, rows + bin.count);
      const auto row_of = [this](size_t i) { return static_cast<size_t>(spare_[i]); };
      add_up(n_parts, bin.count, row_of);
      return divide(bin, n_parts, row_of);
    }
    const double scale = 0x1p39 / std::max(width, 1e-290);
    uint64_t* keys = keys_.data() + bin.first;
    for (size_t i = 0; i < bin.count; ++i)
      keys[i] = (static_cast<uint64_t>((z[rows[i]] - bin.low) * scale) << kPayloadBits) | rows[i];
    if (!is_tied) sort_.sort(keys, bin.count);
    ++counts.bins;
    bin.next = std::numeric_limits<double>::quiet_NaN();
    sorted_.push_back(bin);
    scan(sorted_.back(), 0, z, distinct, false);
  }

  // Visits the cuts of sorted rows whose running value may be the best: offers them, or raises best_.
  void scan(Bin& bin, int64_t order, const double* z, double distinct, bool offers) {
    const uint64_t* keys = keys_.data() + bin.first;
    const auto row = [keys](size_t i) { return keys[i] & ((uint64_t{1} << kPayloadBits) - 1); };
    double sum = static_cast<double>(bin.sum) * unit_;
    for (size_t i = 0; i < bin.count; ++i) {
      sum += target_[row(i)];
      const size_t left = bin.before + i + 1;
      if (left < least_ || left + least_ > n_) continue;
      const double size = std::fabs(sum) + error_;
      if (size * size * weights_[left] < best_) continue;
      const bool is_last = i + 1 == bin.count;
      if (is_last && std::isnan(bin.next)) {
        bin.next = std::numeric_limits<double>::infinity();
        for (size_t k = 0; k < n_; ++k) bin.next = z[k] > bin.high && z[k] < bin.next ? z[k] : bin.next;
      }
      const double here = is_last ? bin.high : z[row(i)], next = is_last ? bin.next : z[row(i + 1)];
      if (!(next - here > distinct)) continue;
      if (offers)
        offer(order, z, middle_of_gap(here, next));
      else if (const double least = std::max(std::fabs(sum) - error_, 0.0); least * least * weights_[left] > best_)
        best_ = least * least * weights_[left] * (1.0 - 1e-9);
    }
  }

  const size_t least_;
  const double* target_ = nullptr;
  size_t n_ = 0, n_low_ = 0;  // rows, and those of the first class
  int n_bins_ = 1;
  double square_ = 0.0, unit_ = 1.0, error_ = 0.0;
  Vector weights_;  // of a squared sum, by the number of rows on the left
  Vector z_;
  std::vector<uint8_t> bin_;
  std::vector<uint64_t> steps_, keys_;
  std::vector<uint32_t> row_, spare_;  // rows by bin
  uint64_t steps_in_[4][kMaxBins] = {};
  double best_ = 0.0;                  // the least value of a cut that may win
  std::vector<Bin> waiting_, sorted_;  // waiting_ : a heap
  KeySort sort_;
};

}  // namespace oblique
