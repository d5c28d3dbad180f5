#include "heuristic/clustering_planes.hpp"

#include "heuristic/row_span.hpp"

namespace oblique {

void Standard::to_original(double* wb) const {
  for (size_t j = 0; j < scale.size(); ++j) {
    wb[j] /= scale[j];
    wb[scale.size()] -= center[j] * wb[j];
  }
}

void Standard::to_standard(double* wb) const {
  for (size_t j = 0; j < scale.size(); ++j) {
    wb[scale.size()] += center[j] * wb[j];
    wb[j] *= scale[j];
  }
}

Standard Standard::of(const Vector& centers, const Vector& ranges) {
  Standard out{centers, Vector(ranges.size(), 1.0)};
  for (size_t j = 0; j < ranges.size(); ++j)
    if (ranges[j] > 0.0) out.scale[j] = std::exp2(std::ceil(std::log2(ranges[j])));
  return out;
}

Standard Standard::over_units_of(int power) const {
  Standard out = *this;
  for (double& each : out.center) each = std::ldexp(each, -power);
  for (size_t j = 0; j < scale.size(); ++j) out.scale[j] = std::ldexp(scale[j], -power);
  return out;
}

Hyperplane ClusteringHyperplane::solve(const double* a, const double* b, int m, const Standard& standard, double* w,
                                       const RowSpan* span) {
  const size_t size = m;
  first_.solve(a, m);
  const double eps = std::numeric_limits<double>::epsilon() * m;
  const double largest = first_.values[size - 1];
  if (!(largest > 0.0)) return Hyperplane::none;
  size_t null = 0;
  while (null < size && !(first_.values[null] > eps * largest)) ++null;
  // An orthonormal basis of N(A) over x, and the same planes over z.
  null_.assign(first_.vectors.begin(), first_.vectors.begin() + null * size);
  if (null > 0) {
    double trace_b = 0.0;
    for (size_t i = 0; i < size; ++i) trace_b += b[i * size + i];
    project(b, null_, size);
    second_.solve_dominant(projected_.data(), static_cast<int>(null));
    const bool outside = second_.values.back() > 16.0 * eps * trace_b;
    for (size_t c = 0; c < null; ++c) standard.to_original(null_.data() + c * size);
    orthonormalize(null_, size);
    if (outside) {
      basis_ = null_;
      for (size_t c = 0; c < null; ++c) standard.to_standard(basis_.data() + c * size);
      project(b, basis_, size);
      second_.solve_dominant(projected_.data(), static_cast<int>(null));
      leading(null_, size, w, span, false);
      return Hyperplane::null_space;
    }
  }
  // Within the range of A: y maximizes y'D^-1/2 R'BR D^-1/2 y, w = R D^-1/2 y.
  basis_.assign(first_.vectors.begin() + null * size, first_.vectors.end());
  for (size_t c = 0; c + null < size; ++c) {
    const double factor = 1.0 / std::sqrt(first_.values[null + c]);
    for (size_t j = 0; j < size; ++j) basis_[c * size + j] *= factor;
  }
  project(b, basis_, size);
  second_.solve_dominant(projected_.data(), m - static_cast<int>(null));
  for (size_t c = 0; c + null < size; ++c) standard.to_original(basis_.data() + c * size);
  leading(basis_, size, w, span, true);
  if (!span) take_out_null_space(w, size);
  return null > 0 ? Hyperplane::range_space : Hyperplane::full_rank;
}

// Of all planes that differ by a member of N(A), takes the plane in the range of A over x.
void ClusteringHyperplane::take_out_null_space(double* w, size_t size) const {
  for (size_t at = 0; at < null_.size(); at += size) {
    const double* q = null_.data() + at;
    add_scaled(-dot_columns(q, w, size), q, w, size);
  }
}

void ClusteringHyperplane::project(const double* b, const Vector& q, size_t size) {
  const size_t width = q.size() / size;
  half_.assign(q.size(), 0.0);
  projected_.assign(width * width, 0.0);
  for (size_t c = 0; c < width; ++c) {
    for (size_t i = 0; i < size; ++i) add_scaled(q[c * size + i], b + i * size, half_.data() + c * size, size);
    checkpoint(size * size);
  }
  for (size_t c = 0; c < width; ++c) {
    for (size_t d = 0; d <= c; ++d)
      projected_[c * width + d] = projected_[d * width + c] =
          dot_columns(q.data() + d * size, half_.data() + c * size, size);
    checkpoint(c * size);
  }
}

void ClusteringHyperplane::leading(const Vector& q, size_t size, double* w, const RowSpan* span, bool within_range) {
  const size_t count = second_.values.size(), width = q.size() / size;
  const double largest = second_.values[count - 1];
  size_t first = count - 1;
  while (first > 0 && largest - second_.values[first - 1] <= 1e-10 * std::fabs(largest)) --first;
  solutions_.assign(size * (count - first), 0.0);
  for (size_t c = first; c < count; ++c)
    for (size_t k = 0; k < width; ++k)
      add_scaled(second_.vector(static_cast<int>(c))[k], q.data() + k * size, solutions_.data() + (c - first) * size,
                 size);
  if (span) {
    Vector over_features((span->n_features() + 1) * (count - first));
    for (size_t c = 0; c < count - first; ++c) {
      double* solution = solutions_.data() + c * size;
      if (within_range) take_out_null_space(solution, size);
      span->to_features(solution, over_features.data() + c * (span->n_features() + 1));
    }
    solutions_.swap(over_features);
    size = span->n_features() + 1;
  }
  if (count - first > 1) {
    orthonormalize(solutions_, size);
    canonical_basis(solutions_.data(), static_cast<int>(count - first), size);
  }
  std::copy_n(solutions_.begin(), size, w);
}

bool has_normal(const double* wb, size_t p, const Standard& standard) {
  Vector z(wb, wb + p + 1);
  double w = 0.0;
  for (size_t j = 0; j < p; ++j) {
    z[p] += standard.center[j] * z[j];
    w = std::max(w, std::fabs(z[j] * standard.scale[j]));
  }
  return w > 1e-14 * std::fabs(z[p]);
}

bool normalize_plane(double* wb, size_t p) {
  double largest = 0.0;
  for (size_t j = 0; j < p; ++j) largest = std::max(largest, std::fabs(wb[j]));
  if (!(largest > 0.0) || !std::isfinite(largest)) return false;
  for (size_t j = 0; j <= p; ++j) wb[j] /= largest;
  const double length = norm(wb, p);
  for (size_t j = 0; j <= p; ++j) wb[j] /= length;
  orient(wb, p, -1.0, 1);
  return true;
}

void angle_bisectors(const double* first, const double* second, size_t p, std::vector<Plane>& out) {
  out.clear();
  const double cosine = dot_columns(first, second, p);
  Vector wb(p + 1);
  const auto keep = [&]() {
    if (!normalize_plane(wb.data(), p)) return;
    out.push_back(Plane{Vector(wb.begin(), wb.begin() + p), -wb[p]});
  };
  if (std::fabs(cosine) > 1.0 - 1e-12) {
    const double align = cosine > 0.0 ? 1.0 : -1.0;
    for (size_t j = 0; j < p; ++j) wb[j] = first[j];
    wb[p] = 0.5 * (first[p] + align * second[p]);
    keep();
    return;
  }
  for (size_t j = 0; j <= p; ++j) wb[j] = first[j] + second[j];
  keep();
  for (size_t j = 0; j <= p; ++j) wb[j] = first[j] - second[j];
  keep();
}

}  // namespace oblique
