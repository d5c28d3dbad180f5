// The classes of a node grouped into two hyper-classes by the Bhattacharyya distance (Zhang & Suganthan 2014, section
// II-D and Table II), from one pass over the rows that computes the moments of every class.
#pragma once

#include "common/kernels.hpp"
#include "common/small_matrices.hpp"
#include "heuristic/clustering_planes.hpp"
#include "split/bag.hpp"

namespace oblique {

// A class has a singular covariance if some combination of features has a smaller variance, in units of the ranges at
// the node. True dependence leaves rounding errors of about 1e-15; no other case comes near this limit.
inline constexpr double kSingular = 1e-12;

class HyperClasses {
 public:
  // delta : added to the variances of a singular class before the distances are computed
  void configure(double delta) { delta_ = delta; }

  // Measures the features at a node; returns the largest range or magnitude.
  double begin(const Gathered& x) {
    m_ = x.m;
    size_ = m_ + 1;
    measure(x);
    return widest_;
  }
  void find(const Bag& bag, const Gathered& x) {
    class_moments(bag, x);
    group_classes(bag);
  }

  // Coordinates in which the range of every feature is about 1; the range and the largest magnitude of every feature.
  const Standard& standard() const { return standard_; }
  const Vector& range() const { return range_; }
  const Vector& magnitude() const { return magnitude_; }
  // Sum over the rows of a hyper-class of w [z 1]'[z 1], z in standard coordinates: the lower triangle, row by row.
  const Vector& moments(int hyper_class) const { return group_[hyper_class]; }
  Vector& moments(int hyper_class) { return group_[hyper_class]; }
  // The hyper-class of every class of the node.
  const std::vector<unsigned char>& side() const { return side_; }
  bool is_singular(int hyper_class) { return covariance_of(group_[hyper_class].data(), covariance_.data()); }

 private:
  // Covariance of the moments, (m x m); returns whether it is singular.
  bool covariance_of(const double* moments, double* out) {
    const double* sums = moments + m_ * (m_ + 1) / 2;
    const double weight = sums[m_];
    row_.resize(m_);
    for (size_t j = 0; j < m_; ++j) row_[j] = sums[j] / weight;
    size_t at = 0;
    for (size_t j = 0; j < m_; ++j)
      for (size_t k = 0; k <= j; ++k, ++at)
        out[j * m_ + k] = out[k * m_ + j] = moments[at] / weight - row_[j] * row_[k];
    factor_.assign(out, out + m_ * m_);
    return oblique::is_singular(factor_.data(), m_, kSingular);
  }

  void measure(const Gathered& x) {
    standard_.center.resize(m_);
    standard_.scale.resize(m_);
    range_.resize(m_);
    magnitude_.resize(m_);
    widest_ = 0.0;
    for (size_t j = 0; j < m_; ++j) {
      const Range r = range_of(x.raw + j * x.n, x.n);
      range_[j] = r.high - r.low;
      standard_.center[j] = 0.5 * r.low + 0.5 * r.high;
      // A power of 2 at least as large as the range, so that no digit is lost.
      standard_.scale[j] = range_[j] > 0.0 ? std::ldexp(1.0, std::clamp(std::ilogb(range_[j]), -301, 299) + 1) : 1.0;
      magnitude_[j] = std::max(std::fabs(r.low), std::fabs(r.high));
      widest_ = std::max({widest_, range_[j], magnitude_[j]});
    }
  }

  // Sum over the rows of a class of w [z 1]'[z 1], z in standard coordinates: the lower triangle, row by row.
  void class_moments(const Bag& bag, const Gathered& x) {
    length_ = size_ * (size_ + 1) / 2;
    moments_.assign(bag.runs->size() * length_, 0.0);
    size_t first = 0;
    for (size_t k = 0; k < bag.runs->size(); ++k) {
      const size_t n = (*bag.runs)[k].n;
      double* out = moments_.data() + k * length_;
      with_size<6>(m_, [&](auto M) { add_rows<M()>(bag, x, first, n, out); });
      first += n;
    }
  }

  // M: number of features, so that the loops unroll; 0 if it is only known as m_.
  template <size_t M>
  void add_rows(const Bag& bag, const Gathered& x, size_t first, size_t n, double* out) {
    const size_t m = M ? M : m_;
    double fixed[M ? M : 1], inverse[M ? M : 1], center[M ? M : 1];
    double sums[M ? (M + 1) * (M + 2) / 2 : 1] = {};
    if constexpr (M == 0) row_.resize(m);
    double* z = M ? fixed : row_.data();
    if constexpr (M > 0)
      for (size_t j = 0; j < M; ++j) {
        inverse[j] = 1.0 / standard_.scale[j];
        center[j] = standard_.center[j];
      }
    double* sum = M ? sums : out;
    for (size_t i = first; i < first + n; ++i) {
      const double w = bag.weight[i];
      for (size_t j = 0; j < m; ++j)
        z[j] = M ? (x.raw[j * x.n + i] - center[j]) * inverse[j]
                 : (x.raw[j * x.n + i] - standard_.center[j]) / standard_.scale[j];
      size_t at = 0;
      for (size_t j = 0; j < m; ++j) {
        const double wz = w * z[j];
        for (size_t k = 0; k <= j; ++k) sum[at++] += wz * z[k];
      }
      for (size_t j = 0; j < m; ++j) sum[at++] += w * z[j];
      sum[at] += w;
    }
    if constexpr (M > 0)
      for (size_t i = 0; i < (M + 1) * (M + 2) / 2; ++i) out[i] = sums[i];
  }

  // Cholesky factor of a covariance, lower and row by row in place; the diagonal holds the inverse of the factor's
  // diagonal. Pivots lost to rounding count as kSingular of the largest variance, squared. Returns the logarithm of the
  // determinant of the covariance. M : as in add_rows.
  template <size_t M>
  double factor_covariance(double* a) const {
    const size_t m = M ? M : m_;
    double largest = 0.0;
    for (size_t j = 0; j < m; ++j) largest = std::max(largest, a[j * m + j]);
    const double least = std::max(kSingular * kSingular * largest, 1e-290);
    double product = 1.0, sum = 0.0;
    for (size_t j = 0; j < m; ++j) {
      double pivot = a[j * m + j];
      for (size_t k = 0; k < j; ++k) pivot -= a[j * m + k] * a[j * m + k];
      pivot = std::max(pivot, least);
      product *= pivot;
      if (!(product > 1e-100 && product < 1e100)) {
        sum += std::log(product);
        product = 1.0;
      }
      const double inverse = 1.0 / std::sqrt(pivot);
      a[j * m + j] = inverse;
      for (size_t i = j + 1; i < m; ++i) {
        double left = a[i * m + j];
        for (size_t k = 0; k < j; ++k) left -= a[i * m + k] * a[j * m + k];
        a[i * m + j] = left * inverse;
      }
    }
    return sum + std::log(product);
  }

  // Equation 10, between the normal distributions of two classes.
  template <size_t M>
  double bhattacharyya(size_t a, size_t b) {
    const size_t m = M ? M : m_, mm = m * m;
    double fixed[M ? M * M : 1], solved[M ? M : 1];
    double *factor = M ? fixed : factor_.data(), *row = M ? solved : row_.data();
    const double *ca = covariances_.data() + a * mm, *cb = covariances_.data() + b * mm;
    for (size_t i = 0; i < mm; ++i) factor[i] = 0.5 * (ca[i] + cb[i]);
    const double log_determinant = factor_covariance<M>(factor);
    double square = 0.0;  // of L^-1 (mean - mean)
    for (size_t j = 0; j < m; ++j) {
      double sum = means_[a * m + j] - means_[b * m + j];
      for (size_t k = 0; k < j; ++k) sum -= factor[j * m + k] * row[k];
      row[j] = sum * factor[j * m + j];
      square += row[j] * row[j];
    }
    return 0.125 * square + 0.5 * (log_determinant - 0.5 * (logs_[a] + logs_[b]));
  }

  // Distances between all classes, and the indices of the two most distant.
  template <size_t M>
  std::pair<size_t, size_t> most_distant(size_t n_classes) {
    const size_t mm = m_ * m_;
    factor_.resize(mm);
    row_.resize(m_);
    for (size_t k = 0; k < n_classes; ++k) {
      std::copy_n(covariances_.begin() + k * mm, mm, factor_.begin());
      logs_[k] = factor_covariance<M>(factor_.data());
    }
    std::pair<size_t, size_t> seeds{0, 1};
    double furthest = -1.0;
    for (size_t a = 0; a < n_classes; ++a)
      for (size_t b = a + 1; b < n_classes; ++b) {
        const double d = bhattacharyya<M>(a, b);
        distance_[a * n_classes + b] = distance_[b * n_classes + a] = d;
        if (d > furthest) {
          furthest = d;
          seeds = {a, b};
        }
      }
    return seeds;
  }

  // group_[0] and group_[1] become the moments of the hyper-classes (Table II): the two most distant classes are the
  // seeds, every other class joins the nearer one, the first seed on a tie.
  void group_classes(const Bag& bag) {
    const size_t n_classes = bag.runs->size(), mm = m_ * m_;
    covariance_.resize(mm);
    side_.assign(n_classes, 1);
    if (n_classes == 2) {
      side_[0] = 0;
    } else {
      covariances_.resize(n_classes * mm);
      means_.resize(n_classes * m_);
      logs_.resize(n_classes);
      for (size_t k = 0; k < n_classes; ++k) {
        const double* moments = moments_.data() + k * length_;
        const double* sums = moments + length_ - size_;
        for (size_t j = 0; j < m_; ++j) means_[k * m_ + j] = sums[j] / sums[m_];
        double* c = covariances_.data() + k * mm;
        if (covariance_of(moments, c))
          for (size_t j = 0; j < m_; ++j) c[j * m_ + j] += delta_ / (standard_.scale[j] * standard_.scale[j]);
      }
      distance_.assign(n_classes * n_classes, 0.0);
      const auto [first, second] = with_size<6>(m_, [&](auto M) { return most_distant<M()>(n_classes); });
      for (size_t k = 0; k < n_classes; ++k)
        side_[k] = distance_[k * n_classes + first] <= distance_[k * n_classes + second] ? 0 : 1;
      side_[first] = 0;
      side_[second] = 1;
    }
    for (Vector& group : group_) group.assign(length_, 0.0);
    for (size_t k = 0; k < n_classes; ++k)
      for (size_t i = 0; i < length_; ++i) group_[side_[k]][i] += moments_[k * length_ + i];
  }

  double delta_ = 0.01, widest_ = 0.0;
  size_t m_ = 0, size_ = 0, length_ = 0;
  Standard standard_;
  Vector range_, magnitude_, moments_, covariance_, covariances_, means_, logs_, distance_, factor_, row_;
  Vector group_[2];
  std::vector<unsigned char> side_;
};

}  // namespace oblique
