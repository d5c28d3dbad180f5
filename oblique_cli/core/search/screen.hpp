// A quick look at a direction, to tell whether it is worth a search.
//
// Rows get places from 0 to 255 along the direction, places are put into 31 bins with about equally many rows of a
// sample in each, and classes are counted by bin. Where bins can still win, their places are divided among 31 bins and
// counted once more. Nothing is stored for a row but its place.
//
// Why no direction is lost: a place is the result of additions, multiplications by a positive number, rounding to whole
// numbers and cutting off, applied to the projection as a search computes it. Each of these is monotone, rounded as it
// is, and so is the bin of a place. Hence of two rows in different bins the one in the lower bin has the smaller
// projection, and equal projections share a bin. The rows left of any cut are then all rows of the bins below some bin
// and a part of the rows of that bin, which is all that the bounds of criteria.hpp ask for, be the bins even or not,
// whatever the sample said, and in whatever precision places are computed beyond the projection itself. A second look
// divides the bins that were open, and the cuts in others are bounded already. What may win is searched as if nobody
// had looked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/counting.hpp"
#include "search/bin_table.hpp"
#include "search/node_rows.hpp"

namespace oblique {

class Screen {
 public:
  // Fewer rows than this are soon searched.
  static constexpr std::size_t kRows = 65;

  void begin(const NodeRows& rows, const double* of_class) {
    rows_ = &rows;
    paid_ = skipped_ = 0;
    table_.resize(rows.n_classes, kPlaceBins, of_class);
    for (int k = 0; k < rows.n_classes; ++k) table_.of_class(k)[0] = 0.0f;
    bits_ = 6;
    while (bits_ < 9 && (std::size_t{8} << bits_) <= rows.n) ++bits_;
    step_ = rows.n >> bits_;
    if (places_.size() < rows.n + kPlacePadding) places_.resize(rows.n + kPlacePadding);
  }

  // Counts the rows along x - c * w; false if they are not spread enough to be counted. distinct : see NodeSearch
  bool count(const double* x, const double* w, double c, double distinct) {
    const Moments moments = sample_moments(x, w, c, rows_->n / 64);
    const double deviation = std::sqrt(moments.variance);
    // Projections are below 10^15 times `distinct`, so that nothing below can overflow.
    if (!(deviation > 1e-100 * distinct && deviation > 1e-290 && deviation < 1e290)) return false;
    const double scale = kPerDeviation / deviation, shift = 128.0 - moments.mean * scale;
    // `distinct` is at least 1e-9 of the range, so that no place before it is cut off is beyond 2e9 of it.
    if (!(std::fabs(shift) < kLargestShift && scale * distinct < 5e-10 * kLargestPlace)) return false;
    place_reflected(x, w, c, scale, shift, places_.data(), rows_->n);
    std::fill_n(asked_, kPlaceBins, true);
    choose_bins(places_.data(), step_, 1 << bits_, bin_of_);
    count();
    return true;
  }

  // Counts once more along the same direction, by other bins: those that are open are divided, as finely as places and
  // bins allow, and the others are joined. False if too many are open. is_open(b) : whether bin b is
  template <class IsOpen>
  bool look_closer(IsOpen is_open) {
    bool open[kPlaceBins];
    for (int b = 0; b < kPlaceBins; ++b) open[b] = is_open(b);
    int runs = 1, open_places = 0;  // of places in bins that are all open or all closed
    for (int place = 0; place < 256; ++place) {
      open_places += open[bin_of_[place]];
      runs += place > 0 && open[bin_of_[place]] != open[bin_of_[place - 1]];
    }
    const int parts = kPlaceBins - runs;
    if (parts < 1) return false;
    const int places = (open_places + parts - 1) / parts;  // of a part; the last one of a run may have fewer
    int next = -1, in_part = 0;
    bool before = !open[bin_of_[0]];
    for (std::uint8_t& bin : bin_of_) {
      const bool is = open[bin];
      if (is != before || (is && in_part == places)) {
        asked_[++next] = is;
        in_part = 0;
      }
      ++in_part;
      before = is;
      bin = static_cast<std::uint8_t>(next);
    }
    std::fill(asked_ + next + 1, asked_ + kPlaceBins, false);
    count();
    return true;
  }

  // Whether bin b is asked: not one of those that were closed before.
  bool is_asked(int b) const { return asked_[b]; }
  // What was counted last, up to the sums at edges and the bounds.
  BinTable<float>& table() { return table_; }

  // Whether looks have paid lately. Where they have not, one in a while is taken all the same.
  bool is_worth_it() { return paid_ >= 0 || ++skipped_ % 32 == 0; }
  // Tells whether a direction had to be searched after a look.
  void tell(bool searched) { paid_ = std::clamp(paid_ + (searched ? -kLook : kSearch), -kPatience, kPatience); }

 private:
  void count() {
    count_up_to(places_.data(), rows_->first_row, rows_->n_classes, bin_of_, table_.of_class(0) + 1, table_.stride);
  }

  static constexpr double kPerDeviation = 42.0;  // places, so that 255 reach from -3 to 3 deviations
  static constexpr int kLook = 3, kSearch = 2, kPatience = 64;

  const NodeRows* rows_ = nullptr;
  int paid_ = 0, skipped_ = 0;
  int bits_ = 6;
  std::size_t step_ = 1;
  std::vector<std::uint8_t> places_;
  std::uint8_t bin_of_[256] = {};
  bool asked_[kPlaceBins] = {};
  BinTable<float> table_;
};

}  // namespace oblique
