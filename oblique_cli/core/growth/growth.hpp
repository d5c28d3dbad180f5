// Whole trees grown without Python: axis-parallel, HHCART(A), HHCART(D), HHCRV, GDT, HHGDT, OC1 and CART-LC.
//
// The rows of a node are a contiguous range of one working copy of X, stored by columns and grouped by class. A split
// partitions the range in place and keeps the order of rows inside each class, so memory stays flat and the class of
// a row is known from its place. Columns of qualitative features hold level codes; at each node the search sees the
// scores of the levels there instead.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "growth/crimcoord.hpp"
#include "common/divide.hpp"
#include "growth/geometry.hpp"
#include "growth/climbing/hill_climb.hpp"
#include "search/split_search.hpp"

namespace oblique {

enum class Family { axis_parallel, hhcart_all, hhcart_dominant, gdt, hhgdt, hhcrv, hill_climb };

struct GrowthOptions {
  Family family = Family::axis_parallel;
  double min_parent = 2.0;         // split only if the node holds more than this
  double max_misrate = 0.0;        // split only if the misclassification rate is above this
  int max_depth = -1;              // -1: no limit
  double min_leaf = 1.0;
  bool strict_ties = false;
  bool exhaustive = false;         // sort every direction
  double tau = 0.05;
  double sign = -1.0;
  double eigenvalue_tolerance = 1e-10;
  bool bisector_by_super_classes = false;
  bool both_signs = false;         // reflect every vector and its opposite
  bool shrinkage = false;          // shrink the covariances of small classes
  HillClimbOptions hill_climb;
};

// The arrays of a fitted tree. Root is node 0 and children have larger numbers than their parent. A row goes left if
// x'w <= threshold, x holding the node's score of a level where a feature is qualitative.
struct TreeArrays {
  std::size_t n_features = 0, n_classes = 0, n_scores = 0;
  std::vector<std::int32_t> left, right;   // -1 at leaves
  std::vector<double> weights;             // n_nodes * n_features
  std::vector<double> thresholds;
  std::vector<double> counts;              // n_nodes * n_classes, weight of each class
  std::vector<double> gains;               // published score of the split, 0 at leaves
  std::vector<std::int64_t> n_rows;
  std::vector<double> level_scores;        // n_nodes * n_scores, 0 at leaves and for levels absent at a node
  SearchCounts search;

  std::size_t size() const { return left.size(); }
  std::int32_t add() {
    left.push_back(-1);
    right.push_back(-1);
    weights.resize(weights.size() + n_features, 0.0);
    thresholds.push_back(0.0);
    counts.resize(counts.size() + n_classes, 0.0);
    gains.push_back(0.0);
    n_rows.push_back(0);
    level_scores.resize(level_scores.size() + n_scores, 0.0);
    return static_cast<std::int32_t>(left.size()) - 1;
  }
};

// One searched space, in enumeration order: the original axes, or the axes of a reflection.
struct Space {
  bool original = true;
  Vector u;   // empty for the original axes
};

// Where the features of a node lie: for the scale that decides which projections are distinct, and standard coordinates.
struct Spread {
  Vector range, centre, magnitude;

  void measure(const NodeRows& rows) {
    const std::size_t p = rows.columns.size();
    range.resize(p);
    centre.resize(p);
    magnitude.resize(p);
    for (std::size_t j = 0; j < p; ++j) {
      const Range r = range_of(rows.columns[j], rows.n);
      range[j] = r.high - r.low;
      centre[j] = 0.5 * r.low + 0.5 * r.high;
      magnitude[j] = std::max(std::fabs(r.low), std::fabs(r.high));
    }
  }
  static double gap(double range_sum, double magnitude_sum) {
    return 1e-9 * range_sum + 32.0 * std::numeric_limits<double>::epsilon() * magnitude_sum;
  }
  // The original axis j needs no arithmetic, hence no allowance for its rounding.
  double of_axis(std::size_t j) const { return 1e-9 * range[j]; }
  // Column j of I - 2uu'.
  double of_reflected_axis(const Vector& u, std::size_t j) const {
    double r = 0.0, m = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double h = std::fabs((i == j ? 1.0 : 0.0) - 2.0 * u[i] * u[j]);
      r += h * range[i];
      m += h * magnitude[i];
    }
    return gap(r, m);
  }
  double of_direction(const double* h) const {
    double r = 0.0, m = 0.0;
    for (std::size_t i = 0; i < range.size(); ++i) {
      r += std::fabs(h[i]) * range[i];
      m += std::fabs(h[i]) * magnitude[i];
    }
    return gap(r, m);
  }
};

// Searches a list of spaces at one node. Directions are numbered space * p + axis.
template <class Criterion>
void search_spaces(SplitSearch<Criterion>& search, const NodeRows& rows, const Spread& spread,
                   const std::vector<Space>& spaces, std::int64_t first_order, Vector& xu) {
  const std::size_t p = rows.columns.size();
  std::vector<char> axis_done(p, 0);
  if (xu.size() < rows.n) xu.resize(rows.n);
  std::int64_t order = first_order;
  for (const Space& space : spaces) {
    if (space.original) {
      for (std::size_t j = 0; j < p; ++j, ++order) {
        if (axis_done[j]) continue;
        axis_done[j] = 1;
        search.direction(order, rows.columns[j], spread.of_axis(j));
      }
      continue;
    }
    // X u once, then every reflected axis is x_j - 2 u_j X u.
    combine_columns(rows.columns.data(), space.u.data(), p, xu.data(), rows.n);
    for (std::size_t j = 0; j < p; ++j, ++order) {
      if (space.u[j] == 0.0) {  // the reflection leaves this axis where it was
        if (axis_done[j]) continue;
        axis_done[j] = 1;
        search.direction(order, rows.columns[j], spread.of_axis(j));
      } else {
        search.reflected_direction(order, rows.columns[j], xu.data(), 2.0 * space.u[j],
                                   spread.of_reflected_axis(space.u, j));
      }
    }
  }
}

// Unit normal of direction `order` of `spaces`.
inline Vector normal_of(const std::vector<Space>& spaces, std::size_t p, std::int64_t order) {
  const Space& space = spaces[static_cast<std::size_t>(order) / p];
  const std::size_t j = static_cast<std::size_t>(order) % p;
  Vector h(p, 0.0);
  h[j] = 1.0;
  if (!space.original && space.u[j] != 0.0)
    for (std::size_t i = 0; i < p; ++i) h[i] -= 2.0 * space.u[i] * space.u[j];
  return h;
}

// Per class: the vectors that a heuristic reflects. Turned into spaces with tau deciding what counts as parallel to an
// axis; the original space is entered once, where it first occurs. With `both` the opposite of each vector follows it.
inline void add_reflections(const Vector& vectors, std::size_t p, double tau, bool both, std::vector<Space>& spaces) {
  bool original = false;
  for (const Space& s : spaces) original = original || s.original;
  Vector d(p);
  for (std::size_t at = 0; at < vectors.size(); at += p) {
    d.assign(vectors.begin() + static_cast<std::ptrdiff_t>(at), vectors.begin() + static_cast<std::ptrdiff_t>(at + p));
    // Exactly on an axis there is nothing to reflect, whatever tau is: a component of e_1 - d must count as not zero.
    if (parallel_to_an_axis(d.data(), p, std::max(tau, kZeroComponent * std::sqrt(static_cast<double>(p))))) {
      if (!original) spaces.push_back(Space{});
      original = true;
      continue;
    }
    for (int sign = 0; sign < (both ? 2 : 1); ++sign) {
      Space space;
      space.original = false;
      space.u.resize(p);
      householder_vector(d.data(), p, space.u.data());
      spaces.push_back(std::move(space));
      for (double& x : d) x = -x;
    }
  }
}

// Class covariances, scatter of unit rows, or the class moments about the origin.
class ClassMoments {
 public:
  // widest: the largest range of a feature at the node. Only directions and ratios matter, so a power of 2 keeps the
  // squares of very large or very small rows within range.
  void begin(double widest) {
    factor_ = widest > 0x1p200 || (widest > 0.0 && widest < 0x1p-200)
                  ? std::ldexp(1.0, std::clamp(-std::ilogb(widest), -1000, 1000))
                  : 1.0;
  }

  // Covariance of rows [first, last), p x p, divided by the weight less one unit (any positive factor gives the same
  // eigenvectors). False if the rows are all the same.
  bool covariance(const NodeRows& rows, std::size_t first, std::size_t last, Vector& out) {
    double total = 0.0;
    if (!centre(rows, first, last, total)) return false;
    scatter(rows, first, last, 1.0 / std::max(total - 1.0, 1.0), out);
    return true;
  }

  // X'X of rows [first, last), centred and each scaled to unit length, those on the mean left out (thesis 5.3). False
  // if the rows are all the same.
  bool unit_scatter(const NodeRows& rows, std::size_t first, std::size_t last, Vector& out) {
    double total = 0.0;
    if (!centre(rows, first, last, total)) return false;
    const std::size_t p = rows.columns.size(), n = last - first;
    length_.assign(n, 0.0);
    for (std::size_t j = 0; j < p; ++j) {
      const double* c = centred_.data() + j * n;
      for (std::size_t i = 0; i < n; ++i) length_[i] += c[i] * c[i];
    }
    // A mean has rounding errors, so a row on it may be a little off.
    const double least = kOnTheMean * std::sqrt(range_of(length_.data(), n).high);
    for (double& x : length_) x = std::sqrt(x) > least ? 1.0 / std::sqrt(x) : 0.0;
    for (std::size_t j = 0; j < p; ++j)
      for (std::size_t i = 0; i < n; ++i) centred_[j * n + i] *= length_[i];
    scatter(rows, first, last, 1.0, out);
    return true;
  }

  // Variance of every feature within the classes: their pooled squared deviations over the weight less one unit for
  // each class.
  void pooled_variances(const NodeRows& rows, Vector& out) {
    const std::size_t p = rows.columns.size();
    out.assign(p, 0.0);
    double all = 0.0;
    for (int k = 0; k < rows.n_classes; ++k) {
      const std::size_t first = rows.first_row[k], n = rows.first_row[k + 1] - first;
      double total = 0.0;
      const bool varies = centre(rows, first, first + n, total);
      all += total;
      if (!varies) continue;
      for (std::size_t j = 0; j < p; ++j)
        for (std::size_t i = 0; i < n; ++i) {
          const double c = centred_[j * n + i];
          out[j] += rows.weights ? rows.weights[first + i] * c * c : c * c;
        }
    }
    for (double& x : out) x /= std::max(all - rows.n_classes, 1.0);
  }

  // Adds sum w [z 1]'[z 1] over rows [first, last) to out ((p + 1) x (p + 1)), z in standard coordinates.
  void add_augmented(const NodeRows& rows, std::size_t first, std::size_t last, const Standard& standard, Vector& out) {
    const std::size_t p = rows.columns.size(), m = p + 1, n = last - first;
    centred_.resize(m * n);
    weighted_.resize(n);
    for (std::size_t j = 0; j < p; ++j)
      for (std::size_t i = 0; i < n; ++i)
        centred_[j * n + i] = (rows.columns[j][first + i] - standard.centre[j]) / standard.scale[j];
    std::fill_n(centred_.begin() + static_cast<std::ptrdiff_t>(p * n), n, 1.0);
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t i = 0; i < n; ++i)
        weighted_[i] = rows.weights ? rows.weights[first + i] * centred_[j * n + i] : centred_[j * n + i];
      for (std::size_t k = 0; k <= j; ++k) {
        const double value = dot_columns(centred_.data() + k * n, weighted_.data(), n);
        out[j * m + k] += value;
        if (k != j) out[k * m + j] += value;
      }
    }
  }

 private:
  static constexpr double kOnTheMean = 1e-9;   // of the longest row: shorter ones lie on the mean

  // centred_ = the columns of rows [first, last) less their means, times factor_; total = their weight. False if the
  // rows are all the same.
  bool centre(const NodeRows& rows, std::size_t first, std::size_t last, double& total) {
    const std::size_t p = rows.columns.size(), n = last - first;
    total = static_cast<double>(n);
    if (rows.weights) total = std::accumulate(rows.weights + first, rows.weights + last, 0.0);
    if (n < 2) return false;
    centred_.resize(p * n);
    bool distinct = false;
    for (std::size_t j = 0; j < p; ++j) {
      const double* x = rows.columns[j] + first;
      double* c = centred_.data() + j * n;
      const Range range = range_of(x, n);
      if (!(range.high > range.low)) {  // exactly zero, not the rounding of a mean
        std::fill_n(c, n, 0.0);
        continue;
      }
      distinct = true;
      double sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += rows.weights ? rows.weights[first + i] * x[i] : x[i];
      const double mean = sum / total;
      for (std::size_t i = 0; i < n; ++i) c[i] = (x[i] - mean) * factor_;
    }
    return distinct;
  }

  // out = scale * sum of w c c' over the rows in centred_, (p, p).
  void scatter(const NodeRows& rows, std::size_t first, std::size_t last, double scale, Vector& out) {
    const std::size_t p = rows.columns.size(), n = last - first;
    out.assign(p * p, 0.0);
    weighted_.resize(rows.weights ? n : 0);
    for (std::size_t j = 0; j < p; ++j) {
      const double* cj = centred_.data() + j * n;
      if (rows.weights) {
        for (std::size_t i = 0; i < n; ++i) weighted_[i] = rows.weights[first + i] * cj[i];
        cj = weighted_.data();
      }
      for (std::size_t i = 0; i <= j; ++i)
        out[j * p + i] = out[i * p + j] = scale * dot_columns(centred_.data() + i * n, cj, n);
    }
  }

  double factor_ = 1.0;
  Vector centred_, weighted_, length_;
};

// Shrinks the covariance of a class of weight n < 5 p towards the diagonal of pooled variances (beyond the thesis):
// (1 - l) S + l diag(pooled), l = 1 - n / (5 p).
inline void shrink(Vector& covariance, const Vector& pooled, double n) {
  const std::size_t p = pooled.size();
  const double l = 1.0 - n / (5.0 * static_cast<double>(p));
  if (!(l > 0.0)) return;
  for (double& s : covariance) s *= 1.0 - l;
  for (std::size_t j = 0; j < p; ++j) covariance[j * p + j] += l * pooled[j];
}

// The two clustering hyperplanes of the largest class against the rest, and their bisectors (thesis 5.1.1 to 5.1.2).
class Bisectors {
 public:
  // largest: place of the majority class among the classes present. Returns false if a plane has no direction.
  bool find(const NodeRows& rows, const Spread& spread, const Totals& totals, int largest, ClassMoments& moments,
            std::vector<Plane>& out) {
    const std::size_t p = rows.columns.size(), m = p + 1;
    standard_.centre.resize(p);
    standard_.scale.resize(p);
    for (std::size_t j = 0; j < p; ++j) {
      standard_.centre[j] = spread.centre[j];
      standard_.scale[j] = spread.range[j] > 0.0 ? std::exp2(std::ceil(std::log2(spread.range[j]))) : 1.0;
    }
    a_.assign(m * m, 0.0);
    b_.assign(m * m, 0.0);
    double rest = 0.0;
    for (int k = 0; k < rows.n_classes; ++k) {
      moments.add_augmented(rows, rows.first_row[k], rows.first_row[k + 1], standard_, k == largest ? a_ : b_);
      if (k != largest) rest += totals.of_class[k];
    }
    for (double& x : a_) x /= totals.of_class[largest];
    for (double& x : b_) x /= rest;
    first_.resize(m);
    second_.resize(m);
    out.clear();
    const Hyperplane first_case = plane_.solve(a_.data(), b_.data(), static_cast<int>(m), standard_, first_.data());
    const Hyperplane second_case = plane_.solve(b_.data(), a_.data(), static_cast<int>(m), standard_, second_.data());
    if (first_case == Hyperplane::none || second_case == Hyperplane::none) return false;
    if (!has_normal(first_.data(), p, standard_) || !has_normal(second_.data(), p, standard_)) return false;
    if (!normalise_plane(first_.data(), p) || !normalise_plane(second_.data(), p)) return false;
    angle_bisectors(first_.data(), second_.data(), p, out);
    return !out.empty();
  }

 private:
  ClusteringHyperplane plane_;
  Standard standard_;
  Vector a_, b_, first_, second_;
};

inline int majority(const Totals& t) {
  int best = 0;
  for (int k = 1; k < t.n_classes; ++k)
    if (t.of_class[k] > t.of_class[best]) best = k;
  return best;
}

// Projections of the node's rows on h, by columns.
inline void project(const NodeRows& rows, const double* h, double* z) {
  combine_columns(rows.columns.data(), h, rows.columns.size(), z, rows.n);
}

// Canonical order of the rows of a class: by value, then by weight. cell(i, j) is the value of row i in column j.
template <class Cell>
bool comes_before(Cell cell, std::size_t p, const double* weights, std::size_t a, std::size_t b) {
  for (std::size_t j = 0; j < p; ++j) {
    const double left = cell(a, j), right = cell(b, j);
    if (left != right) return left < right;
  }
  if (weights && weights[a] != weights[b]) return weights[a] < weights[b];
  return a < b;
}

template <class Criterion>
class Grower {
 public:
  // x: (n, p) row-major, finite but for cells of qualitative features, which hold level codes or anything else for no
  // level; y: codes 0..n_classes-1; weights: n positive numbers, smallest 1, or nullptr.
  Grower(const double* x, const std::int32_t* y, const double* weights, std::size_t n, std::size_t p,
         std::size_t n_classes, const Levels& levels, const GrowthOptions& options)
      : x_(x), n_(n), p_(p), n_classes_(n_classes), levels_(levels), options_(options), scored_row_(levels) {
    const auto cell = [&](std::size_t i, std::size_t j) {
      const double value = x[i * p + j];
      return levels.count[j] > 0 ? static_cast<double>(level_of(value, levels.count[j])) : value;
    };
    // Rows in canonical order: by class, then by value. Sums then do not depend on the order in which rows came.
    row_.resize(n);
    std::iota(row_.begin(), row_.end(), std::size_t{0});
    const bool sums_matter = options.family != Family::axis_parallel || weights;
    if (sums_matter) {
      std::sort(row_.begin(), row_.end(), [&](std::size_t a, std::size_t b) {
        if (y[a] != y[b]) return y[a] < y[b];
        return comes_before(cell, p, weights, a, b);
      });
    } else {
      std::stable_sort(row_.begin(), row_.end(), [&](std::size_t a, std::size_t b) { return y[a] < y[b]; });
    }
    columns_.resize(n * p);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < p; ++j) columns_[j * n + i] = cell(row_[i], j);
    code_.resize(n);
    for (std::size_t i = 0; i < n; ++i) code_[i] = y[row_[i]];
    if (weights) {
      weight_.resize(n);
      for (std::size_t i = 0; i < n; ++i) weight_[i] = weights[row_[i]];
    }
    search_.configure(options.strict_ties, options.min_leaf, options.exhaustive);
  }

  TreeArrays grow() {
    TreeArrays tree;
    tree.n_features = p_;
    tree.n_classes = n_classes_;
    tree.n_scores = levels_.width;
    struct Open {
      std::int32_t node;
      std::size_t first, last;
      int depth;
      std::uint64_t path;
    };
    std::vector<Open> stack{{tree.add(), 0, n_, 0, kRootPath}};
    describe(tree, 0, 0, n_);
    while (!stack.empty()) {
      const Open open = stack.back();
      stack.pop_back();
      std::size_t middle = 0;
      if (!split(tree, open.node, open.first, open.last, open.depth, open.path, middle)) continue;
      const std::int32_t left = tree.add(), right = tree.add();
      tree.left[open.node] = left;
      tree.right[open.node] = right;
      describe(tree, left, open.first, middle);
      describe(tree, right, middle, open.last);
      stack.push_back({right, middle, open.last, open.depth + 1, child_path(open.path, true)});
      stack.push_back({left, open.first, middle, open.depth + 1, child_path(open.path, false)});
    }
    return tree;
  }

 private:
  void describe(TreeArrays& tree, std::int32_t node, std::size_t first, std::size_t last) {
    double* counts = tree.counts.data() + static_cast<std::size_t>(node) * n_classes_;
    for (std::size_t i = first; i < last; ++i) counts[code_[i]] += weight_.empty() ? 1.0 : weight_[i];
    tree.n_rows[static_cast<std::size_t>(node)] = static_cast<std::int64_t>(last - first);
  }

  bool may_split(const TreeArrays& tree, std::int32_t node, int depth) const {
    if (options_.max_depth >= 0 && depth >= options_.max_depth) return false;
    const double* counts = tree.counts.data() + static_cast<std::size_t>(node) * n_classes_;
    double total = 0.0, largest = 0.0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      total += counts[k];
      largest = std::max(largest, counts[k]);
    }
    return total > options_.min_parent && (total - largest) / total > options_.max_misrate;
  }

  bool split(TreeArrays& tree, std::int32_t node, std::size_t first, std::size_t last, int depth,
             std::uint64_t path, std::size_t& middle) {
    if (last - first < 2 || !may_split(tree, node, depth)) return false;
    NodeRows rows;
    rows.n = last - first;
    rows.columns.resize(p_);
    for (std::size_t j = 0; j < p_; ++j) rows.columns[j] = columns_.data() + j * n_ + first;
    rows.weights = weight_.empty() ? nullptr : weight_.data() + first;
    offsets_.assign(1, 0);
    for (std::size_t i = first + 1; i < last; ++i)
      if (code_[i] != code_[i - 1]) offsets_.push_back(i - first);
    offsets_.push_back(rows.n);
    rows.n_classes = static_cast<int>(offsets_.size()) - 1;
    rows.first_row = offsets_.data();
    if (rows.n_classes < 2) return false;
    first_ = first;
    if (levels_.any()) score_levels(rows);
    spread_.measure(rows);
    search_.begin(rows);

    Vector normal;
    double threshold = 0.0, gain = 0.0;
    bool found = false, given = false;  // given: with a threshold that is final
    if (options_.family == Family::gdt)
      found = given = find_bisector(rows, normal, threshold, gain);
    else if (options_.family == Family::hill_climb)
      found = find_climbed(rows, path, normal, threshold, gain, given);
    else
      found = find_axis(rows, normal, threshold, gain);
    tree.search.directions += search_.counts.directions;
    tree.search.refined += search_.counts.refined;
    tree.search.bins += search_.counts.bins;
    if (!found) return false;
    if (!partition(normal, threshold, !given, first, last, middle)) return false;
    const std::size_t at = static_cast<std::size_t>(node);
    std::copy(normal.begin(), normal.end(), tree.weights.begin() + static_cast<std::ptrdiff_t>(at * p_));
    tree.thresholds[at] = threshold;
    tree.gains[at] = gain;
    std::copy(scores_.begin(), scores_.end(),
              tree.level_scores.begin() + static_cast<std::ptrdiff_t>(at * levels_.width));
    return true;
  }

  // Gives the levels of the node their scores, and lets the columns of qualitative features point to them.
  void score_levels(NodeRows& rows) {
    scores_.resize(levels_.width);
    scored_columns_.resize(levels_.features.size() * rows.n);
    for (std::size_t q = 0; q < levels_.features.size(); ++q) {
      const std::size_t j = levels_.features[q];
      const double* codes = rows.columns[j];
      const std::size_t n_levels = static_cast<std::size_t>(levels_.count[j]);
      const std::size_t n_present = static_cast<std::size_t>(rows.n_classes);
      table_.assign(n_levels * n_present, 0.0);
      for (std::size_t k = 0; k < n_present; ++k)
        for (std::size_t i = rows.first_row[k]; i < rows.first_row[k + 1]; ++i) {
          if (codes[i] < 0.0) continue;
          table_[static_cast<std::size_t>(codes[i]) * n_present + k] += rows.weights ? rows.weights[i] : 1.0;
        }
      double* scores = scores_.data() + levels_.offset[q];
      crimcoord_.solve(table_.data(), n_levels, n_present, scores);
      double* scored = scored_columns_.data() + q * rows.n;
      for (std::size_t i = 0; i < rows.n; ++i)
        scored[i] = codes[i] < 0.0 ? 0.0 : scores[static_cast<std::size_t>(codes[i])];
      rows.columns[j] = scored;
    }
  }

  // w'x of row i of the node, by the arithmetic of prediction.
  double project_row(const double* w, std::size_t i) {
    const double* x = x_ + row_[first_ + i] * p_;
    if (levels_.any()) {
      scored_row_.start(x);
      x = scored_row_.at(scores_.data());
    }
    return dot_row(w, x, p_);
  }

  // GDT: the better bisector, offset and all.
  bool find_bisector(const NodeRows& rows, Vector& normal, double& threshold, double& gain) {
    const int best = better_bisector(rows);
    if (best < 0) return false;
    normal = planes_[static_cast<std::size_t>(best)].w;
    threshold = planes_[static_cast<std::size_t>(best)].t;
    search_.restart();
    project_as_predicted(rows, normal, false);
    search_.fixed_cut(0, projection_.data(), threshold, options_.min_leaf);
    const Cut cut = search_.front().winner();
    if (cut.order < 0) return false;
    gain = Criterion::gain(cut.value, search_.totals());
    return true;
  }

  // Index of the bisector of greater gain, the first on a tie or if neither has any; -1 if there is no bisector.
  int better_bisector(const NodeRows& rows) {
    if (!bisectors_.find(rows, spread_, search_.totals(), majority(search_.totals()), moments_, planes_)) return -1;
    // Rows on the plane itself must not fall to the side that rounding chooses: they belong to the left.
    if (!options_.strict_ties)
      for (Plane& plane : planes_) plane.t += spread_.of_direction(plane.w.data());
    const bool super = options_.bisector_by_super_classes && rows.n_classes > 2;
    SplitSearch<Criterion>& search = super ? super_search(rows) : search_;
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      project_as_predicted(rows, planes_[i].w, super);
      search.fixed_cut(static_cast<std::int64_t>(i), projection_.data(), planes_[i].t, 0.0);
    }
    return static_cast<int>(std::max<std::int64_t>(search.front().winner().order, 0));
  }

  // The same rows with all classes but the largest joined.
  SplitSearch<Criterion>& super_search(const NodeRows& rows) {
    const int largest = majority(search_.totals());
    // Two groups of rows: the joined search needs them contiguous, so it works on a reordered projection.
    super_rows_ = rows;
    const std::size_t a = rows.first_row[largest], b = rows.first_row[largest + 1];
    super_order_.clear();
    for (std::size_t i = a; i < b; ++i) super_order_.push_back(i);
    for (std::size_t i = 0; i < rows.n; ++i)
      if (i < a || i >= b) super_order_.push_back(i);
    super_offsets_ = {0, b - a, rows.n};
    super_rows_.n_classes = 2;
    super_rows_.first_row = super_offsets_.data();
    if (rows.weights) {
      super_weights_.resize(rows.n);
      for (std::size_t i = 0; i < rows.n; ++i) super_weights_[i] = rows.weights[super_order_[i]];
      super_rows_.weights = super_weights_.data();
    }
    super_search_.configure(options_.strict_ties, options_.min_leaf, options_.exhaustive);
    super_search_.begin(super_rows_);
    return super_search_;
  }

  // Fills projection_ by the arithmetic of prediction, in the order of the super-class search if asked.
  void project_as_predicted(const NodeRows& rows, const Vector& w, bool super) {
    projection_.resize(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i) projection_[i] = project_row(w.data(), super ? super_order_[i] : i);
  }

  // OC1 and CART-LC: the best axis-parallel cut, or a hyperplane that is better.
  bool find_climbed(const NodeRows& rows, std::uint64_t path, Vector& normal, double& threshold, double& gain,
                    bool& given) {
    const bool found = find_axis(rows, normal, threshold, gain);
    given = climb_.find(rows, search_.totals(), search_.front().winner(), x_, row_.data() + first_, path,
                        options_.strict_ties, options_.min_leaf, options_.exhaustive, options_.hill_climb, plane_);
    if (given) {
      normal = plane_.w;
      threshold = plane_.threshold;
      gain = Criterion::gain(plane_.value, search_.totals());
    }
    return found || given;
  }

  // All others: the best cut along the axes of one or more spaces.
  bool find_axis(const NodeRows& rows, Vector& normal, double& threshold, double& gain) {
    spaces_.clear();
    if (options_.family == Family::axis_parallel || options_.family == Family::hill_climb) {
      spaces_.push_back(Space{});
    } else if (options_.family == Family::hhgdt) {
      const int best = better_bisector(rows);
      if (best < 0) return false;
      // The bisectors were scored by the same search, whose cuts have no place among the axes.
      search_.restart();
      Vector d = planes_[static_cast<std::size_t>(best)].w;
      orient(d.data(), p_, options_.sign);
      add_reflections(d, p_, options_.tau, false, spaces_);
    } else {
      vectors_.clear();
      moments_.begin(*std::max_element(spread_.range.begin(), spread_.range.end()));
      if (options_.shrinkage) moments_.pooled_variances(rows, pooled_);
      for (int k = 0; k < rows.n_classes; ++k) {
        const std::size_t from = rows.first_row[k], to = rows.first_row[k + 1];
        const bool varies = options_.family == Family::hhcrv ? moments_.unit_scatter(rows, from, to, covariance_)
                                                             : moments_.covariance(rows, from, to, covariance_);
        if (!varies) continue;
        if (options_.shrinkage) shrink(covariance_, pooled_, search_.totals().of_class[k]);
        principal_axes(eigen_, covariance_.data(), static_cast<int>(p_), options_.eigenvalue_tolerance, options_.sign,
                       options_.family != Family::hhcart_all, vectors_);
      }
      add_reflections(vectors_, p_, options_.tau, options_.both_signs, spaces_);
      if (spaces_.empty()) spaces_.push_back(Space{});
    }
    search_spaces(search_, rows, spread_, spaces_, 0, xu_);
    const Cut cut = search_.front().winner();
    if (cut.order < 0) return false;
    normal = normal_of(spaces_, p_, cut.order);
    threshold = cut.threshold;
    gain = Criterion::gain(cut.value, search_.totals());
    return true;
  }

  // Splits rows [first, last) by the arithmetic of prediction. With `to_middle` the threshold is first moved to
  // the middle of the gap that the search chose, measured in that arithmetic. False if a side stays empty.
  bool partition(const Vector& normal, double& threshold, bool to_middle, std::size_t first, std::size_t last,
                 std::size_t& middle) {
    const std::size_t n = last - first;
    projection_.resize(n);
    for (std::size_t i = 0; i < n; ++i) projection_[i] = project_row(normal.data(), i);
    if (to_middle && !settle(projection_.data(), n, threshold)) return false;
    goes_left_.resize(n);
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
      goes_left_[i] = projection_[i] <= threshold;
      n_left += goes_left_[i];
    }
    if (n_left == 0 || n_left == n) return false;
    middle = first + n_left;
    for (std::size_t j = 0; j < p_; ++j) divide(columns_.data() + j * n_ + first, n);
    divide(row_.data() + first, n);
    divide(code_.data() + first, n);
    if (!weight_.empty()) divide(weight_.data() + first, n);
    return true;
  }

  template <class T>
  void divide(T* values, std::size_t n) {
    buffer_.resize(n * sizeof(T));
    const auto* goes_left = goes_left_.data();
    divide_in_order(values, n, reinterpret_cast<T*>(buffer_.data()),
                    [goes_left](std::size_t i, const T&) -> std::size_t { return 1u - goes_left[i]; });
  }

  const double* x_;
  std::size_t n_, p_, n_classes_;
  const Levels& levels_;
  GrowthOptions options_;
  std::size_t first_ = 0;             // first working place of the node at hand
  std::vector<std::size_t> row_;      // working place -> row of x
  std::vector<std::int32_t> code_;
  Vector columns_, weight_, projection_, xu_, vectors_, covariance_, pooled_, super_weights_;
  Vector scores_, scored_columns_, table_;   // of the levels at the node at hand
  ScoredRow scored_row_;
  Crimcoord crimcoord_;
  std::vector<unsigned char> goes_left_;
  std::vector<std::byte> buffer_;
  std::vector<std::size_t> offsets_, super_order_, super_offsets_;
  std::vector<Space> spaces_;
  std::vector<Plane> planes_;
  NodeRows super_rows_;
  Spread spread_;
  SymmetricEigen eigen_;
  ClassMoments moments_;
  Bisectors bisectors_;
  SplitSearch<Criterion> search_, super_search_;
  HillClimb<Criterion> climb_;
  ClimbedPlane plane_;
};

}  // namespace oblique
