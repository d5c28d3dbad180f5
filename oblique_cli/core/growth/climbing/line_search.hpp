// The best step along a line of hyperplanes; line_search.cpp says how it is found.
//
// "exact" scores every hyperplane of the line. "faithful" is what Murthy, Kasif & Salzberg (1994) describe: the t_i are
// a feature, its best one-dimensional split is found over the rows that have one, and the hyperplane at that step is
// scored afterwards. Both are the same where all c_i have one sign.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/kernels.hpp"
#include "growth/climbing/crowded_bin.hpp"
#include "growth/climbing/line.hpp"
#include "growth/climbing/line_scan.hpp"
#include "search/bin_table.hpp"

namespace oblique {

template <class Criterion>
class LineSearch {
 public:
  // direct: sort all rows and score every cut afresh. The slow way to the same step.
  void configure(bool strict, double min_leaf, bool direct) {
    strict_ = strict;
    min_leaf_ = min_leaf;
    direct_ = direct;
    scan_.configure(strict, direct);
  }

  // totals: of the node, from a search that stays alive.
  void begin(const NodeRows& rows, const Totals& totals);

  // What two values must differ by to count as different, at a cut of value v.
  double slack(double v) const {
    if (strict_) return 0.0;
    return 1e-9 * std::max(v - base_, 0.0) + noise_;
  }

  // v: n values, v_size: their largest magnitude. needed: a value below which the hyperplane is of no use.
  Step search(const double* v, double v_size, const Direction& direction, bool exact, double needed);

 private:
  static constexpr int kMaxBins = 256;

  double slack_on_line(double v) const;
  void sort_everything();
  template <class T>
  void search_bins(BinTable<T>& table, Range range);
  template <class T>
  double value_before(const BinTable<T>& table, int b);
  template <class T>
  void refine(const BinTable<T>& table, int n_bins);
  void gather(int n_bins);
  void search_bin(LineEntry* entries, std::size_t n, Following next);
  template <class T>
  double before(const BinTable<T>& table, int k, int b) const;
  template <class T>
  void count_rows(const BinTable<T>& table, int n_bins);
  template <class T>
  void fill(BinTable<T>& table, int n_bins);
  template <class T>
  void fill_two_ways(BinTable<T>& table, int n_bins);

  bool strict_ = false, direct_ = false;
  double min_leaf_ = 1.0, base_ = 0.0, noise_ = 0.0;
  LineRows rows_;
  LineScan<Criterion> scan_;
  CrowdedBin<Criterion> crowded_;
  BinTable<float> counts_table_;
  BinTable<double> weights_table_;
  std::vector<double> keys_, before_;
  std::vector<int> open_;
  std::vector<std::uint8_t> bins_;
  std::vector<std::uint32_t> list_;
  std::vector<LineEntry> entries_;
  double bound_[kMaxBins] = {}, come_[kMaxBins] = {}, go_[kMaxBins] = {};
  std::uint32_t rows_in_[kMaxBins] = {}, counts_[2 * kMaxBins] = {};
  std::size_t start_[kMaxBins] = {}, end_[kMaxBins] = {};
  int next_[kMaxBins] = {};
  std::uint8_t wanted_[kMaxBins] = {}, lowered_[kMaxBins] = {};
};

}  // namespace oblique
