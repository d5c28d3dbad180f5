// Sums over the rows of a class whose bits depend neither on the order of the rows nor on their division into blocks.
//
// The rows of a node with more than `exact_sums_above` rows may lie in blocks on a disk or on several machines, without
// a common order. There each product of two standard coordinates is rounded to a multiple of 2^-40, and integers sum
// these multiples exactly. So the sums over any blocks, in any order, add up to the sums over all rows. Thesis 4.1.1.1
// sums class means and scatters of blocks instead, whose last bits depend on blocks and order.
#pragma once

#include "common/eigen.hpp"

namespace oblique {

// The number of rows above which the moments of a node are exact sums. Tests lower it.
inline std::atomic<size_t> exact_sums_above{65536};

// A sum of multiples of 2^-40 in two integers of 64 bits: high * 2^32 + low, in units of 2^-40. They hold 2^31 rows.
double value_of(int64_t high, int64_t low);

// Index of one of the moments of [y 1], (row, column) with column <= row <= p, in a packed lower triangle.
inline size_t packed(size_t row, size_t column) { return row * (row + 1) / 2 + column; }
inline size_t packed_size(size_t p) { return (p + 1) * (p + 2) / 2; }

// Values of a class whose difference is smaller, relative to the largest, are equal (SAME_VALUE in geometry.py):
// differences by the rounding of a mean or of the input would give eigenvectors of rounding errors.
inline constexpr double kSameValue = 8 * std::numeric_limits<double>::epsilon();
bool varies(double low, double high);

// Coordinates y = (x - center) * inverse in [-1, 1] for values between low and high; inverse is a power of 2, or 0 if
// all values are equal up to rounding. Returns whether some feature varies.
bool class_frame(const double* low, const double* high, size_t p, double* center, double* inverse);

// The power of 2 that scales weights up to `heaviest` to at most 1.
double weight_unit(double heaviest);

// Rows by columns, in the coordinates of a frame.
struct FramedRows {
  const double* const* columns;  // p pointers to n values
  size_t n, p;
  const double* weights;  // n weights, or nullptr when all are 1
  double unit;            // of the weights
};

// Adds the moments of [y 1], packed, of some rows of a class to high and low.
class ExactMoments {
 public:
  void add(const FramedRows& rows, const double* center, const double* inverse, int64_t* high, int64_t* low);

  // As add, for rows minus `mean`, times `factor`, scaled to unit length, without rows of a length up to `least`.
  void add_unit_rows(const FramedRows& rows, const double* mean, const double* inverse, double factor, double least,
                     int64_t* high, int64_t* low);
  // The largest squared length of these rows.
  double largest_square(const FramedRows& rows, const double* mean, const double* inverse, double factor);

 private:
  void add_stretch(size_t n, size_t p, const double* weights, double unit, int64_t* high, int64_t* low);
  void deviations(const FramedRows& rows, size_t first, size_t n, const double* mean, const double* inverse,
                  double factor);

  Vector framed_, weighted_, square_;
};

// Moments of a class in its frame. total : weight of the class
struct ClassSums {
  size_t p;
  const double *center, *inverse;
  const int64_t *high, *low;
  double total, unit;

  double moment(size_t row, size_t column) const {
    const size_t at = packed(row, column);
    return value_of(high[at], low[at]) / unit;
  }
  // Mean of feature j.
  double mean(size_t j) const { return inverse[j] > 0.0 ? center[j] + moment(p, j) / total / inverse[j] : center[j]; }
  // out = sum of w y y', (p, p).
  void products(Vector& out) const;
  // out = scale * sum of w (x - mean)(x - mean)' * factor^2, (p, p).
  void scatter(double factor, double scale, Vector& out) const;
};

}  // namespace oblique
