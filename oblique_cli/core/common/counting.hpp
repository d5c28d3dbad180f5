// Coarse counts of many rows: places on a scale of 256, and the number of rows of each class up to each of a few
// places. The loops count 32 or 512 rows at a time, in a fraction of the time of single additions. Like the kernels,
// each is compiled for several instruction sets, all with the same result.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// places[i] = (x[i] - c * w[i]) * scale + shift, rounded and limited to [0, 255]. With scale > 0 it is monotone in x[i]
// - c * w[i] as computed by project_reflected, since every rounding is monotone: equal values share a place, and a
// larger value never has a smaller place. The integer nearest to a sum is read from the last digits of its sum with a
// large number, so |shift| must be below kLargestShift, and the sums before are limited to kLargestPlace.
inline constexpr double kLargestShift = 1125899906842624.0;  // 2^50
inline constexpr double kLargestPlace = 1073741824.0;        // 2^30
void place_reflected(const double* x, const double* w, double c, double scale, double shift, uint8_t* places, size_t n);

// Mean and mean squared deviation of 64 projections x[i] - c * w[i], of rows 0, step, 2 step, ...
struct Moments {
  double mean, variance;
};
Moments sample_moments(const double* x, const double* w, double c, size_t step);

// Bytes behind the last place that may be read.
inline constexpr size_t kPlacePadding = 64;

// Bins of places: bin_of[place] is below kPlaceBins and does not fall as the place grows. counts[k * stride + b] is the
// number of places of class k, places[first_row[k]] to places[first_row[k + 1] - 1], in bins up to b, for each bin b
// and one further, meaningless bin. Exact below 2^24 rows.
inline constexpr int kPlaceBins = 31;
// Chooses bins of places with about equally many of `sample` rows, fewer than 2^16: rows 0, step, 2 step, ...
void choose_bins(const uint8_t* places, size_t step, int sample, uint8_t* bin_of);
void count_up_to(const uint8_t* places, const size_t* first_row, int n_classes, const uint8_t* bin_of, float* counts,
                 size_t stride);

// Selects the rows with wanted[place] not 0, class by class; picked_up_to[k] : number of them in classes up to k.
void pick_rows(const uint8_t* places, const size_t* first_row, int n_classes, const uint8_t* wanted, uint32_t* rows,
               size_t* picked_up_to);

// Least x[i] - c * w[i] among the rows with places above `place`; infinite if there is none.
double least_above(const uint8_t* places, uint8_t place, const double* x, const double* w, double c, size_t n);

}  // namespace oblique
