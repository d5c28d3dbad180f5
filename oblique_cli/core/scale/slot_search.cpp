#include "scale/slot_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "search/bin_table.hpp"
#include "search/criteria.hpp"
#include "search/node_rows.hpp"
#include "search/totals.hpp"

namespace oblique {

namespace {

// Where NodeSearch (search/split_search.cpp) sees a gap between two neighboring projections, and which threshold it
// puts there. It keeps projections of a bin as multiples of 2^-39 of the range, and compares neighbors in two bins by
// value.
class Gaps {
 public:
  Gaps(double low, double high, double distinct, bool strict, std::size_t rows) : low_(low) {
    const double width = high - low;
    distinct_ = strict ? 0.0 : distinct;
    keyed_ = !strict && width > 1e-290 && width < 1e290;
    scale_ = kQuanta / width;
    step_ = 1.0 / scale_;
    while (n_bins_ < 256 && static_cast<std::size_t>(n_bins_) * static_cast<std::size_t>(n_bins_) < 4 * rows)
      n_bins_ *= 2;
    if (rows < 24) n_bins_ = 1;
    bin_scale_ = static_cast<double>(n_bins_) * (1.0 - 1e-12) / width;
    gap_ = keyed_ ? static_cast<std::uint64_t>(distinct_ / step_) : 0;
  }

  // Whether a cut lies between a < b, and its threshold.
  bool between(double a, double b, double& threshold) const {
    if (!keyed_) {
      if (!(b - a > distinct_)) return false;
      threshold = middle_of_gap(a, b);
      return true;
    }
    const std::uint64_t here = key(a);
    const double from = low_ + static_cast<double>(here) * step_;
    if (bin(a) == bin(b)) {
      const std::uint64_t there = key(b);
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

  std::uint64_t key(double z) const { return static_cast<std::uint64_t>((z - low_) * scale_); }
  int bin(double z) const { return std::min(static_cast<int>((z - low_) * bin_scale_), n_bins_ - 1); }

  double low_, distinct_, scale_, step_, bin_scale_;
  int n_bins_ = 16;
  bool keyed_;
  std::uint64_t gap_;
};

template <class Criterion>
class SlotSearchOf final : public SlotSearch {
 public:
  SlotSearchOf(const SearchOptions& options, const Vector& of_class)
      : strict_(options.strict_ties), min_leaf_(options.min_leaf), of_class_(of_class) {
    totals_.n_classes = static_cast<int>(of_class_.size());
    totals_.of_class = of_class_.data();
    totals_.counts = false;
    for (const double w : of_class_) totals_.n += w;
    front_.reset(Criterion::base(totals_), Criterion::noise(totals_), strict_);
    left_.resize(of_class_.size());
  }

  void begin(Histograms given) override {
    given_ = std::move(given);
    const std::size_t k = of_class_.size(), width = given_.n_bins;
    BinTable<double> table;
    table.resize(totals_.n_classes, static_cast<int>(width), of_class_.data());
    const double slack = Criterion::template slack<double>(totals_);
    Front edges = front_;
    open_.clear();
    for (std::size_t d = 0; d < given_.order.size(); ++d) {
      ++counts.directions;
      if (!(given_.largest[d] - given_.least[d] > (strict_ ? 0.0 : given_.distinct[d]))) continue;
      for (std::size_t c = 0; c < k; ++c) {
        cumulate(given_.counts.data() + (d * k + c) * width, static_cast<int>(width),
                 table.of_class(static_cast<int>(c)));
        table.of_class(static_cast<int>(c))[width] = of_class_[c];
      }
      edge_sums(table.edges(), table.sums());
      Criterion::bounds(table, totals_);
      const int last = table.last_filled();
      for (int b = 0; b <= last; ++b) {
        if (!table.filled(b)) continue;
        std::int32_t after = -1;
        for (int next = b + 1; next <= last && after < 0; ++next)
          if (table.filled(next)) after = next;
        const double bound = table.bound[static_cast<std::size_t>(b)] + slack;
        open_.push_back({d, b, after, table.s[b + 1] - table.s[b], bound});
        if (after < 0) continue;
        // An edge is most likely a cut, and then no bin below it can win; if it proves none, `wanted` goes on.
        double s = 0.0;
        for (std::size_t c = 0; c < k; ++c) s += left_[c] = table.of_class(static_cast<int>(c))[b + 1];
        if (std::min(s, totals_.n - s) < min_leaf_ - 1e-12 * totals_.n || !(s > 0.0) || !(s < totals_.n)) continue;
        edges.offer(given_.order[d], static_cast<double>(b), Criterion::value(left_.data(), s, totals_));
      }
      checkpoint(k * width * 8);
    }
    assumed_ = edges.needed(-1);
    std::sort(open_.begin(), open_.end(), [](const OpenBin& a, const OpenBin& b) {
      return a.bound != b.bound           ? a.bound > b.bound
             : a.direction != b.direction ? a.direction < b.direction
                                          : a.bin < b.bin;
    });
    next_ = 0;
  }

  std::vector<OpenBin> wanted(double most_rows) override {
    std::vector<OpenBin> out;
    double rows = 0.0;
    // What is known of cuts that were seen, and while there are none what the edges promise.
    const double assumed = next_ == 0 ? assumed_ : -std::numeric_limits<double>::infinity();
    while (next_ < open_.size()) {
      const OpenBin& bin = open_[next_];
      if (bin.bound < std::max(front_.needed(-1), assumed)) break;
      if (!out.empty() && rows + bin.rows > most_rows) break;
      ++next_;
      if (bin.bound < front_.needed(given_.order[bin.direction])) continue;
      rows += bin.rows;
      out.push_back(bin);
    }
    counts.bins += out.size();
    return out;
  }

  void offer(std::size_t d, std::int32_t bin, const double* z, const std::int32_t* code, const double* weight,
             std::size_t n, double next) override {
    const std::size_t k = of_class_.size(), width = given_.n_bins;
    for (std::size_t c = 0; c < k; ++c) {
      left_[c] = 0.0;
      for (std::int32_t b = 0; b < bin; ++b)
        left_[c] += given_.counts[(d * k + c) * width + static_cast<std::size_t>(b)];
    }
    const Gaps gaps(given_.least[d], given_.largest[d], given_.distinct[d], strict_, given_.rows);
    double threshold = 0.0;
    rows_.resize(n);
    for (std::size_t i = 0; i < n; ++i) rows_[i] = {z[i], static_cast<std::uint32_t>(i)};
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.z < b.z; });
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = rows_[i].row;
      left_[static_cast<std::size_t>(code[row])] += weight[row];
      const bool is_last = i + 1 == n;
      if (!is_last && rows_[i + 1].z == rows_[i].z) continue;
      const double following = is_last ? next : rows_[i + 1].z;
      if (!std::isfinite(following) || !gaps.between(rows_[i].z, following, threshold)) continue;
      offer_cut(given_.order[d], threshold, left_.data(), min_leaf_);
    }
    checkpoint(n * 4);
  }

  void offer_cut(std::int64_t order, double threshold, const double* left, double least) override {
    double s = 0.0;
    for (std::size_t c = 0; c < of_class_.size(); ++c) s += left[c];
    if (s <= 0.0 || s >= totals_.n || std::min(s, totals_.n - s) < least - 1e-12 * totals_.n) return;
    front_.offer(order, threshold, Criterion::value(left, s, totals_));
  }

  double gain(double value) const override { return Criterion::gain(value, totals_); }

 private:
  const bool strict_;
  const double min_leaf_;
  const Vector of_class_;
  Totals totals_;
  Histograms given_;
  std::vector<OpenBin> open_;
  std::size_t next_ = 0;
  double assumed_ = 0.0;
  Vector left_;
  struct Row {
    double z;
    std::uint32_t row;
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
