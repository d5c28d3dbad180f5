// Sorts the rows of the open bins, or all rows if no bins were counted.
#pragma once

#include "common/key_sort.hpp"
#include "split/open_bins.hpp"

namespace oblique {

// The cuts between rows that are sorted by integer steps along a direction.
template <class Criterion>
class KeyScan {
 public:
  explicit KeyScan(CutSearch<Criterion>& search) : search_(search) {}

  void begin(const Direction& d) {
    order_ = d.order;
    distinct_ = d.distinct;
    low_ = d.range.low;
    scale_ = kQuanta / (d.range.high - d.range.low);
    if (!search_.rows->weights || class_of_row_.size() == search_.rows->n) return;
    class_of_row_.clear();
    for (int k = 0; k < search_.rows->n_classes; ++k)
      class_of_row_.insert(class_of_row_.end(), search_.rows->first_row[k + 1] - search_.rows->first_row[k], k);
  }
  // Clears the classes of the previous node's rows.
  void forget() { class_of_row_.clear(); }

  void scan_all(const double* z) {
    if (keys_.size() < search_.rows->n) keys_.resize(search_.rows->n);
    size_t n = 0;
    for (int k = 0; k < search_.rows->n_classes; ++k)
      for (size_t i = search_.rows->first_row[k]; i < search_.rows->first_row[k + 1]; ++i) keys_[n++] = key(z[i], i, k);
    std::fill(search_.left.begin(), search_.left.end(), 0.0);
    scan(keys_.data(), n, std::numeric_limits<double>::infinity());
  }

  // Allocates every open bin; returns the number of their rows, which are a small part of a large node.
  size_t lay_out(const OpenBins<Criterion>& bins) {
    size_t used = 0;
    for (const int b : bins.open) {
      start_[b] = end_[b] = used;
      used += bins.size(b);
    }
    if (keys_.size() < used) keys_.resize(used);
    return used;
  }
  // Adds row i of class k to an open bin.
  void add(int b, double z, size_t i, int k) { keys_[end_[b]++] = key(z, i, k); }
  // Scans the open bins, the best bound first. next_of(b) : the smallest projection beyond bin b, or infinity
  template <class NextOf>
  void scan_open(OpenBins<Criterion>& bins, const NextOf& next_of) {
    const double* bound = bins.bound;
    std::sort(bins.open.begin(), bins.open.end(),
              [bound](int a, int b) { return bound[a] > bound[b] || (bound[a] == bound[b] && a < b); });
    bins.with_table([&](const auto& table) {
      for (const int b : bins.open) {
        if (bound[b] < search_.needed(order_)) break;
        ++search_.counts.bins;
        // The projection after the last row matters only if the cut behind this row may win.
        const bool asks_next =
            !search_.totals().counts ||
            (bins.is_inside(table, b + 1) && bins.edge_value(table, b + 1) >= search_.roughly_needed(order_));
        const double next = asks_next ? next_of(b) : std::numeric_limits<double>::infinity();
        bins.stand_at(table, b);
        scan(keys_.data() + start_[b], end_[b] - start_[b], next);
      }
    });
  }

 private:
  static constexpr double kQuanta = 549755813888.0;  // 2^39 steps over the range, 500 times finer than `distinct`

  uint64_t key(double z, size_t i, int k) const {
    const size_t payload = search_.rows->weights ? i : static_cast<size_t>(k);
    return (static_cast<uint64_t>((z - low_) * scale_) << kPayloadBits) | payload;
  }

  // Scans keys[0..n); `left` holds the weights left of them. next : the smallest projection beyond, or infinity
  void scan(uint64_t* keys, size_t n, double next) {
    sort_.sort(keys, n);
    typename CutSearch<Criterion>::Sweep sweep(search_, order_);
    const double* weights = search_.rows->weights;
    const double low = low_, step = 1.0 / scale_;
    const uint64_t gap = static_cast<uint64_t>(distinct_ / step);
    constexpr uint64_t mask = (uint64_t{1} << kPayloadBits) - 1;
    for (size_t i = 0; i < n; ++i) {
      const size_t payload = keys[i] & mask;
      if (weights)
        sweep.move(class_of_row_[payload], weights[payload]);
      else
        sweep.move(static_cast<int>(payload), 1.0);
      const uint64_t here = keys[i] >> kPayloadBits;
      if (i + 1 < n) {
        const uint64_t there = keys[i + 1] >> kPayloadBits;
        if (there - here > gap)
          sweep.consider(
              middle_of_gap(low + static_cast<double>(here) * step, low + static_cast<double>(there) * step));
      } else if (std::isfinite(next)) {
        const double z = low + static_cast<double>(here) * step;
        if (next - z > distinct_) sweep.consider(middle_of_gap(z, next));
      }
    }
  }

  CutSearch<Criterion>& search_;
  int64_t order_ = 0;
  double distinct_ = 0.0, low_ = 0.0, scale_ = 0.0;
  std::vector<int> class_of_row_;  // if rows have weights
  std::vector<uint64_t> keys_;
  KeySort sort_;
  size_t start_[kMaxBins] = {}, end_[kMaxBins] = {};
};

template <class Criterion>
class SortTactic final : public Tactic {
 public:
  SortTactic(CutSearch<Criterion>& search, OpenBins<Criterion>& bins) : search_(search), bins_(bins), scan_(search) {}

  void begin() override {
    scan_.forget();
    fits_ = !search_.strict && (search_.totals().counts || search_.rows->n < (size_t{1} << kPayloadBits));
  }

  bool settles(Direction& d) override {
    if (!fits_ || !is_keyable(d.range)) return false;
    ++search_.counts.refined;
    scan_.begin(d);
    if (!bins_.with_table([&](const auto& table) { sort_open(table, d.z); })) scan_.scan_all(d.z);
    return true;
  }

 private:
  static constexpr uint8_t kOpen = 1, kFollows = 2;

  // One pass over the rows gathers the open bins, and the smallest projection of the bin after each.
  template <class Table>
  void sort_open(const Table& table, const double* z) {
    const int last_bin = table.last_filled();
    std::fill_n(role_, table.n_bins, uint8_t{0});
    scan_.lay_out(bins_);
    for (const int b : bins_.open) {
      role_[b] |= kOpen;
      next_[b] = b + 1;
      while (next_[b] <= last_bin && !table.filled(next_[b])) ++next_[b];
      if (next_[b] > last_bin) continue;
      role_[next_[b]] |= kFollows;
      smallest_[next_[b]] = std::numeric_limits<double>::infinity();
    }
    const NodeRows& rows = *search_.rows;
    const uint8_t* bin_of = bins_.bin.data();
    for (int k = 0; k < rows.n_classes; ++k)
      for (size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) {
        const int bin = bin_of[i];
        const uint8_t role = role_[bin];
        if (!role) continue;
        if (role & kOpen) scan_.add(bin, z[i], i, k);
        if (role & kFollows) smallest_[bin] = std::min(smallest_[bin], z[i]);
      }
    scan_.scan_open(bins_, [&](int b) {
      return next_[b] <= last_bin ? smallest_[next_[b]] : std::numeric_limits<double>::infinity();
    });
  }

  CutSearch<Criterion>& search_;
  OpenBins<Criterion>& bins_;
  KeyScan<Criterion> scan_;
  bool fits_ = false;
  uint8_t role_[kMaxBins] = {};
  int next_[kMaxBins] = {};
  double smallest_[kMaxBins] = {};
};

}  // namespace oblique
