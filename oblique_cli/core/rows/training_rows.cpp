#include "rows/training_rows.hpp"

namespace oblique {

Vector inverse_scales(const Columns& x, const double* weights, Scaling scaling) {
  constexpr double most = 1e308, steepest = 1e10;
  Vector inverse(x.p);
  double largest = 0.0;
  for (size_t j = 0; j < x.p; ++j) {
    const double* column = x.column(j);
    const Range range = range_of(column, x.n);
    const double half = 0.5 * range.high - 0.5 * range.low;
    if (!(range.high > range.low)) continue;
    largest = std::max({largest, std::fabs(range.low), std::fabs(range.high)});
    inverse[j] = half > 0.0 ? std::min(0.5 / half, most) : most;
    if (scaling != Scaling::deviation) continue;
    double total = 0.0, mean = 0.0, square = 0.0;
    for (size_t i = 0; i < x.n; ++i) {
      const double w = weights ? weights[i] : 1.0;
      total += w;
      mean += w * (column[i] * inverse[j]);
    }
    mean /= total;
    for (size_t i = 0; i < x.n; ++i) {
      const double z = column[i] * inverse[j] - mean;
      square += (weights ? weights[i] : 1.0) * z * z;
    }
    if (square > 0.0) inverse[j] = std::min({inverse[j] / std::sqrt(square / total), steepest * inverse[j], most});
  }
  if (scaling != Scaling::none) return inverse;
  const bool moderate = largest < 0x1p400 && largest > 0x1p-400;
  const double factor = moderate || largest == 0.0
                            ? 1.0
                            : std::ldexp(1.0, std::min(-std::clamp(std::ilogb(largest), -1100, 1100) - 2, 1023));
  for (double& each : inverse) each = each > 0.0 ? factor : 0.0;
  return inverse;
}

std::vector<std::vector<int32_t>> draw_groups(Stream stream, size_t p, size_t size) {
  std::vector<int32_t> order(p);
  for (size_t j = 0; j < p; ++j) order[j] = static_cast<int32_t>(j);
  for (size_t j = 0; j + 1 < p; ++j) std::swap(order[j], order[j + stream.below(p - j)]);
  std::vector<std::vector<int32_t>> groups;
  for (size_t first = 0; first < p; first += size)
    groups.emplace_back(order.begin() + first, order.begin() + (std::min(p, first + size)));
  const size_t others = p - groups.back().size();
  for (size_t drawn = 0; groups.back().size() < std::min(size, p); ++drawn) {
    std::swap(order[drawn], order[drawn + stream.below(others - drawn)]);
    groups.back().push_back(order[drawn]);
  }
  return groups;
}

Rotation draw_rotation(uint64_t tree_seed, const Columns& x, const double* weights, const Vector& inverse,
                       size_t group_size) {
  Rotation out;
  out.start.push_back(0);
  std::vector<uint32_t> draws;
  SymmetricEigen eigen;
  Vector mean, covariance, axes;
  const auto value = [&](int32_t j, size_t i) { return x.column(j)[i] * inverse[j]; };
  const auto groups = draw_groups(Stream(tree_seed, 0, 2), x.p, std::min(group_size, x.p));
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    const size_t size = group.size();
    draw_bootstrap(Stream(tree_seed, 0, 3 + g), x.n, x.n, draws);
    mean.assign(size, 0.0);
    covariance.assign(size * size, 0.0);
    double total = 0.0;
    for (size_t i = 0; i < x.n; ++i) {
      const double w = draws[i] * (weights ? weights[i] : 1.0);
      total += w;
      if (w > 0.0)
        for (size_t a = 0; a < size; ++a) mean[a] += w * value(group[a], i);
    }
    for (double& each : mean) each /= total;
    for (size_t i = 0; i < x.n; ++i) {
      const double w = draws[i] * (weights ? weights[i] : 1.0);
      if (w > 0.0)
        for (size_t a = 0; a < size; ++a)
          for (size_t b = 0; b <= a; ++b)
            covariance[a * size + b] += w * (value(group[a], i) - mean[a]) * (value(group[b], i) - mean[b]);
    }
    for (size_t a = 0; a < size; ++a)
      for (size_t b = 0; b <= a; ++b) covariance[b * size + a] = covariance[a * size + b] /= total;
    axes.clear();
    const int n_axes = principal_axes(eigen, covariance.data(), static_cast<int>(size), 1e-10, -1.0, false, axes);
    for (int c = 0; c < n_axes; ++c) {
      for (size_t a = 0; a < size; ++a) {
        out.feature.push_back(group[a]);
        out.coef.push_back(axes[static_cast<size_t>(c) * size + a] * inverse[group[a]]);
      }
      out.start.push_back(static_cast<int32_t>(out.feature.size()));
    }
  }
  return out;
}

void rotate(const Rotation& rotation, const Columns& x, Columns& out) {
  out.resize(x.n, rotation.size());
  for (size_t q = 0; q < rotation.size(); ++q) {
    double* z = out.column(q);
    for (int32_t t = rotation.start[q]; t < rotation.start[q + 1]; ++t) {
      const double c = rotation.coef[t];
      const double* column = x.column(rotation.feature[t]);
      if (t == rotation.start[q])
        for (size_t i = 0; i < x.n; ++i) z[i] = c * column[i];
      else
        for (size_t i = 0; i < x.n; ++i) z[i] += c * column[i];
    }
  }
}

}  // namespace oblique
