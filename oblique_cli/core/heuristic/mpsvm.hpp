// The split of an MPSVM tree (Zhang & Suganthan 2014, section II-D): the two clustering hyperplanes of the
// hyper-classes of a node, and their bisectors.
#pragma once

#include "heuristic/hyper_classes.hpp"

namespace oblique {

enum class Regularization { tikhonov, axis, null_space };

// Features with a larger range or magnitude have no bisector: products of their moments may overflow.
inline constexpr double kWidest = 0x1p500;

class MpsvmSplit {
 public:
  void configure(Regularization regularization, double delta) {
    regularization_ = regularization;
    delta_ = delta;
    classes_.configure(delta);
  }

  // Finds the bisectors at a node, and whether G or H is singular. False without a bisector, or if `axis` excludes it.
  bool find(const Bag& bag, const Gathered& x, std::vector<Plane>& planes, bool& singular) {
    planes.clear();
    singular = true;
    m_ = x.m;
    size_ = m_ + 1;
    if (!(classes_.begin(x) < kWidest)) return false;
    classes_.find(bag, x);
    const bool first_singular = classes_.is_singular(0);
    const bool second_singular = classes_.is_singular(1);
    singular = first_singular || second_singular;
    if (singular && regularization_ == Regularization::axis) return false;
    if (singular && regularization_ == Regularization::null_space) return null_space(planes);
    if (first_singular) add_delta(classes_.moments(0));
    if (second_singular) add_delta(classes_.moments(1));
    return clustering_planes() && bisect(planes);
  }

 private:
  // Adds delta * I of the original coordinates (equation 11) to moments over standard ones: delta times the squared
  // length of (w, b) as a function of the plane (u, v) over z, w_j = u_j / s_j and b = v - sum of c_j u_j / s_j.
  void add_delta(Vector& moments) {
    size_t at = 0;
    const auto slope = [&](size_t j) { return classes_.standard().center[j] / classes_.standard().scale[j]; };
    for (size_t j = 0; j < m_; ++j)
      for (size_t k = 0; k <= j; ++k, ++at) {
        moments[at] += delta_ * slope(j) * slope(k);
        if (j == k) moments[at] += delta_ / (classes_.standard().scale[j] * classes_.standard().scale[j]);
      }
    for (size_t j = 0; j < m_; ++j, ++at) moments[at] -= delta_ * slope(j);
    moments[at] += delta_;
  }

  void unpack(const Vector& moments, double factor, Vector& out) const {
    out.resize(size_ * size_);
    size_t at = 0;
    for (size_t j = 0; j < size_; ++j)
      for (size_t k = 0; k <= j; ++k, ++at) out[j * size_ + k] = out[k * size_ + j] = factor * moments[at];
  }

  // The planes that minimize z'Gz / z'Hz and z'Hz / z'Gz (equations 6 and 8): the last and the first eigenvector of the
  // pencil (H, G + H), whose eigenvalues lie between 0 and 1 even if G and H are nearly singular. Rows and columns are
  // divided by the square root of the diagonal, rounded to a power of 2 so that no digit changes: delta of original
  // coordinates is up to (center / range)^2 times as large for one feature as for another, and only a pivot that is
  // small compared with its own diagonal is lost to rounding.
  bool clustering_planes() {
    unpack(classes_.moments(0), 1.0, g_);
    unpack(classes_.moments(1), 1.0, h_);
    factor_.resize(size_ * size_);
    unit_.resize(size_);
    for (size_t j = 0; j < size_; ++j) {
      const double diagonal = g_[j * size_ + j] + h_[j * size_ + j];
      if (!(diagonal > 0.0 && std::isfinite(diagonal))) return false;
      unit_[j] = std::ldexp(1.0, -(std::ilogb(diagonal) >> 1));
    }
    for (size_t j = 0, i = 0; j < size_; ++j)
      for (size_t k = 0; k < size_; ++k, ++i) {
        h_[i] *= unit_[j] * unit_[k];
        factor_[i] = g_[i] * (unit_[j] * unit_[k]) + h_[i];
      }
    if (!cholesky(factor_.data(), size_, 1e-15)) return false;
    solve_lower(h_);
    eigen_.solve(h_, size_);
    return back(true, first_) && back(false, second_);
  }

  // a = L^-1 a L^-T, a symmetric.
  void solve_lower(Vector& a) const {
    for (int pass = 0; pass < 2; ++pass) {
      // L^-1 a, row by row; then the same for the transpose.
      for (size_t i = 0; i < size_; ++i) {
        double* __restrict row = a.data() + i * size_;
        checkpoint(i * size_);
        for (size_t k = 0; k < i; ++k) {
          const double factor = factor_[i * size_ + k];
          const double* earlier = a.data() + k * size_;
          for (size_t c = 0; c < size_; ++c) row[c] -= factor * earlier[c];
        }
        const double pivot = factor_[i * size_ + i];
        for (size_t c = 0; c < size_; ++c) row[c] /= pivot;
      }
      for (size_t i = 0; i < size_; ++i)
        for (size_t j = 0; j < i; ++j) std::swap(a[i * size_ + j], a[j * size_ + i]);
    }
    for (size_t i = 0; i < size_; ++i)
      for (size_t j = 0; j < i; ++j) a[i * size_ + j] = a[j * size_ + i] = 0.5 * (a[i * size_ + j] + a[j * size_ + i]);
  }

  // The plane of the last or the first eigenvector. If its eigenvalue is repeated: the first vector of the canonical
  // basis of all solutions, which does not depend on the solver.
  bool back(bool last, Vector& plane) {
    const size_t end = last ? size_ - 1 : 0;
    size_t count = 1;
    const auto place = [&](size_t c) { return last ? end - c : c; };
    while (count < size_ && std::fabs(eigen_.values[place(count)] - eigen_.values[end]) <= 1e-10) ++count;
    solutions_.assign(count * size_, 0.0);
    for (size_t c = 0; c < count; ++c) {
      checkpoint(size_ * size_);
      double* out = solutions_.data() + c * size_;
      const double* v = eigen_.vectors.data() + place(c) * size_;
      for (size_t i = size_; i-- > 0;) {
        double sum = v[i];
        for (size_t k = i + 1; k < size_; ++k) sum -= factor_[k * size_ + i] * out[k];
        out[i] = sum / factor_[i * size_ + i];
      }
      for (size_t i = 0; i < size_; ++i) out[i] *= unit_[i];
    }
    if (count > 1) {
      for (size_t c = 0; c < count; ++c) classes_.standard().to_original(solutions_.data() + c * size_);
      orthonormalize(solutions_, size_);
      canonical_basis(solutions_.data(), static_cast<int>(count), size_);
      classes_.standard().to_standard(solutions_.data());
    }
    plane.assign(solutions_.begin(), solutions_.begin() + size_);
    return to_centered(plane);
  }

  // Converts a plane over z to a plane over x minus the center, with unit normal; false if it has none.
  bool to_centered(Vector& plane) const {
    double largest = 0.0;
    for (size_t j = 0; j < m_; ++j) largest = std::max(largest, std::fabs(plane[j]));
    if (!(largest > 1e-14 * std::fabs(plane[m_]))) return false;
    for (size_t j = 0; j < m_; ++j) plane[j] /= classes_.standard().scale[j];
    return normalize_plane(plane.data(), m_);
  }

  // The null-space method of the geometric decision tree.
  bool null_space(std::vector<Plane>& planes) {
    const double first = classes_.moments(0).back(), second = classes_.moments(1).back();
    unpack(classes_.moments(0), 1.0 / first, g_);
    unpack(classes_.moments(1), 1.0 / second, h_);
    first_.resize(size_);
    second_.resize(size_);
    for (const bool swapped : {false, true}) {
      Vector& plane = swapped ? second_ : first_;
      const Hyperplane kind = solver_.solve(swapped ? h_.data() : g_.data(), swapped ? g_.data() : h_.data(),
                                            static_cast<int>(size_), classes_.standard(), plane.data());
      if (kind == Hyperplane::none || !has_normal(plane.data(), m_, classes_.standard())) return false;
      classes_.standard().to_standard(plane.data());
      if (!to_centered(plane)) return false;
    }
    return bisect(planes);
  }

  // Moves thresholds back from the center, and up by the rounding error: rows on the plane belong to the left, on
  // whichever side rounding puts them.
  bool bisect(std::vector<Plane>& planes) {
    angle_bisectors(first_.data(), second_.data(), m_, planes);
    for (Plane& plane : planes) {
      double along_range = 0.0, along_magnitude = 0.0;
      for (size_t j = 0; j < m_; ++j) {
        plane.t += plane.w[j] * classes_.standard().center[j];
        along_range += std::fabs(plane.w[j]) * classes_.range()[j];
        along_magnitude += std::fabs(plane.w[j]) * classes_.magnitude()[j];
      }
      plane.t += Spread::gap(along_range, along_magnitude);
    }
    std::erase_if(planes, [](const Plane& plane) { return !std::isfinite(plane.t); });
    return !planes.empty();
  }

  Regularization regularization_ = Regularization::tikhonov;
  double delta_ = 0.01;
  size_t m_ = 0, size_ = 0;
  HyperClasses classes_;
  Vector factor_, g_, h_, unit_, first_, second_, solutions_;
  SmallEigen eigen_;
  ClusteringHyperplane solver_;
};

}  // namespace oblique
