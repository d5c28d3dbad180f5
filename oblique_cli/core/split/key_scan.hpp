// The cuts between rows that are sorted by integer steps along a direction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/key_sort.hpp"
#include "split/open_bins.hpp"
#include "split/tactic.hpp"

namespace oblique {

template <class Criterion>
class KeyScan {
 public:
  explicit KeyScan(CutSearch<Criterion>& search) : search_(search) {}

  // Begins a direction.
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

  // Scans all rows.
  void scan_all(const double* z) {
    if (keys_.size() < search_.rows->n) keys_.resize(search_.rows->n);
    std::size_t n = 0;
    for (int k = 0; k < search_.rows->n_classes; ++k)
      for (std::size_t i = search_.rows->first_row[k]; i < search_.rows->first_row[k + 1]; ++i)
        keys_[n++] = key(z[i], i, k);
    std::fill(search_.left.begin(), search_.left.end(), 0.0);
    scan(keys_.data(), n, std::numeric_limits<double>::infinity());
  }

  // Allocates every open bin; returns the number of their rows, which are a small part of a large node.
  std::size_t lay_out(const OpenBins<Criterion>& bins) {
    std::size_t used = 0;
    for (const int b : bins.open) {
      start_[b] = end_[b] = used;
      used += bins.size(b);
    }
    if (keys_.size() < used) keys_.resize(used);
    return used;
  }
  // Adds row i of class k to an open bin.
  void add(int b, double z, std::size_t i, int k) { keys_[end_[b]++] = key(z, i, k); }
  // Scans the open bins after their rows were added, the best bound first. next_of(b) : the smallest projection beyond
  // bin b, infinity if there is none
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

  std::uint64_t key(double z, std::size_t i, int k) const {
    const std::size_t payload = search_.rows->weights ? i : static_cast<std::size_t>(k);
    return (static_cast<std::uint64_t>((z - low_) * scale_) << kPayloadBits) | payload;
  }

  // Scans keys[0..n); `left` holds the weights left of them. next : the smallest projection beyond, or infinity
  void scan(std::uint64_t* keys, std::size_t n, double next) {
    sort_.sort(keys, n);
    typename CutSearch<Criterion>::Sweep sweep(search_, order_);
    const double* weights = search_.rows->weights;
    const double low = low_, step = 1.0 / scale_;
    const std::uint64_t gap = static_cast<std::uint64_t>(distinct_ / step);
    constexpr std::uint64_t mask = (std::uint64_t{1} << kPayloadBits) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t payload = keys[i] & mask;
      if (weights)
        sweep.move(class_of_row_[payload], weights[payload]);
      else
        sweep.move(static_cast<int>(payload), 1.0);
      const std::uint64_t here = keys[i] >> kPayloadBits;
      if (i + 1 < n) {
        const std::uint64_t there = keys[i + 1] >> kPayloadBits;
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
  std::int64_t order_ = 0;
  double distinct_ = 0.0, low_ = 0.0, scale_ = 0.0;
  std::vector<int> class_of_row_;  // if rows have weights
  std::vector<std::uint64_t> keys_;
  KeySort sort_;
  std::size_t start_[kMaxBins] = {}, end_[kMaxBins] = {};
};

}  // namespace oblique
