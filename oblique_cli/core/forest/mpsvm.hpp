// The split of an MPSVM tree (Zhang & Suganthan 2014, section II-D): classes grouped into two hyper-classes by the
// Bhattacharyya distance, the two clustering hyperplanes of the hyper-classes, and their bisectors.
//
// All of it comes from one pass over the rows: the moments of every class. Matrices of a node are small, so they are
// factored here instead of by LAPACK.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "forest/axis_search.hpp"
#include "growth/geometry.hpp"
#include "growth/growth.hpp"

namespace oblique {

enum class Regularisation { tikhonov, axis, null_space };

// A class of which some combination of features spreads less than this, squared and in units of the ranges at the node,
// has a singular covariance. True dependence leaves rounding errors of about 1e-15; nothing else comes near.
inline constexpr double kSingular = 1e-12;

// Features that are wider or larger than this have no bisector: products of their moments may overflow.
inline constexpr double kWidest = 0x1p500;

// Eigenvectors of small symmetric matrices by Jacobi rotations, of larger ones by LAPACK. Eigenvalues ascend.
class SmallEigen {
 public:
  Vector values, vectors;   // vectors as columns

  void solve(const Vector& a, std::size_t size) {
    values.resize(size);
    vectors.resize(size * size);
    switch (size) {
      case 2: return jacobi<2>(a.data());
      case 3: return jacobi<3>(a.data());
      case 4: return jacobi<4>(a.data());
      case 5: return jacobi<5>(a.data());
      case 6: return jacobi<6>(a.data());
      case 7: return jacobi<7>(a.data());
      case 8: return jacobi<8>(a.data());
    }
    general_.solve(a.data(), static_cast<int>(size));
    values = general_.values;
    vectors = general_.vectors;
  }

 private:
  // The lower triangle of m is kept; row i of v is an eigenvector in the making.
  template <std::size_t N>
  void jacobi(const double* a) {
    double m[N][N], v[N][N];
    double on = 0.0;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) {
        m[i][j] = a[i * N + j];
        v[i][j] = i == j ? 1.0 : 0.0;
        on += m[i][j] * m[i][j];
      }
    constexpr int sweeps = 30;   // 5 to 7 are enough in practice
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      double off = 0.0;
      for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = 0; j < i; ++j) off += m[i][j] * m[i][j];
      if (!(off > 1e-28 * on)) break;
      for (std::size_t i = 1; i < N; ++i)
        for (std::size_t j = 0; j < i; ++j) {
          if (!(m[i][j] * m[i][j] > 1e-30 * on)) continue;   // below what ends the sweeps, with what is left of others
          // The smaller of the two angles that make m[i][j] zero (Golub & Van Loan, 8.4).
          const double half = 0.5 * (m[i][i] - m[j][j]);
          const double length = std::sqrt(half * half + m[i][j] * m[i][j]);
          const double t = m[i][j] / (half >= 0.0 ? half + length : half - length);
          const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
          m[j][j] -= t * m[i][j];
          m[i][i] += t * m[i][j];
          m[i][j] = 0.0;
          for (std::size_t k = 0; k < N; ++k) {
            if (k == i || k == j) continue;
            double& x = k < j ? m[j][k] : m[k][j];
            double& y = k < i ? m[i][k] : m[k][i];
            const double p = x, q = y;
            x = c * p - s * q;
            y = s * p + c * q;
          }
          for (std::size_t k = 0; k < N; ++k) {
            const double p = v[j][k], q = v[i][k];
            v[j][k] = c * p - s * q;
            v[i][k] = s * p + c * q;
          }
        }
    }
    std::size_t order[N];
    for (std::size_t i = 0; i < N; ++i) {
      std::size_t at = i;
      for (; at > 0 && m[order[at - 1]][order[at - 1]] > m[i][i]; --at) order[at] = order[at - 1];
      order[at] = i;
    }
    for (std::size_t c = 0; c < N; ++c) {
      values[c] = m[order[c]][order[c]];
      for (std::size_t i = 0; i < N; ++i) vectors[c * N + i] = v[order[c]][i];
    }
  }
  SymmetricEigen general_;
};

// Lower Cholesky factor of a (size x size, row by row) in place; false at the first pivot that is not above `least`.
inline bool cholesky(double* a, std::size_t size, double least) {
  for (std::size_t j = 0; j < size; ++j) {
    double pivot = a[j * size + j];
    for (std::size_t k = 0; k < j; ++k) pivot -= a[j * size + k] * a[j * size + k];
    if (!(pivot > least)) return false;
    const double root = std::sqrt(pivot);
    a[j * size + j] = root;
    for (std::size_t i = j + 1; i < size; ++i) {
      double sum = a[i * size + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * size + k] * a[j * size + k];
      a[i * size + j] = sum / root;
    }
  }
  return true;
}

// Whether a covariance (size x size), which is overwritten, has a combination of features of variance below `least`. The
// largest pivot is taken first: in another order the last one is rounding noise blown up by those before it.
inline bool is_singular(double* a, std::size_t size, double least) {
  for (std::size_t step = 0; step < size; ++step) {
    std::size_t at = step;
    for (std::size_t j = step + 1; j < size; ++j)
      if (a[j * size + j] > a[at * size + at]) at = j;
    const double pivot = a[at * size + at];
    if (!(pivot > least)) return true;
    if (at != step) {
      for (std::size_t k = 0; k < size; ++k) std::swap(a[at * size + k], a[step * size + k]);
      for (std::size_t k = 0; k < size; ++k) std::swap(a[k * size + at], a[k * size + step]);
    }
    for (std::size_t i = step + 1; i < size; ++i) {
      const double factor = a[i * size + step] / pivot;
      for (std::size_t k = step + 1; k < size; ++k) a[i * size + k] -= factor * a[step * size + k];
    }
  }
  return false;
}

// The chosen features of a node's rows: column j of m from raw + j * n.
struct Gathered {
  const double* raw = nullptr;
  std::size_t n = 0, m = 0;
};

class MpsvmSplit {
 public:
  void configure(Regularisation regularisation, double delta) {
    regularisation_ = regularisation;
    delta_ = delta;
  }

  // Finds the bisectors at a node. False if there is none, or if the rule is `axis` and a matrix is singular.
  // `singular` says whether G or H was.
  bool find(const Bag& bag, const Gathered& x, std::vector<Plane>& planes, bool& singular) {
    planes.clear();
    singular = true;
    m_ = x.m;
    size_ = m_ + 1;
    measure(x);
    if (!(widest_ < kWidest)) return false;
    class_moments(bag, x);
    group_classes(bag);
    const bool first_singular = covariance_of(group_[0].data(), covariance_.data());
    const bool second_singular = covariance_of(group_[1].data(), covariance_.data());
    singular = first_singular || second_singular;
    if (singular && regularisation_ == Regularisation::axis) return false;
    if (singular && regularisation_ == Regularisation::null_space) return null_space(planes);
    if (first_singular) add_delta(group_[0]);
    if (second_singular) add_delta(group_[1]);
    return clustering_planes() && bisect(planes);
  }

 private:
  void measure(const Gathered& x) {
    standard_.centre.resize(m_);
    standard_.scale.resize(m_);
    range_.resize(m_);
    magnitude_.resize(m_);
    widest_ = 0.0;
    for (std::size_t j = 0; j < m_; ++j) {
      const Range r = range_of(x.raw + j * x.n, x.n);
      range_[j] = r.high - r.low;
      standard_.centre[j] = 0.5 * r.low + 0.5 * r.high;
      // A power of 2 at least as large as the range, so that no digit is lost.
      standard_.scale[j] = range_[j] > 0.0 ? std::ldexp(1.0, std::clamp(std::ilogb(range_[j]) + 1, -300, 300)) : 1.0;
      magnitude_[j] = std::max(std::fabs(r.low), std::fabs(r.high));
      widest_ = std::max({widest_, range_[j], magnitude_[j]});
    }
  }

  // Sum over the rows of a class of w [z 1]'[z 1], z in standard coordinates: the lower triangle, row by row.
  void class_moments(const Bag& bag, const Gathered& x) {
    length_ = size_ * (size_ + 1) / 2;
    moments_.assign(bag.runs->size() * length_, 0.0);
    std::size_t first = 0;
    for (std::size_t k = 0; k < bag.runs->size(); ++k) {
      const std::size_t n = (*bag.runs)[k].n;
      double* out = moments_.data() + k * length_;
      switch (m_) {
        case 1: add_rows<1>(bag, x, first, n, out); break;
        case 2: add_rows<2>(bag, x, first, n, out); break;
        case 3: add_rows<3>(bag, x, first, n, out); break;
        case 4: add_rows<4>(bag, x, first, n, out); break;
        case 5: add_rows<5>(bag, x, first, n, out); break;
        case 6: add_rows<6>(bag, x, first, n, out); break;
        default: add_rows<0>(bag, x, first, n, out);
      }
      first += n;
    }
  }

  // M: number of features, so that the loops unroll; 0 if it is only known as m_.
  template <std::size_t M>
  void add_rows(const Bag& bag, const Gathered& x, std::size_t first, std::size_t n, double* out) {
    const std::size_t m = M ? M : m_;
    double fixed[M ? M : 1], inverse[M ? M : 1], centre[M ? M : 1];
    double sums[M ? (M + 1) * (M + 2) / 2 : 1] = {};
    if constexpr (M == 0) row_.resize(m);
    double* z = M ? fixed : row_.data();
    if constexpr (M > 0)
      for (std::size_t j = 0; j < M; ++j) {
        inverse[j] = 1.0 / standard_.scale[j];
        centre[j] = standard_.centre[j];
      }
    double* sum = M ? sums : out;
    for (std::size_t i = first; i < first + n; ++i) {
      const double w = bag.weight[i];
      for (std::size_t j = 0; j < m; ++j)
        z[j] = M ? (x.raw[j * x.n + i] - centre[j]) * inverse[j]
                 : (x.raw[j * x.n + i] - standard_.centre[j]) / standard_.scale[j];
      std::size_t at = 0;
      for (std::size_t j = 0; j < m; ++j) {
        const double wz = w * z[j];
        for (std::size_t k = 0; k <= j; ++k) sum[at++] += wz * z[k];
      }
      for (std::size_t j = 0; j < m; ++j) sum[at++] += w * z[j];
      sum[at] += w;
    }
    if constexpr (M > 0)
      for (std::size_t i = 0; i < (M + 1) * (M + 2) / 2; ++i) out[i] = sums[i];
  }

  // Covariance of the moments, (m x m); returns whether it is singular.
  bool covariance_of(const double* moments, double* out) {
    const double* sums = moments + m_ * (m_ + 1) / 2;
    const double weight = sums[m_];
    row_.resize(m_);
    for (std::size_t j = 0; j < m_; ++j) row_[j] = sums[j] / weight;
    std::size_t at = 0;
    for (std::size_t j = 0; j < m_; ++j)
      for (std::size_t k = 0; k <= j; ++k, ++at)
        out[j * m_ + k] = out[k * m_ + j] = moments[at] / weight - row_[j] * row_[k];
    factor_.assign(out, out + m_ * m_);
    return is_singular(factor_.data(), m_, kSingular);
  }

  // Cholesky factor of a covariance, lower and row by row in place, with the inverse of its diagonal there instead of the
  // diagonal. Pivots lost to rounding count as kSingular of the largest variance, squared. Returns the logarithm of the
  // determinant of the covariance. M: as in add_rows.
  template <std::size_t M>
  double factor_covariance(double* a) const {
    const std::size_t m = M ? M : m_;
    double largest = 0.0;
    for (std::size_t j = 0; j < m; ++j) largest = std::max(largest, a[j * m + j]);
    const double least = std::max(kSingular * kSingular * largest, 1e-290);
    double product = 1.0, sum = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
      double pivot = a[j * m + j];
      for (std::size_t k = 0; k < j; ++k) pivot -= a[j * m + k] * a[j * m + k];
      pivot = std::max(pivot, least);
      product *= pivot;
      if (!(product > 1e-100 && product < 1e100)) {
        sum += std::log(product);
        product = 1.0;
      }
      const double inverse = 1.0 / std::sqrt(pivot);
      a[j * m + j] = inverse;
      for (std::size_t i = j + 1; i < m; ++i) {
        double left = a[i * m + j];
        for (std::size_t k = 0; k < j; ++k) left -= a[i * m + k] * a[j * m + k];
        a[i * m + j] = left * inverse;
      }
    }
    return sum + std::log(product);
  }

  // Equation 10, between the normal distributions of two classes.
  template <std::size_t M>
  double bhattacharyya(std::size_t a, std::size_t b) {
    const std::size_t m = M ? M : m_, mm = m * m;
    double fixed[M ? M * M : 1], solved[M ? M : 1];
    double *factor = M ? fixed : factor_.data(), *row = M ? solved : row_.data();
    const double *ca = covariances_.data() + a * mm, *cb = covariances_.data() + b * mm;
    for (std::size_t i = 0; i < mm; ++i) factor[i] = 0.5 * (ca[i] + cb[i]);
    const double log_determinant = factor_covariance<M>(factor);
    double square = 0.0;   // of L^-1 (mean - mean)
    for (std::size_t j = 0; j < m; ++j) {
      double sum = means_[a * m + j] - means_[b * m + j];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[j * m + k] * row[k];
      row[j] = sum * factor[j * m + j];
      square += row[j] * row[j];
    }
    return 0.125 * square + 0.5 * (log_determinant - 0.5 * (logs_[a] + logs_[b]));
  }

  // Distances between all classes, and the places of the two most distant.
  template <std::size_t M>
  std::pair<std::size_t, std::size_t> most_distant(std::size_t n_classes) {
    const std::size_t mm = m_ * m_;
    factor_.resize(mm);
    row_.resize(m_);
    for (std::size_t k = 0; k < n_classes; ++k) {
      std::copy_n(covariances_.begin() + static_cast<std::ptrdiff_t>(k * mm), mm, factor_.begin());
      logs_[k] = factor_covariance<M>(factor_.data());
    }
    std::pair<std::size_t, std::size_t> seeds{0, 1};
    double furthest = -1.0;
    for (std::size_t a = 0; a < n_classes; ++a)
      for (std::size_t b = a + 1; b < n_classes; ++b) {
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
    const std::size_t n_classes = bag.runs->size(), mm = m_ * m_;
    covariance_.resize(mm);
    side_.assign(n_classes, 1);
    if (n_classes == 2) {
      side_[0] = 0;
    } else {
      covariances_.resize(n_classes * mm);
      means_.resize(n_classes * m_);
      logs_.resize(n_classes);
      for (std::size_t k = 0; k < n_classes; ++k) {
        const double* moments = moments_.data() + k * length_;
        const double* sums = moments + length_ - size_;
        for (std::size_t j = 0; j < m_; ++j) means_[k * m_ + j] = sums[j] / sums[m_];
        double* c = covariances_.data() + k * mm;
        if (covariance_of(moments, c))
          for (std::size_t j = 0; j < m_; ++j) c[j * m_ + j] += delta_ / (standard_.scale[j] * standard_.scale[j]);
      }
      distance_.assign(n_classes * n_classes, 0.0);
      const auto [first, second] = m_ == 1   ? most_distant<1>(n_classes)
                                   : m_ == 2 ? most_distant<2>(n_classes)
                                   : m_ == 3 ? most_distant<3>(n_classes)
                                   : m_ == 4 ? most_distant<4>(n_classes)
                                   : m_ == 5 ? most_distant<5>(n_classes)
                                   : m_ == 6 ? most_distant<6>(n_classes)
                                             : most_distant<0>(n_classes);
      for (std::size_t k = 0; k < n_classes; ++k)
        side_[k] = distance_[k * n_classes + first] <= distance_[k * n_classes + second] ? 0 : 1;
      side_[first] = 0;
      side_[second] = 1;
    }
    for (Vector& group : group_) group.assign(length_, 0.0);
    for (std::size_t k = 0; k < n_classes; ++k)
      for (std::size_t i = 0; i < length_; ++i) group_[side_[k]][i] += moments_[k * length_ + i];
  }

  // Adds delta * I of the original coordinates (equation 11) to moments over standard ones: delta times the squared
  // length of (w, b) as a function of the plane (u, v) over z, w_j = u_j / s_j and b = v - sum of c_j u_j / s_j.
  void add_delta(Vector& moments) {
    std::size_t at = 0;
    const auto slope = [&](std::size_t j) { return standard_.centre[j] / standard_.scale[j]; };
    for (std::size_t j = 0; j < m_; ++j)
      for (std::size_t k = 0; k <= j; ++k, ++at) {
        moments[at] += delta_ * slope(j) * slope(k);
        if (j == k) moments[at] += delta_ / (standard_.scale[j] * standard_.scale[j]);
      }
    for (std::size_t j = 0; j < m_; ++j, ++at) moments[at] -= delta_ * slope(j);
    moments[at] += delta_;
  }

  void unpack(const Vector& moments, double factor, Vector& out) const {
    out.resize(size_ * size_);
    std::size_t at = 0;
    for (std::size_t j = 0; j < size_; ++j)
      for (std::size_t k = 0; k <= j; ++k, ++at) out[j * size_ + k] = out[k * size_ + j] = factor * moments[at];
  }

  // The planes that minimise z'Gz / z'Hz and z'Hz / z'Gz (equations 6 and 8): the last and the first eigenvector of the
  // pencil (H, G + H), whose eigenvalues lie between 0 and 1 however near G and H are to singular.
  bool clustering_planes() {
    unpack(group_[0], 1.0, g_);
    unpack(group_[1], 1.0, h_);
    factor_.resize(size_ * size_);
    double largest = 0.0;
    for (std::size_t i = 0; i < size_ * size_; ++i) factor_[i] = g_[i] + h_[i];
    for (std::size_t j = 0; j < size_; ++j) largest = std::max(largest, factor_[j * size_ + j]);
    if (!cholesky(factor_.data(), size_, 1e-15 * largest)) return false;
    solve_lower(h_);
    eigen_.solve(h_, size_);
    return back(true, first_) && back(false, second_);
  }

  // a = L^-1 a L^-T, a symmetric.
  void solve_lower(Vector& a) const {
    for (int pass = 0; pass < 2; ++pass) {
      // L^-1 a, row by row; then the same for the transpose.
      for (std::size_t i = 0; i < size_; ++i) {
        double* __restrict row = a.data() + i * size_;
        for (std::size_t k = 0; k < i; ++k) {
          const double factor = factor_[i * size_ + k];
          const double* earlier = a.data() + k * size_;
          for (std::size_t c = 0; c < size_; ++c) row[c] -= factor * earlier[c];
        }
        const double pivot = factor_[i * size_ + i];
        for (std::size_t c = 0; c < size_; ++c) row[c] /= pivot;
      }
      for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t j = 0; j < i; ++j) std::swap(a[i * size_ + j], a[j * size_ + i]);
    }
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j < i; ++j)
        a[i * size_ + j] = a[j * size_ + i] = 0.5 * (a[i * size_ + j] + a[j * size_ + i]);
  }

  // The plane of the last or the first eigenvector. Where its eigenvalue is repeated, the first vector of the canonical
  // basis of all solutions, which depends on no solver.
  bool back(bool last, Vector& plane) {
    const std::size_t end = last ? size_ - 1 : 0;
    std::size_t count = 1;
    const auto place = [&](std::size_t c) { return last ? end - c : c; };
    while (count < size_ && std::fabs(eigen_.values[place(count)] - eigen_.values[end]) <= 1e-10) ++count;
    solutions_.assign(count * size_, 0.0);
    for (std::size_t c = 0; c < count; ++c) {
      double* out = solutions_.data() + c * size_;
      const double* v = eigen_.vectors.data() + place(c) * size_;
      for (std::size_t i = size_; i-- > 0;) {
        double sum = v[i];
        for (std::size_t k = i + 1; k < size_; ++k) sum -= factor_[k * size_ + i] * out[k];
        out[i] = sum / factor_[i * size_ + i];
      }
    }
    if (count > 1) {
      for (std::size_t c = 0; c < count; ++c) standard_.to_original(solutions_.data() + c * size_);
      orthonormalise(solutions_, size_);
      canonical_basis(solutions_.data(), static_cast<int>(count), size_);
      standard_.to_standard(solutions_.data());
    }
    plane.assign(solutions_.begin(), solutions_.begin() + static_cast<std::ptrdiff_t>(size_));
    return to_centred(plane);
  }

  // Turns a plane over z into one over x less the centre, of unit normal; false if it has none.
  bool to_centred(Vector& plane) const {
    double largest = 0.0;
    for (std::size_t j = 0; j < m_; ++j) largest = std::max(largest, std::fabs(plane[j]));
    if (!(largest > 1e-14 * std::fabs(plane[m_]))) return false;
    for (std::size_t j = 0; j < m_; ++j) plane[j] /= standard_.scale[j];
    return normalise_plane(plane.data(), m_);
  }

  // The null-space method of the geometric decision tree.
  bool null_space(std::vector<Plane>& planes) {
    const double first = group_[0][length_ - 1], second = group_[1][length_ - 1];
    unpack(group_[0], 1.0 / first, g_);
    unpack(group_[1], 1.0 / second, h_);
    first_.resize(size_);
    second_.resize(size_);
    for (const bool swapped : {false, true}) {
      Vector& plane = swapped ? second_ : first_;
      const Hyperplane kind = solver_.solve(swapped ? h_.data() : g_.data(), swapped ? g_.data() : h_.data(),
                                            static_cast<int>(size_), standard_, plane.data());
      if (kind == Hyperplane::none || !has_normal(plane.data(), m_, standard_)) return false;
      standard_.to_standard(plane.data());
      if (!to_centred(plane)) return false;
    }
    return bisect(planes);
  }

  // Thresholds are moved back from the centre, and a little up: rows on the plane itself belong to the left, whatever
  // side rounding puts them on.
  bool bisect(std::vector<Plane>& planes) {
    angle_bisectors(first_.data(), second_.data(), m_, planes);
    for (Plane& plane : planes) {
      double along_range = 0.0, along_magnitude = 0.0;
      for (std::size_t j = 0; j < m_; ++j) {
        plane.t += plane.w[j] * standard_.centre[j];
        along_range += std::fabs(plane.w[j]) * range_[j];
        along_magnitude += std::fabs(plane.w[j]) * magnitude_[j];
      }
      plane.t += Spread::gap(along_range, along_magnitude);
    }
    std::erase_if(planes, [](const Plane& plane) { return !std::isfinite(plane.t); });
    return !planes.empty();
  }

  Regularisation regularisation_ = Regularisation::tikhonov;
  double delta_ = 0.01, widest_ = 0.0;
  std::size_t m_ = 0, size_ = 0, length_ = 0;
  Standard standard_;
  Vector range_, magnitude_, moments_, covariance_, covariances_, means_, logs_, distance_, factor_, row_;
  Vector group_[2], g_, h_, first_, second_, solutions_;
  std::vector<unsigned char> side_;
  SmallEigen eigen_;
  ClusteringHyperplane solver_;
};

}  // namespace oblique
