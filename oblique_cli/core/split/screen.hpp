// A look: a coarse count of classes along a direction, which shows whether the direction needs a search.
//
// Rows get places from 0 to 255 along the direction. Places are grouped into 31 bins with about equally many rows of a
// sample in each, and classes are counted by bin. If bins remain open, their rows are counted again by bins that divide
// them: bins of the same places, or of new places that cover the open bins alone. Only the place of a row is stored.
// The bins that remain open mostly hold a few rows, which are selected by their places.
//
// Why no direction is lost: a place is the result of additions, multiplications by a positive number, rounding to
// integers and limiting, applied to the projection of a search. Each of these is monotone, rounding included, and so is
// the bin of a place. Hence of two rows in different bins the row in the lower bin has the smaller projection, and
// equal projections share a bin. The rows left of any cut are therefore all rows of the bins below some bin and a part
// of the rows of that bin. The bounds of criteria.hpp need no more, for any widths of bins, any sample, and any
// precision of places. A cut belongs to the bin of the row to its left. A second look needs the cuts of open bins only,
// because those of closed bins are bounded already. Directions that might still win get the full search, so looks never
// change the result.
#pragma once

#include "common/counting.hpp"
#include "split/bin_table.hpp"
#include "split/node_rows.hpp"

namespace oblique {

class Screen {
 public:
  // Fewer rows are searched quickly without a look.
  static constexpr size_t kRows = 65;

  void begin(const NodeRows& rows, const double* of_class) {
    rows_ = &rows;
    paid_ = skipped_ = 0;
    table_.resize(rows.n_classes, kPlaceBins, of_class);
    for (int k = 0; k < rows.n_classes; ++k) table_.of_class(k)[0] = 0.0f;
    bits_ = 6;
    while (bits_ < 9 && (size_t{8} << bits_) <= rows.n) ++bits_;
    step_ = rows.n >> bits_;
    if (places_.size() < rows.n + kPlacePadding) places_.resize(rows.n + kPlacePadding);
  }

  // Counts the rows along x - c * w; false if they are not spread enough. distinct : see NodeSearch
  bool count(const double* x, const double* w, double c, double distinct) {
    const Moments moments = sample_moments(x, w, c, rows_->n / 64);
    const double deviation = std::sqrt(moments.variance);
    // Projections are below 10^15 times `distinct`, so the computations below cannot overflow.
    if (!(deviation > 1e-100 * distinct && deviation > 1e-290 && deviation < 1e290)) return false;
    const double scale = kPerDeviation / deviation, shift = 128.0 - moments.mean * scale;
    x_ = x;
    w_ = w;
    c_ = c;
    distinct_ = distinct;
    if (!(std::fabs(shift) < kLargestShift && fits(scale))) return false;
    scale_ = scale;
    shift_ = std::nearbyint(shift);
    place_reflected(x, w, c, scale, shift_, places_.data(), rows_->n);
    std::fill_n(asked_, kPlaceBins, true);
    choose_bins(places_.data(), step_, 1 << bits_, bin_of_);
    count();
    return true;
  }

  // Counts once more along the same direction, by bins that divide the open bins: by finer places if the open bins are
  // close together, else by the present places. False if a second count would not improve the bounds. open : of each
  // bin, whether it is open
  bool look_closer(const std::vector<int>& open) {
    int first = 0, last = 255;
    while (bin_of_[first] < open.front()) ++first;
    while (bin_of_[last] > open.back()) --last;
    if (last - first + 1 <= kZoomed && zoom(first, last)) return true;
    return divide(open);
  }

  // Whether bin b may be open: it was not closed before.
  bool is_asked(int b) const { return asked_[b]; }
  const uint8_t* places() const { return places_.data(); }
  const uint8_t* bin_of() const { return bin_of_; }
  // The last counts, with the sums at edges and the bounds.
  BinTable<float>& table() { return table_; }

  // Whether looks have saved time recently. If not, one direction in a while is still looked at.
  bool is_worth_it() { return paid_ >= 0 || ++skipped_ % 32 == 0; }
  // Records whether a direction had to be searched after a look.
  void tell(bool searched) { paid_ = std::clamp(paid_ + (searched ? -kLook : kSearch), -kPatience, kPatience); }

 private:
  // Bins of the present places: the open places get bins as narrow as the number of bins allows; the others are joined.
  bool divide(const std::vector<int>& open_bins) {
    bool open[kPlaceBins] = {};
    for (const int b : open_bins) open[b] = true;
    int runs = 1, open_places = 0;  // of places in bins that are all open or all closed
    for (int place = 0; place < 256; ++place) {
      open_places += open[bin_of_[place]];
      runs += place > 0 && open[bin_of_[place]] != open[bin_of_[place - 1]];
    }
    const int parts = kPlaceBins - runs;
    if (parts < 1 || open_places <= static_cast<int>(open_bins.size())) return false;
    const int places = (open_places + parts - 1) / parts;  // of a part; the last one of a run may have fewer
    int next = -1, in_part = 0;
    bool before = !open[bin_of_[0]];
    for (uint8_t& bin : bin_of_) {
      const bool is = open[bin];
      if (is != before || (is && in_part == places)) {
        asked_[++next] = is;
        in_part = 0;
      }
      ++in_part;
      before = is;
      bin = static_cast<uint8_t>(next);
    }
    std::fill(asked_ + next + 1, asked_ + kPlaceBins, false);
    count();
    return true;
  }

  // New places, with bins of equal width. Projections that were rounded to a place from `first` to `last` lay from
  // first - 1/2 to last + 1/2; this range now maps to 2 ... 253. Errors, below 2^-12 before and 250 times that now,
  // cannot move a projection beyond 1 and 254. So rows at 0 and 255 lie outside and are ignored, unless `first` or
  // `last` is an end of the range.
  bool zoom(int first, int last) {
    const double factor = 250.0 / (last - first + 1);
    const double scale = scale_ * factor, shift = std::ceil(2.0 - factor * (first - 0.5 - shift_));
    if (!(std::fabs(shift) < kFineShift && std::fabs(shift_) < kFineShift && fits(scale))) return false;
    place_reflected(x_, w_, c_, scale, shift, places_.data(), rows_->n);
    scale_ = scale;
    shift_ = shift;
    for (int place = 1; place < 255; ++place)
      bin_of_[place] = static_cast<uint8_t>(1 + (place - 1) * (kPlaceBins - 2) / 254);
    bin_of_[0] = 0;
    bin_of_[255] = kPlaceBins - 1;
    std::fill_n(asked_, kPlaceBins, true);
    asked_[0] = first == 0;
    asked_[kPlaceBins - 1] = last == 255;
    count();
    return true;
  }

  // `distinct` is at least 1e-9 of the range, so no place exceeds 2e9 of it before the limits are applied.
  bool fits(double scale) const { return scale * distinct_ < 5e-10 * kLargestPlace; }

  void count() {
    count_up_to(places_.data(), rows_->first_row, rows_->n_classes, bin_of_, table_.of_class(0) + 1, table_.stride);
  }

  static constexpr double kPerDeviation = 42.0;  // places, so that 255 places reach from -3 to 3 standard deviations
  static constexpr int kZoomed = 14;             // places: wider stretches need no new places
  static constexpr double kFineShift = 0x1p40;   // sums with it have an error of 2^-12 or less
  static constexpr int kLook = 1, kSearch = 1, kPatience = 64;

  const NodeRows* rows_ = nullptr;
  int paid_ = 0, skipped_ = 0;
  int bits_ = 6;
  size_t step_ = 1;
  const double *x_ = nullptr, *w_ = nullptr;  // the counted direction
  double c_ = 0.0, distinct_ = 0.0, scale_ = 0.0, shift_ = 0.0;
  std::vector<uint8_t> places_;
  uint8_t bin_of_[256] = {};
  bool asked_[kPlaceBins] = {};
  BinTable<float> table_;
};

}  // namespace oblique
