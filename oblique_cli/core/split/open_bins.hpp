// The bins of a direction that may contain the best cut, which tactics pass on to each other.
#pragma once

#include "split/bin_table.hpp"
#include "split/cut_search.hpp"

namespace oblique {

// Whether single precision represents the counts exactly.
inline bool counts_exactly(const NodeRows& rows) { return !rows.weights && rows.n < (size_t{1} << 24); }

template <class Criterion>
class OpenBins {
 public:
  explicit OpenBins(CutSearch<Criterion>& search) : search_(search) {}

  // Most edges between two bins are allowed cuts, so the search assumes that the edge next to the best bin is one:
  // worse bins are not opened. If it is not a cut, because rows of both bins are too near to each other, the direction
  // is searched again without the assumption.
  void assume(bool allowed) {
    assumes_ = allowed;
    assumed_ = -std::numeric_limits<double>::infinity();
  }
  // Whether the assumption was wrong; the next search then assumes nothing.
  bool assumed_wrongly() {
    if (!(search_.front().bar() < assumed_)) return false;
    assume(false);
    return true;
  }

  void clear() {
    counts_ = nullptr;
    weights_ = nullptr;
    open.clear();
  }

  // Finds the open ones among the bins of a table. may_be_open(b) : whether to consider bin b
  template <class T, class Asked>
  void find(BinTable<T>& table, int64_t order, Asked may_be_open) {
    note(table);
    edge_sums(table.edges(), table.sums());
    Criterion::bounds(table, search_.totals());
    const double slack = Criterion::template slack<T>(search_.totals());
    double needed = std::max(search_.needed(order), assumed_);
    open.clear();
    if (static_cast<double>(largest_of(table.bound.data(), static_cast<size_t>(table.n_bins))) + slack < needed) return;
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
      // A bin of one row has one cut, at its right edge, whose value is exact.
      if (search_.totals().counts && table.s[b + 1] - table.s[b] == 1 && is_inside(table, b + 1))
        most = std::min(most, edge_value(table, b + 1));
      bound[b] = most;
      if (most >= needed) open.push_back(b);
    }
  }

  // Calls use(table) with the table of the bins; false if there is none.
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
  size_t size(int b) const { return counts_ ? static_cast<size_t>(counts_->s[b + 1] - counts_->s[b]) : rows_in[b]; }

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
  double bound[kMaxBins] = {};      // of the open bins
  std::vector<uint8_t> bin;         // of each row
  uint32_t rows_in[kMaxBins] = {};  // of each bin; with weights, sums do not give the number of rows
  double low = 0.0, scale = 0.0;    // number of a bin before its division: (z - low) * scale

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
