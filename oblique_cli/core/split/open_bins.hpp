// The bins of a direction in which a cut can still win: what tactics hand on to each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/kernels.hpp"
#include "split/bin_table.hpp"
#include "split/cut_search.hpp"
#include "split/row_counts.hpp"

namespace oblique {

template <class Criterion>
class OpenBins {
 public:
  explicit OpenBins(CutSearch<Criterion>& search) : search_(search) {}

  // The cut between two bins is nearly always there, so a direction can be searched as if that beside its best bin
  // were: bins that are worse than it are not opened. If it turns out that it was not there, which is so where rows of
  // both bins are too near to each other, the direction is searched again without it.
  void assume(bool allowed) {
    assumes_ = allowed;
    assumed_ = -std::numeric_limits<double>::infinity();
  }
  // Whether it was not there; from then on nothing is assumed.
  bool assumed_wrongly() {
    if (!(search_.front().bar() < assumed_)) return false;
    assume(false);
    return true;
  }

  // Forgets the bins.
  void clear() {
    counts_ = nullptr;
    weights_ = nullptr;
    open.clear();
  }

  // Finds the open ones among the bins of a table. may_be_open(b) : whether bin b is asked at all
  template <class T, class Asked>
  void find(BinTable<T>& table, std::int64_t order, Asked may_be_open) {
    note(table);
    edge_sums(table.edges(), table.sums());
    Criterion::bounds(table, search_.totals());
    const double slack = Criterion::template slack<T>(search_.totals());
    double needed = std::max(search_.needed(order), assumed_);
    open.clear();
    if (static_cast<double>(largest_of(table.bound.data(), static_cast<std::size_t>(table.n_bins))) + slack < needed)
      return;
    if (assumes_) {
      int best = -1;
      for (int b = 0; b < table.n_bins; ++b)
        if (table.filled(b) && may_be_open(b) && (best < 0 || table.bound[b] > table.bound[best])) best = b;
      for (int e = best; best >= 0 && e <= best + 1; ++e)
        if (is_inside(table, e)) assumed_ = std::max(assumed_, search_.bar_after(edge_value(table, e)));
      needed = std::max(needed, assumed_);
    }
    for (int b = 0; b < table.n_bins; ++b) {
      double most = static_cast<double>(table.bound[b]) + slack;
      if (most < needed || !table.filled(b) || !may_be_open(b)) continue;
      // A bin of one row has one cut, at its right edge, whose value is known without any allowance.
      if (search_.totals().counts && table.s[b + 1] - table.s[b] == 1 && is_inside(table, b + 1))
        most = std::min(most, edge_value(table, b + 1));
      bound[b] = most;
      if (most >= needed) open.push_back(b);
    }
  }

  // use(table) with the table of the bins; false if there is none.
  template <class Use>
  bool with_table(const Use& use) const {
    if (counts_) return use(*counts_), true;
    if (weights_) return use(*weights_), true;
    return false;
  }
  // The table of counts in single precision, or nullptr.
  BinTable<float>* counts() const { return counts_; }

  float rows_of_open() const {
    float rows = 0.0f;
    for (const int b : open) rows += counts_->s[b + 1] - counts_->s[b];
    return rows;
  }
  std::size_t size(int b) const {
    return counts_ ? static_cast<std::size_t>(counts_->s[b + 1] - counts_->s[b]) : rows_in[b];
  }

  // Whether rows lie on both sides of edge e.
  template <class T>
  bool is_inside(const BinTable<T>& table, int e) const {
    return table.s[e] > 0 && static_cast<double>(table.s[e]) < search_.totals().n;
  }
  // The value of the cut at edge e, which is inside.
  template <class T>
  double edge_value(const BinTable<T>& table, int e) {
    stand_at(table, e);
    return search_.value_at(static_cast<double>(table.s[e]));
  }
  template <class T>
  void stand_at(const BinTable<T>& table, int e) {
    for (int k = 0; k < table.n_classes; ++k) search_.left[k] = static_cast<double>(table.of_class(k)[e]);
  }

  std::vector<int> open;
  double bound[kMaxBins] = {};           // of the open ones
  std::vector<std::uint8_t> bin;         // of each row
  std::uint32_t rows_in[kMaxBins] = {};  // of each bin, where rows have weights, which do not say it
  double low = 0.0, scale = 0.0;         // bins are numbered by (z - low) * scale, before they are divided

 private:
  void note(BinTable<float>& table) { counts_ = &table; }
  void note(BinTable<double>& table) { weights_ = &table; }

  CutSearch<Criterion>& search_;
  BinTable<float>* counts_ = nullptr;
  BinTable<double>* weights_ = nullptr;
  bool assumes_ = false;
  double assumed_ = 0.0;
};

}  // namespace oblique
