// A bin of a line that holds many rows: it is divided and bounded again before its rows are sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/kernels.hpp"
#include "heuristic/climbing/line.hpp"
#include "heuristic/climbing/line_scan.hpp"
#include "split/bin_table.hpp"

namespace oblique {

template <class Criterion>
class CrowdedBin {
 public:
  // Groups the rows of a bin into narrower bins, its parts; false if their keys are too close to each other.
  bool divide(const LineRows& rows, LineEntry* entries, std::size_t n) {
    double low = entries[0].key, high = low;
    for (std::size_t i = 1; i < n; ++i) {
      low = std::min(low, entries[i].key);
      high = std::max(high, entries[i].key);
    }
    if (!(high - low > 1e-7)) return false;
    n_parts_ = 8;
    while (n_parts_ < kMaxParts && n_parts_ * kRowsOfPart < n) n_parts_ *= 2;
    const double scale = static_cast<double>(n_parts_) * (1.0 - 1e-12) / (high - low);
    const std::size_t classes = static_cast<std::size_t>(rows.n_classes), last = n_parts_ - 1;
    counts_.assign(classes * n_parts_, 0u);
    std::fill_n(start_, n_parts_ + 1, std::size_t{0});
    if (spare_.size() < n) {
      spare_.resize(n);
      part_of_.resize(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t part = std::min(last, static_cast<std::size_t>((entries[i].key - low) * scale));
      part_of_[i] = static_cast<std::uint8_t>(part);
      ++start_[part + 1];
      ++counts_[static_cast<std::size_t>(rows.class_of[entries[i].row]) * n_parts_ + part];
    }
    for (std::size_t part = 0; part < n_parts_; ++part) start_[part + 1] += start_[part];
    std::copy_n(start_, n_parts_, end_);
    for (std::size_t i = 0; i < n; ++i) spare_[end_[part_of_[i]]++] = entries[i];
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
      const std::size_t n = start_[part + 1] - start_[part];
      Following follows = next;
      if (after < n_parts) follows = {entries + start_[after], start_[after + 1] - start_[after]};
      sort_entries(of_part, n);
      scan.scan(of_part, n, follows);
    }
  }

 private:
  static constexpr std::size_t kRowsOfPart = 8, kMaxParts = 256;

  void bound(const LineRows& rows, const std::vector<double>& left) {
    const int n_parts = static_cast<int>(n_parts_);
    table_.resize(rows.n_classes, n_parts, rows.totals.of_class);
    for (int k = 0; k < rows.n_classes; ++k) {
      const std::uint32_t* counts = counts_.data() + static_cast<std::size_t>(k) * n_parts_;
      float* edge = table_.of_class(k);
      edge[0] = static_cast<float>(left[k]);
      for (int part = 0; part < n_parts; ++part) edge[part + 1] = edge[part] + static_cast<float>(counts[part]);
    }
    edge_sums(table_.edges(), table_.sums());
    Criterion::bounds(table_, rows.totals);
  }

  BinTable<float> table_;
  std::size_t n_parts_ = 0;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint8_t> part_of_;
  std::vector<LineEntry> spare_;
  std::vector<int> open_;
  std::size_t start_[kMaxParts + 1] = {}, end_[kMaxParts] = {};
};

}  // namespace oblique
