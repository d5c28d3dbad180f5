// The rows of a forest: their columns and ranks, draws of rows and features, and rotations of features.
#pragma once

#include "common/eigen.hpp"
#include "common/key_sort.hpp"
#include "common/random.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// How often each of n rows is drawn in `count` draws with replacement.
inline void draw_bootstrap(Stream stream, size_t n, size_t count, std::vector<uint32_t>& draws) {
  draws.assign(n, 0);
  for (size_t i = 0; i < count; ++i) ++draws[stream.below(n)];
}

// The draw of the rows of a tree.
struct RowDraw {
  bool bootstrap = true;  // with replacement
  size_t count = 0;       // draws, 0: the number of rows

  // Whether a tree sees all rows once.
  bool takes_all(size_t n) const { return !bootstrap && (count == 0 || count >= n); }

  // How often each of n rows is drawn for a tree.
  void draw(uint64_t tree_seed, size_t n, std::vector<uint32_t>& draws) const {
    Stream stream(tree_seed, 0, 1);
    const size_t wanted = count == 0 ? n : count;
    if (bootstrap) return draw_bootstrap(stream, n, wanted, draws);
    if (takes_all(n)) return draws.assign(n, 1);
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    draws.assign(n, 0);
    for (size_t i = 0; i < wanted; ++i) {
      std::swap(order[i], order[i + stream.below(n - i)]);
      draws[order[i]] = 1;
    }
  }
};

// The first features of a random order, drawn on demand; restored before the next node, whose stream alone decides.
class FeatureDraw {
 public:
  // p : number of features
  void begin_tree(size_t p) {
    features_.resize(p);
    std::iota(features_.begin(), features_.end(), 0);
    swapped_.clear();
  }
  // Restricts the tree to `count` of its features, in their order.
  void keep(size_t count, Stream stream) {
    while (size() < count) draw(stream);
    features_.resize(count);
    std::sort(features_.begin(), features_.end());
    swapped_.clear();
  }
  // Takes all features, in their order.
  void take_all() {
    while (size() < features_.size()) swapped_.push_back(size());
  }
  void begin_node() {
    for (size_t i = swapped_.size(); i-- > 0;) std::swap(features_[i], features_[swapped_[i]]);
    swapped_.clear();
  }
  void draw(Stream& stream) {
    const size_t place = swapped_.size(), other = place + stream.below(features_.size() - place);
    std::swap(features_[place], features_[other]);
    swapped_.push_back(other);
  }

  size_t size() const { return swapped_.size(); }
  size_t total() const { return features_.size(); }
  int32_t operator[](size_t i) const { return features_[i]; }

 private:
  std::vector<int32_t> features_;  // a permutation
  std::vector<size_t> swapped_;    // place i was swapped with
};

// Training rows of a forest by columns, and the ranks of their values.
struct Columns {
  size_t n = 0, p = 0;
  std::vector<double> values;  // column j from j * n
  // Index of each value among the distinct values of its column, from 0; computed on demand.
  std::vector<uint32_t> ranks;
  std::vector<unsigned char> ranked;  // whether the ranks of a column are computed

  void resize(size_t rows, size_t columns) {
    n = rows;
    p = columns;
    values.resize(n * p);
    ranked.assign(p, 0);
  }
  double* column(size_t j) { return values.data() + j * n; }
  const double* column(size_t j) const { return values.data() + j * n; }

  // Columns that several threads share must be ranked before.
  const uint32_t* rank(size_t j) {
    if (!ranked[j]) rank_column(j);
    return ranks.data() + j * n;
  }

 private:
  std::vector<uint64_t> keys_;
  KeySort sort_;

  // Distributes values over 2^32 steps of their range first; then sorts the few values within each step.
  void rank_column(size_t j) {
    ranks.resize(n * p);
    keys_.resize(n);
    const double* x = column(j);
    const Range range = range_of(x, n);
    const double width = range.high - range.low;
    const double scale = width > 1e-290 && width < 1e290 ? 4294967295.0 / width : 0.0;
    const auto step = [&](double value) {
      return scale > 0.0 ? static_cast<uint64_t>(std::min((value - range.low) * scale, 4294967295.0)) : 0u;
    };
    for (size_t i = 0; i < n; ++i) keys_[i] = step(x[i]) << 32 | i;
    sort_.sort(keys_.data(), n);
    const auto at = [&](size_t i) { return keys_.begin() + i; };
    const auto row = [&](size_t i) { return static_cast<uint32_t>(keys_[i]); };
    for (size_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && keys_[end] >> 32 == keys_[i] >> 32;) ++end;
      if (end - i > 1)
        std::sort(at(i), at(end),
                  [x](uint64_t a, uint64_t b) { return x[static_cast<uint32_t>(a)] < x[static_cast<uint32_t>(b)]; });
    }
    uint32_t* out = ranks.data() + j * n;
    uint32_t rank = 0;
    for (size_t i = 0; i < n; ++i) {
      if (i > 0 && x[row(i)] != x[row(i - 1)]) ++rank;
      out[row(i)] = rank;
    }
    ranked[j] = 1;
  }
};

// Rotations of a rotation forest (Rodriguez, Kuncheva & Alonso 2006; Zhang & Suganthan 2014, section II-B): disjoint
// groups of features, with principal components of each group from its own bootstrap sample.

// The unit of features before components are computed: their range, their standard deviation, or 1.
enum class Scaling { range, deviation, none };

// The inverse of each feature's unit, or 0 for a constant feature, which is left out of every component. weights : of
// the rows, or nullptr. Ranges may overflow, and so may their inverses: half a range does not overflow, and an inverse
// is limited. The inverse of a standard deviation below 1e-10 ranges is limited too: only weights that leave one value
// of the feature make it so small, and its square may vanish. Unscaled features are still multiplied by a power of 2 if
// their squares would overflow or vanish.
inline Vector inverse_scales(const Columns& x, const double* weights, Scaling scaling) {
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

// Groups of `size` features in random order; features of other groups complete the last group.
inline std::vector<std::vector<int32_t>> draw_groups(Stream stream, size_t p, size_t size) {
  std::vector<int32_t> order(p);
  std::iota(order.begin(), order.end(), 0);
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

// Components without variance are left out (Zhang & Suganthan 2014, step 2). weights : of the rows, or nullptr; inverse
// : of `inverse_scales`, which the coefficients include. Uses streams 2 and 3, 4, ... of the tree: groups, then one
// sample per group.
inline Rotation draw_rotation(uint64_t tree_seed, const Columns& x, const double* weights, const Vector& inverse,
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

// The rotated training rows, by the arithmetic of Rotation::of_row.
inline void rotate(const Rotation& rotation, const Columns& x, Columns& out) {
  out.resize(x.n, rotation.size());
  for (size_t q = 0; q < rotation.size(); ++q) {
    double* z = out.column(q);
    const int32_t first = rotation.start[q];
    const double* column = x.column(rotation.feature[first]);
    for (size_t i = 0; i < x.n; ++i) z[i] = rotation.coef[first] * column[i];
    for (int32_t t = first + 1; t < rotation.start[q + 1]; ++t)
      add_scaled(rotation.coef[t], x.column(rotation.feature[t]), z, x.n);
  }
}

// The rows that all trees share.
struct TrainingRows {
  Columns x;
  std::vector<int32_t> y;
  std::vector<double> weights;     // empty if all are 1
  std::vector<uint32_t> by_class;  // row numbers, by class and then by number
  std::vector<double> targets;     // numbers that trees predict, by output and then by row, all rows being of one
                                   // class; else empty
  std::vector<double> half_range;  // of each feature; the range might overflow
  Vector inverse_scale;            // of each feature, if trees rotate them
  size_t n_classes = 0;

  size_t n_outputs() const { return targets.size() / x.n; }
  const double* output(size_t k) const { return targets.data() + k * x.n; }

  // rotated : unit of the features before rotations, if trees rotate; ranked : whether ranks are needed
  TrainingRows(const double* rows, const int32_t* codes, const double* w, size_t n, size_t p, size_t classes,
               std::optional<Scaling> rotated, bool ranked)
      : y(codes, codes + n), n_classes(classes) {
    x.resize(n, p);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p; ++j) x.values[j * n + i] = rows[i * p + j];
    if (w) weights.assign(w, w + n);
    by_class = numbers_to(n);
    std::stable_sort(by_class.begin(), by_class.end(), [this](uint32_t a, uint32_t b) { return y[a] < y[b]; });
    for (size_t j = 0; j < p; ++j) {
      const Range r = range_of(x.column(j), n);
      half_range.push_back(0.5 * r.high - 0.5 * r.low);
      if (!rotated && ranked) x.rank(j);
    }
    if (rotated) inverse_scale = inverse_scales(x, w, *rotated);
  }
};

}  // namespace oblique
