// Bounds of a direction if rows have weights, before the rows are put into bins.
//
// Weights are rounded to integers with a sum of nearly 2^24, so that single precision sums them exactly. The weights
// below a few projections, those of a sample, bound the cuts between them. Where a cut may still win, the rows are
// summed again, and with few rows left the values of all cuts are computed. Each row is compared with many projections
// at a time, and only samples are sorted.
//
// Why no cut is lost: the value of a cut changes by at most the change of the weights on its sides
// (Criterion::is_steady), so rounding changes it by at most the sum of all roundings. Projections become keys in steps
// finer than the gap above which they are distinct, so no cut separates rows of one key; a cut between two keys has the
// bound of a cut in a bin (criteria.hpp). Directions that might still win get the full search, which computes the bits
// of the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/kernels.hpp"
#include "split/bin_table.hpp"
#include "split/tactic.hpp"

namespace oblique {

template <class Criterion>
class WeightTactic final : public Tactic {
 public:
  explicit WeightTactic(CutSearch<Criterion>& search) : search_(search) {}

  void begin() override {
    const NodeRows& rows = *search_.rows;
    pays_ = Criterion::is_steady && rows.weights && !search_.strict && rows.n >= kLeast && rows.n <= kMost;
    is_prepared_ = false;
  }

  bool settles(Direction& d) override {
    if (!pays_ || search_.front().cuts().empty() || !is_keyable(d.range) || !is_worth_it()) return false;
    const double scale = kSteps / (d.range.high - d.range.low);
    if (!(d.distinct * scale > 1.01)) return false;
    if (!is_prepared_) prepare();
    needed_ = search_.roughly_needed(d.order) * unit_ - error_ - Criterion::template slack<float>(totals_);
    keys_along(d.z, d.range.low, scale, parts_[0].keys.data(), search_.rows->n);
    const bool settled = !can_win(0);
    tell(settled);
    return settled;
  }

 private:
  static constexpr int kBins = kWeighed - 1;                  // the edge behind them is beyond all keys
  static constexpr std::size_t kLeast = 24, kMost = 1 << 20;  // rows of a node
  static constexpr std::size_t kFew = 96, kPicked = 256;      // rows: fewer are compared with each other
  static constexpr std::size_t kLooks = 2;
  static constexpr double kSteps = 1073741824.0;  // 2^30: a step is 0.93e-9 of the range
  static constexpr std::int32_t kBeyond = std::numeric_limits<std::int32_t>::max();

  // Neighboring rows along the direction, class by class.
  struct Part {
    std::vector<std::int32_t> keys, weights;
    std::vector<std::size_t> first_row;
    std::vector<float> start;         // the weight of each class below them
    std::vector<std::size_t> sample;  // rows with about equal weight between them
    std::int32_t edges[kWeighed] = {};
    BinTable<float> bins;
    bool is_open[kBins] = {};
  };

  // Whether looks have saved time recently, at this node or at earlier ones. If not, one direction in a while is still
  // looked at.
  bool is_worth_it() { return paid_ >= 0 || ++skipped_ % 16 == 0; }
  void tell(bool settled) { paid_ = std::clamp(paid_ + (settled ? 1 : -1), -16, 16); }

  void prepare() {
    const NodeRows& rows = *search_.rows;
    is_prepared_ = true;
    round_weights();
    for (Part& part : parts_) part.bins.resize(rows.n_classes, kBins, of_class_.data());
    Part& all = parts_[0];
    all.first_row.assign(rows.first_row, rows.first_row + rows.n_classes + 1);
    all.start.assign(static_cast<std::size_t>(rows.n_classes), 0.0f);
    all.keys.resize(rows.n);
    choose_sample(all);
  }

  // Every row has weight 1 at least, which the bounds assume.
  void round_weights() {
    const NodeRows& rows = *search_.rows;
    unit_ = (16777216.0 - 2.0 * static_cast<double>(rows.n)) / search_.totals().n;
    error_ = 0.0;
    std::vector<std::int32_t>& rounded = parts_[0].weights;
    rounded.resize(rows.n);
    of_class_.assign(static_cast<std::size_t>(rows.n_classes), 0.0);
    totals_ = Totals{};
    totals_.n_classes = rows.n_classes;
    totals_.of_class = of_class_.data();
    totals_.counts = false;
    for (int k = 0; k < rows.n_classes; ++k) {
      for (std::size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) {
        const double wanted = rows.weights[i] * unit_, given = std::max(std::nearbyint(wanted), 1.0);
        error_ += std::fabs(given - wanted);
        rounded[i] = static_cast<std::int32_t>(given);
        of_class_[k] += given;
      }
      totals_.n += of_class_[k];
    }
  }

  static void choose_sample(Part& part) {
    part.sample.clear();
    const std::size_t n = part.first_row.back();
    std::int32_t total = 0, sum = 0;
    for (std::size_t i = 0; i < n; ++i) total += part.weights[i];
    const std::int32_t step = total / (kBins - 1) + 1;  // so that at most kBins - 1 rows are selected
    std::int32_t next = step / 2;
    for (std::size_t i = 0; i < n; ++i) {
      sum += part.weights[i];
      if (sum < next) continue;
      part.sample.push_back(i);
      while (next <= sum) next += step;
    }
  }

  // Whether a cut behind a row of part number `looks` may win.
  bool can_win(std::size_t looks) {
    Part& part = parts_[looks];
    const std::size_t n = part.first_row.back();
    if (n <= kFew || (looks == kLooks && n <= kPicked)) return can_win_beside_a_row(part);
    if (looks == kLooks) return true;
    look(part);
    if (n > kPicked && 2 * std::count(part.is_open, part.is_open + kBins, true) > kBins) return true;
    for (int first = 0, last; first < kBins; first = last + 1) {
      for (last = first; last < kBins && part.is_open[last];) ++last;
      if (first == last) continue;
      pick(part, first, last, parts_[looks + 1]);
      if (can_win(looks + 1)) return true;
    }
    return false;
  }

  // Bounds the cuts between the keys of the sample.
  void look(Part& part) {
    std::uint64_t sorted[kBins];
    const std::size_t n = part.sample.size();
    for (std::size_t e = 0; e < n; ++e) sorted[e] = static_cast<std::uint64_t>(part.keys[part.sample[e]]);
    sort_few(sorted, n);
    for (std::size_t e = 0; e < kWeighed; ++e) part.edges[e] = e < n ? static_cast<std::int32_t>(sorted[e]) : kBeyond;
    weigh(part, part.edges, part.bins);
    Criterion::bounds(part.bins, totals_);
    for (int b = 0; b < kBins; ++b)
      part.is_open[b] = !(static_cast<double>(part.bins.bound[b]) < needed_) && part.bins.filled(b);
  }

  void weigh(const Part& part, const std::int32_t* edges, BinTable<float>& bins) {
    for (int k = 0; k < bins.n_classes; ++k) bins.of_class(k)[0] = part.start[k];
    weigh_below(part.keys.data(), part.weights.data(), part.first_row.data(), bins.n_classes, edges, part.start.data(),
                bins.of_class(0) + 1, bins.stride);
    edge_sums(bins.edges(), bins.sums());
  }

  // Selects the rows of bins [first, last).
  void pick(const Part& part, int first, int last, Part& out) {
    const std::int32_t from = first == 0 ? std::numeric_limits<std::int32_t>::min() : part.edges[first - 1];
    const std::uint32_t width = static_cast<std::uint32_t>(part.edges[last - 1]) - static_cast<std::uint32_t>(from);
    out.keys.resize(part.keys.size());
    out.weights.resize(part.keys.size());
    out.first_row.assign(1, 0);
    out.start.clear();
    std::size_t n = 0;
    for (int k = 0; k < part.bins.n_classes; ++k) {
      for (std::size_t i = part.first_row[k]; i < part.first_row[k + 1]; ++i) {
        out.keys[n] = part.keys[i];
        out.weights[n] = part.weights[i];
        n += static_cast<std::uint32_t>(part.keys[i]) - static_cast<std::uint32_t>(from) < width;
      }
      out.first_row.push_back(n);
      out.start.push_back(part.bins.of_class(k)[first]);
    }
    if (n > kFew) choose_sample(out);
  }

  // Computes the values of all cuts: each lies directly behind the key of a row.
  bool can_win_beside_a_row(Part& part) {
    const std::size_t n = part.first_row.back();
    for (std::size_t at = 0; at < n; at += kBins) {
      const std::size_t count = std::min<std::size_t>(n - at, kBins);
      for (std::size_t e = 0; e < kWeighed; ++e) part.edges[e] = part.keys[at + std::min(e, count - 1)] + 1;
      weigh(part, part.edges, part.bins);
      if (!(Criterion::largest_at_edges(part.bins, totals_) < needed_)) return true;
    }
    return false;
  }

  CutSearch<Criterion>& search_;
  bool pays_ = false, is_prepared_ = false;
  int paid_ = 0, skipped_ = 0;
  double unit_ = 1.0, error_ = 0.0, needed_ = 0.0;
  std::vector<double> of_class_;
  Totals totals_;
  Part parts_[kLooks + 1];  // all rows, and those selected by each look
};

}  // namespace oblique
