// The search of regression: the cut of a node after which the means of both sides leave the least sum of squares.
#pragma once

#include "common/key_sort.hpp"
#include "split/cut_search.hpp"

namespace oblique {

// The value of a cut is the sum of squares that the means of both sides explain: s^2 (1 / l + 1 / (n - l)) for l rows
// with sum s on the left, if all targets sum to 0. Rows are summed in bins of equal width along a direction. The sum
// left of a cut inside a bin lies between the sum before the bin with all its negative targets and that with all its
// positive ones, and the value is convex in it: only the rows of bins with a sufficient bound are sorted.
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
    n_bins_ = 1;
    while (n_ > kSortRows && n_bins_ < kMaxBins && static_cast<size_t>(2 * n_bins_) < n_) n_bins_ *= 2;
    // A bin has one integer for its rows: their number above kSumBits, and the sum of their rounded targets below.
    unit_ = std::max(largest * static_cast<double>(n_) * 0x1p-39, 0x1p-1000);
    for (size_t i = 0; i < n_; ++i) steps_[i] = kOneRow + static_cast<uint64_t>(std::fabs(target_[i]) / unit_ + 0.5);
    // Errors of a sum of rounded targets and of a sum of targets.
    error_ = static_cast<double>(n_) * (n_bins_ > 1 ? unit_ : 1e-15 * largest);
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
  static constexpr int kMaxBins = 256;
  static constexpr size_t kSortRows = 16;  // rows that are sorted at once
  static constexpr int kSumBits = 64 - kPayloadBits;
  static constexpr uint64_t kOneRow = uint64_t{1} << kSumBits, kSum = kOneRow - 1;

  struct Bin {
    uint32_t before, count;  // rows before the bin and in it
    double sum;              // of the targets before the bin
    bool is_open;
  };

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
    const double needed = front_.needed(order);
    size_t open = n_;
    if (n_bins_ > 1) {
      const double scale = static_cast<double>(n_bins_) * (1.0 - 1e-12) / width;
      bin_rows(z, range.low, scale, n_bins_, bin_.data(), n_);
      open = open_bins(needed);
      if (open == 0) return;
    } else {
      bins_[0] = {0, static_cast<uint32_t>(n_), 0.0, true};
    }
    ++counts.refined;
    sort_open(z, range.low, 0x1p39 / width, open);
    offer_open(order, z, distinct, needed);
  }

  // Fills bins_ and returns the number of rows in open bins, those whose cuts may have the value `needed`.
  size_t open_bins(double needed) {
    uint64_t low[kMaxBins] = {}, high[kMaxBins] = {};
    for (size_t i = 0; i < n_low_; ++i) low[bin_[i]] += steps_[i];
    for (size_t i = n_low_; i < n_; ++i) high[bin_[i]] += steps_[i];
    size_t before = 0, open = 0;
    int64_t sum = 0;
    for (int b = 0; b < n_bins_; ++b) {
      const auto negative = static_cast<int64_t>(low[b] & kSum), positive = static_cast<int64_t>(high[b] & kSum);
      const size_t count = (low[b] + high[b]) >> kSumBits;
      const size_t first = std::max(before + 1, least_), last = std::min(before + count, n_ - least_);
      const int64_t size = std::max(std::abs(sum + positive), std::abs(sum - negative));
      const double reach = static_cast<double>(size) * unit_ + error_;
      const bool is_open =
          count > 0 && first <= last && reach * reach * std::max(weights_[first], weights_[last]) >= needed;
      bins_[b] = {static_cast<uint32_t>(before), static_cast<uint32_t>(count), static_cast<double>(sum) * unit_,
                  is_open};
      open += is_open ? count : 0;
      before += count;
      sum += positive - negative;
    }
    return open;
  }

  // keys_ = the `open` rows of open bins by rising projection.
  void sort_open(const double* z, double low, double scale, size_t open) {
    const auto key = [&](size_t i) {
      return (static_cast<uint64_t>((z[i] - low) * scale) << kPayloadBits) | static_cast<uint64_t>(i);
    };
    if (open == n_) {
      for (size_t i = 0; i < n_; ++i) keys_[i] = key(i);
    } else {
      size_t at = 0;
      for (size_t i = 0; at < open; ++i)
        if (bins_[bin_[i]].is_open) keys_[at++] = key(i);
    }
    sort_.sort(keys_.data(), open);
    counts.bins += 1;
  }

  // Offers the cuts of the sorted rows whose running value may be the best.
  void offer_open(int64_t order, const double* z, double distinct, double needed) {
    double best = needed;
    for (const bool offers : {false, true}) {
      size_t at = 0;
      for (int b = 0; b < n_bins_; ++b) {
        if (!bins_[b].is_open) continue;
        double sum = bins_[b].sum;
        size_t left = bins_[b].before;
        for (const size_t end = at + bins_[b].count; at < end; ++at) {
          const size_t i = keys_[at] & ((uint64_t{1} << kPayloadBits) - 1);
          sum += target_[i];
          ++left;
          if (left < least_ || left + least_ > n_) continue;
          const double size = std::fabs(sum) + error_;
          if (size * size * weights_[left] < best) continue;
          double next = std::numeric_limits<double>::infinity();
          if (at + 1 < end)
            next = z[keys_[at + 1] & ((uint64_t{1} << kPayloadBits) - 1)];
          else
            for (size_t k = 0; k < n_; ++k)
              if (bin_[k] > b) next = std::min(next, z[k]);
          if (!(next - z[i] > distinct)) continue;
          if (offers)
            offer(order, z, middle_of_gap(z[i], next));
          else if (const double least = std::max(std::fabs(sum) - error_, 0.0); least * least * weights_[left] > best)
            best = least * least * weights_[left] * (1.0 - 1e-9);
        }
      }
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
  Bin bins_[kMaxBins] = {};
  KeySort sort_;
};

}  // namespace oblique
