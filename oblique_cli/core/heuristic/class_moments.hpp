// The moments of the classes at a node: covariances, the scatter of unit rows, moments about the origin.
#pragma once

#include "heuristic/clustering_planes.hpp"
#include "rows/exact_moments.hpp"

namespace oblique {

// Class covariances, scatter of unit rows, or the class moments about the origin.
class ClassMoments {
 public:
  static constexpr double kOnTheMean = 1e-9;  // relative to the longest row: shorter rows lie on the mean

  // widest : the largest range of a feature at the node. Only directions and ratios matter, so a power of 2 keeps the
  // squares of very large or very small rows within the range of double.
  void begin(double widest) { factor_ = factor_of(widest); }
  static double factor_of(double widest);

  // Covariance of rows [first, last), p x p, over the weight less one unit. False if all rows are equal.
  bool covariance(const NodeRows& rows, size_t first, size_t last, Vector& out);

  // X'X of rows [first, last), centered and of unit length, without rows on the mean (thesis 5.3). False as above.
  bool unit_scatter(const NodeRows& rows, size_t first, size_t last, Vector& out);

  // Appends the principal axes of `covariance` or of `unit_scatter` to `out`. For a class with fewer rows than features
  // they are computed in the span of its rows: C'C and CC' have the same eigenvalues, and v = C'a (beyond the papers).
  void add_axes(const NodeRows& rows, size_t first, size_t last, bool unit_rows, double tolerance, double sign,
                bool dominant_only, Vector& out);

  // Variance of every feature within the classes: pooled squared deviations over the weight less a unit per class.
  void pooled_variances(const NodeRows& rows, Vector& out);

  // Adds sum w [z 1]'[z 1] over rows [first, last) to out ((p + 1) x (p + 1)), z in standard coordinates.
  void add_augmented(const NodeRows& rows, size_t first, size_t last, const Standard& standard, Vector& out);

 private:
  // mean_, varies_, total = means of rows [first, last), features that vary, and the weight. False if all rows are
  // equal.
  bool find_means(const NodeRows& rows, size_t first, size_t last, double& total);
  // centered_ = the columns of rows [from, to), a part of rows [first, last), minus their means, times factor_.
  void center(const NodeRows& rows, size_t from, size_t to);

  // The largest squared length of the n rows in centered_.
  double largest_square(size_t p, size_t n);
  // Scales the n rows in centered_ to unit length, rows on the mean to 0. largest : squared length over all rows
  void scale_to_unit_length(size_t p, size_t n, double largest);

  // Number of rows whose columns fit in the second cache, a multiple of 8.
  static size_t stretch_of(size_t p) { return std::clamp<size_t>(32768 / p, 64, 4096) / 8 * 8; }
  // Calls use(from, to) for stretches [from, to) of rows [first, last).
  template <class Use>
  void for_each_stretch(const NodeRows& rows, size_t first, size_t last, const Use& use) const;
  // Calls use(j, k, sum of w c_j c_k) for k <= j < m, over rows [first, last). fill(from, to) writes m columns c of
  // rows [from, to) into centered_. The sums equal those of dot_columns over all rows at once, to the bit.
  template <class Fill, class Use>
  void add_products(const NodeRows& rows, size_t first, size_t last, size_t m, const Fill& fill, const Use& use);

  // centered_ = few rows minus their mean, times factor_ and roots of weights, row by row. False if all rows are equal.
  bool center_few(const NodeRows& rows, size_t first, size_t last, bool unit_rows);
  double* row(size_t i) { return centered_.data() + i * stride_; }
  // eigen_ = eigenvalues above tolerance, or the dominant ones, and eigenvectors of the scatter of n rows in centered_.
  void solve_in_span(size_t n, size_t p, double tolerance, bool dominant_only);

  // Whether the node is large enough for exact sums (exact_moments.hpp).
  static bool is_large(const NodeRows& rows) { return rows.n > exact_sums_above; }

  // The exact moments of rows [first, last) in their own frame, in high_ and low_; false if all rows are equal.
  bool add_exactly(const NodeRows& rows, size_t first, size_t last);
  // Sets unit_ for the weights of rows [first, last).
  void measure_weights(const NodeRows& rows, size_t first, size_t last);
  // Calls use(part) for rows [first, last), in one part or in several; the exact sums are the same.
  template <class Use>
  void for_each_framed(const NodeRows& rows, size_t first, size_t last, const Use& use);
  // The values of feature j in rows [first, last), valid until the next call.
  const double* column(const NodeRows& rows, size_t j, size_t first, size_t last);
  ClassSums sums(const NodeRows& rows, size_t first, size_t last) const;

  // out = scale * sum of w c c', (p, p).
  template <class Fill>
  void scatter(const NodeRows& rows, size_t first, size_t last, double scale, Vector& out, const Fill& fill);

  double factor_ = 1.0;
  size_t stride_ = 0;  // of the rows in centered_, with padding by zeros
  Vector centered_, weighted_, length_, matrix_, mean_, lanes_;
  std::vector<unsigned char> varies_;
  SymmetricEigen eigen_;
  // For a large node.
  ExactMoments exact_;
  Vector frame_center_, frame_inverse_;
  std::vector<int64_t> high_, low_;
  double unit_ = 1.0;
  Stretches stretches_;
  Vector column_;
};

// Whether there are so few rows compared with features that the span of the rows is the space to work in. This never
// applies to narrow data, and therefore to no published table.
inline bool is_wide(size_t n, size_t p) { return p > 100 && n + 1 < p; }

// Adds all moments of [y 1] of a class to out, ((p + 1) x (p + 1)).
void add_symmetric(const ClassSums& sums, Vector& out);

// Shrinks the covariance of a class of weight n < 5 p towards the diagonal of pooled variances (beyond the thesis): (1
// - l) S + l diag(pooled), l = 1 - n / (5 p).
void shrink(Vector& covariance, const Vector& pooled, double n);

}  // namespace oblique
