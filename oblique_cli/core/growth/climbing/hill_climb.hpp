// Hyperplanes found by perturbing one coefficient at a time: OC1 (Murthy, Kasif & Salzberg, JAIR 2, 1994) and CART-LC
// (Breiman, Friedman, Olshen & Stone 1984, section 5.2, in the form of the same article).
//
// A hyperplane is sum_j a_j z_j - t <= 0 -> left, over the node's features divided by a power of two near their range
// (which changes no step but keeps all numbers within range); for CART-LC over features of mean 0 and standard
// deviation 1. Its values v are kept for all rows and follow every accepted step at O(n).
//
// Decisions where the article is silent:
// - The coefficients of a sweep are those of the features in order, then the constant. A feature that is constant at the
//   node is left out and keeps coefficient 0.
// - A random hyperplane has coefficients uniform in (-1, 1), per range of the feature unless features are taken as they
//   are, and passes through a point drawn uniformly from the box that the node's rows span. A random direction is
//   another such hyperplane.
// - Values within 1e-9 of the gain are equal. Among equal steps the least t wins, that is the largest coefficient.
// - The stagnation probability starts at `stagnation`, falls by a tenth of it with every equal step taken, and returns
//   to it when the value improves. A successful jump allows `jumps` more.
// - A coefficient lands in the middle of the gap between two steps. The finished hyperplane gets the middle of its gap,
//   in the arithmetic of prediction, which also decides its score; it must beat the best axis-parallel split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "growth/geometry.hpp"
#include "growth/climbing/line_search.hpp"
#include "common/random.hpp"

namespace oblique {

enum class PerturbationOrder { sequential, best, random50 };
enum class Standardisation { deviation, range, none };

struct HillClimbOptions {
  std::uint64_t seed = 0;
  bool linear_combination = false;   // CART-LC instead of OC1
  int restarts = 20;
  int jumps = 5;
  PerturbationOrder order = PerturbationOrder::sequential;
  double stagnation = 1.0;
  bool exact = false;                // score every hyperplane of a line, see line_search.hpp
  double sweep_tol = 1e-3;           // CART-LC: least gain of a sweep that is followed by another
  Standardisation standardisation = Standardisation::deviation;   // the unit of a feature at the node; OC1: range or none
  double rows_per_feature = 2.0;     // a node of no more keeps the axis-parallel split
  bool backward_elimination = false;
  bool direct = false;               // sort with std::sort and recompute all values: the benchmarks' baseline
};

// A split of a node that is not along an axis.
struct ClimbedPlane {
  Vector w;
  double threshold = 0.0;
  double value = 0.0;
};

template <class Criterion>
class HillClimb {
 public:
  // Looks for a hyperplane better than the axis-parallel cut `start` (order -1: none). x: rows as prediction sees them,
  // row[i] the place in x of row i of the node. Returns whether there is one.
  bool find(const NodeRows& rows, const Totals& totals, const Cut& start, const double* x, const std::size_t* row,
            std::uint64_t path, bool strict, double min_leaf, bool exhaustive, const HillClimbOptions& options,
            ClimbedPlane& out) {
    rows_ = &rows;
    totals_ = totals;
    options_ = &options;
    min_leaf_ = min_leaf;
    p_ = rows.columns.size();
    // Murthy et al.: with fewer than 2 p rows a hyperplane has too many ways to fit them.
    if (!(totals.n > options.rows_per_feature * static_cast<double>(p_))) return false;
    line_.configure(strict, min_leaf, exhaustive || options.direct);
    line_.begin(rows, totals);
    scale_columns();
    if (active_.empty()) return false;
    best_value_ = kNone;
    if (options.linear_combination)
      combine(start);
    else
      climb(start, path);
    if (best_value_ == kNone || !settle(x, row, out)) return false;
    return start.order < 0 ? out.value > Criterion::base(totals) + Criterion::noise(totals)
                           : out.value > start.value + line_.slack(start.value);
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr int kRandomPerturbations = 50;
  static constexpr int kEqualSteps = 10;
  static constexpr double kLeastImportance = 0.2;   // CART-LC: below this share of the most important one, a feature goes

  void scale_columns() {
    const std::size_t n = rows_->n;
    columns_.resize((p_ + 1) * n);
    scale_.assign(p_, 1.0);
    low_.assign(p_, 0.0);
    high_.assign(p_, 0.0);
    a_.assign(p_, 0.0);
    r_.assign(p_, 0.0);
    column_.resize(p_ + 1);
    v_.resize(n);
    direction_.resize(n);
    spare_.resize(n);
    left_.resize(static_cast<std::size_t>(rows_->n_classes));
    active_.clear();
    looked_at_.assign(p_ + 1, version_++);
    for (std::size_t j = 0; j < p_; ++j) {
      double* z = columns_.data() + j * n;
      column_[j] = z;
      const Range range = range_of(rows_->columns[j], n);
      const double width = range.high - range.low;
      if (!(width > 0.0) || !std::isfinite(width)) {
        std::fill_n(z, n, 0.0);
        continue;
      }
      scale_[j] = std::exp2(std::ceil(std::log2(width)));
      if (!std::isfinite(scale_[j])) scale_[j] = width;
      for (std::size_t i = 0; i < n; ++i) z[i] = rows_->columns[j][i] / scale_[j];
      low_[j] = range.low / scale_[j];
      high_[j] = range.high / scale_[j];
      active_.push_back(j);
    }
    std::fill_n(columns_.begin() + static_cast<std::ptrdiff_t>(p_ * n), n, 1.0);
    column_[p_] = columns_.data() + p_ * n;
    line_of_.resize(p_ + 1);
    for (std::size_t j = 0; j <= p_; ++j) line_of_[j] = Direction::of(column_[j], n);
    if (options_->direct) {
      by_row_.resize(n * p_);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < p_; ++j) by_row_[i * p_ + j] = column_[j][i];
    }
  }

  // ---- OC1 ----------------------------------------------------------------------------------------------------------

  void climb(const Cut& start, std::uint64_t path) {
    active_.push_back(p_);
    for (int restart = 0; restart < options_->restarts; ++restart) {
      Stream stream(options_->seed, path, static_cast<std::uint64_t>(restart));
      if (restart == 0 && start.order >= 0)
        start_from(start);
      else
        random_plane(stream, a_, t_);
      computed_ = ++version_;
      compute_values();
      value_ = evaluate(0.0, column_[p_]);
      equal_steps_left_ = options_->stagnation > 0.0 ? kEqualSteps : 0;
      perturb_all(stream);
      for (int jump = 0; jump < options_->jumps;) {
        if (try_jump(stream)) {
          perturb_all(stream);
          jump = 0;
        } else {
          ++jump;
        }
      }
      keep_if_better();
    }
  }

  void start_from(const Cut& start) {
    std::fill(a_.begin(), a_.end(), 0.0);
    const std::size_t j = static_cast<std::size_t>(start.order);
    a_[j] = 1.0;
    t_ = middle_of_gap(start) / scale_[j];
  }

  // The search knows its threshold to a part in 2^39 only.
  double middle_of_gap(const Cut& start) const {
    const double* x = rows_->columns[static_cast<std::size_t>(start.order)];
    double threshold = start.threshold;
    oblique::settle(x, rows_->n, threshold);
    return threshold;
  }

  void random_plane(Stream& stream, Vector& a, double& t) const {
    std::fill(a.begin(), a.end(), 0.0);
    t = 0.0;
    const bool as_given = options_->standardisation == Standardisation::none;
    double largest = 0.0;
    for (const std::size_t j : active_) {
      if (j != p_) largest = std::max(largest, scale_[j]);
    }
    for (const std::size_t j : active_) {
      if (j == p_) continue;
      // Divided by the largest scale, because the length of a hyperplane's coefficients means nothing.
      const double unit = as_given ? scale_[j] / largest : 1.0 / (high_[j] - low_[j]);
      a[j] = stream.between(-1.0, 1.0) * unit;
      t += a[j] * stream.between(low_[j], high_[j]);
    }
  }

  void perturb_all(Stream& stream) {
    if (options_->order == PerturbationOrder::random50) {
      begin_sweep();
      for (int i = 0; i < kRandomPerturbations; ++i) perturb(active_[stream.below(active_.size())], stream);
      return;
    }
    bool modified = true;
    while (modified) {
      begin_sweep();
      modified = false;
      if (options_->order == PerturbationOrder::sequential)
        for (const std::size_t m : active_) modified = perturb(m, stream) || modified;
      else
        modified = perturb_best(stream);
    }
  }

  // Perturbs coefficient m; returns whether it was modified.
  bool perturb(std::size_t m, Stream& stream) {
    if (looked_at_[m] == version_ && !options_->direct) return false;
    const Step step = line_.search(v_.data(), v_size(), line_of_[m], options_->exact, needed());
    const double value = step.found ? evaluate(step.t, column_[m]) : kNone;
    if (offer(m, step.t, value, stream)) return true;
    // The next look would end as this one did, unless it was a tie that may be drawn for again.
    if (equal_steps_left_ == 0 || value < value_ - line_.slack(value_)) looked_at_[m] = version_;
    return false;
  }

  double move_probability() const { return options_->stagnation * equal_steps_left_ / kEqualSteps; }

  // The least value that `offer` may take.
  double needed() const {
    const double slack = line_.slack(value_);
    return equal_steps_left_ > 0 ? value_ - slack : value_ + slack;
  }

  // Takes a better step, or an equal one with the stagnation probability.
  bool offer(std::size_t m, double t, double value, Stream& stream) {
    if (value == kNone) return false;
    const double slack = line_.slack(value_);
    if (value > value_ + slack) {
      equal_steps_left_ = options_->stagnation > 0.0 ? kEqualSteps : 0;
    } else if (value >= value_ - slack) {
      if (equal_steps_left_ == 0 || !(stream.uniform() < move_probability())) return false;
      --equal_steps_left_;
    } else {
      return false;
    }
    take(m, t, value);
    return true;
  }

  // The coefficient whose perturbation gains most, the first on a tie.
  bool perturb_best(Stream& stream) {
    std::size_t best = p_ + 1;
    double best_value = kNone, best_t = 0.0;
    for (const std::size_t m : active_) {
      const Step step = line_.search(v_.data(), v_size(), line_of_[m], options_->exact, needed());
      if (!step.found) continue;
      const double value = evaluate(step.t, column_[m]);
      if (value == kNone || !(best > p_ || value > best_value + line_.slack(best_value))) continue;
      best = m;
      best_value = value;
      best_t = step.t;
    }
    return best <= p_ && offer(best, best_t, best_value, stream);
  }

  void take(std::size_t m, double t, double value) {
    (m == p_ ? t_ : a_[m]) += m == p_ ? t : -t;
    if (options_->direct)
      compute_values();
    else
      add_scaled(-t, column_[m], v_.data(), rows_->n);
    value_ = value;
    ++version_;
  }

  // Moves the hyperplane along a random direction if that makes it better.
  bool try_jump(Stream& stream) {
    double r_t = 0.0;
    random_plane(stream, r_, r_t);
    combine_columns(column_.data(), r_.data(), p_, direction_.data(), rows_->n);
    for (double& c : direction_) c -= r_t;
    const double slack = line_.slack(value_);
    const Step step = line_.search(v_.data(), v_size(), Direction::of(direction_.data(), rows_->n), options_->exact, value_ + slack);
    if (!step.found) return false;
    const double value = evaluate(step.t, direction_.data());
    if (value == kNone || !(value > value_ + slack)) return false;
    for (std::size_t j = 0; j < p_; ++j) a_[j] -= step.t * r_[j];
    t_ -= step.t * r_t;
    add_scaled(-step.t, direction_.data(), v_.data(), rows_->n);
    value_ = value;
    ++version_;
    equal_steps_left_ = options_->stagnation > 0.0 ? kEqualSteps : 0;
    return true;
  }

  // ---- CART-LC ------------------------------------------------------------------------------------------------------

  void combine(const Cut& start) {
    if (start.order < 0) return;
    standardise();
    std::fill(a_.begin(), a_.end(), 0.0);
    const std::size_t axis = static_cast<std::size_t>(start.order);
    ++version_;
    a_[axis] = 1.0;
    t_ = (middle_of_gap(start) / scale_[axis] - mean_[axis]) / deviation_[axis];
    sweep_until_flat();
    while (options_->backward_elimination && eliminate()) sweep_until_flat();
    keep_if_better();
  }

  // Mean 0 at the node, and as unit the standard deviation or the range there; or all as it was given.
  void standardise() {
    const std::size_t n = rows_->n;
    mean_.assign(p_, 0.0);
    deviation_.assign(p_, 1.0);
    for (const std::size_t j : active_) {
      double* z = columns_.data() + j * n;
      if (options_->standardisation == Standardisation::none) {
        deviation_[j] = 1.0 / scale_[j];
        for (std::size_t i = 0; i < n; ++i) z[i] /= deviation_[j];
        continue;
      }
      double sum = 0.0, square = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += weight(i) * z[i];
      mean_[j] = sum / totals_.n;
      for (std::size_t i = 0; i < n; ++i) square += weight(i) * (z[i] - mean_[j]) * (z[i] - mean_[j]);
      deviation_[j] = options_->standardisation == Standardisation::range ? high_[j] - low_[j]
                                                                          : std::sqrt(square / totals_.n);
      for (std::size_t i = 0; i < n; ++i) z[i] = (z[i] - mean_[j]) / deviation_[j];
    }
  }

  // For each feature the best of three steps, at which the hyperplane turns about three different places; then the
  // constant; again until a sweep gains too little.
  void sweep_until_flat() {
    static constexpr double gammas[] = {-0.25, 0.0, 0.25};
    begin_sweep();
    value_ = evaluate(0.0, column_[p_]);
    for (;;) {
      const double before = value_;
      for (const std::size_t m : active_) {
        Step best;
        double best_value = value_ + line_.slack(value_), best_gamma = 0.0;
        for (const double gamma : gammas) {
          for (std::size_t i = 0; i < rows_->n; ++i) direction_[i] = column_[m][i] + gamma;
          const Step step = line_.search(v_.data(), v_size(), Direction::of(direction_.data(), rows_->n), true, best_value);
          if (!step.found) continue;
          const double value = evaluate(step.t, direction_.data());
          if (!(value > best_value)) continue;
          best = step;
          best_gamma = gamma;
          best_value = value + line_.slack(value);
          best.value = value;
        }
        if (!best.found) continue;
        a_[m] -= best.t;
        t_ += best.t * best_gamma;
        for (std::size_t i = 0; i < rows_->n; ++i) v_[i] -= best.t * (column_[m][i] + best_gamma);
        value_ = best.value;
        ++version_;
      }
      improve_threshold();
      if (!(Criterion::gain(value_, totals_) - Criterion::gain(before, totals_) > options_->sweep_tol)) return;
      begin_sweep();
    }
  }

  void improve_threshold() {
    const Step step = line_.search(v_.data(), v_size(), line_of_[p_], true, value_);
    if (!step.found) return;
    const double value = evaluate(step.t, column_[p_]);
    if (value > value_ + line_.slack(value_)) take(p_, step.t, value);
  }

  // Drops the feature whose loss costs least if that is a small part of what the most important one's would: coefficient
  // 0, the threshold searched anew. Returns whether one was dropped.
  bool eliminate() {
    std::size_t in_use = 0, least = p_;
    double smallest = 0.0, largest = 0.0;
    for (const std::size_t m : active_) {
      if (a_[m] == 0.0) continue;
      ++in_use;
      for (std::size_t i = 0; i < rows_->n; ++i) spare_[i] = v_[i] - a_[m] * column_[m][i];
      const Step step = line_.search(spare_.data(), largest_magnitude(spare_.data(), rows_->n), line_of_[p_], true, kNone);
      // Without any cut left, nothing is gained at all.
      const double loss = value_ - (step.found ? step.value : Criterion::base(totals_));
      if (least == p_ || loss < smallest) {
        least = m;
        smallest = loss;
      }
      largest = std::max(largest, loss);
    }
    if (in_use < 2 || !(smallest < kLeastImportance * largest)) return false;
    a_[least] = 0.0;
    std::erase(active_, least);
    ++version_;
    compute_values();
    const Step step = line_.search(v_.data(), v_size(), line_of_[p_], true, kNone);
    if (step.found) take(p_, step.t, step.value);
    return true;
  }

  // ---- common -------------------------------------------------------------------------------------------------------

  double v_size() {
    if (sized_ != version_) {
      sized_ = version_;
      v_size_ = largest_magnitude(v_.data(), rows_->n);
    }
    return v_size_;
  }

  double weight(std::size_t i) const { return rows_->weights ? rows_->weights[i] : 1.0; }

  // Value of the hyperplane v - t c, or kNone if a side holds too little.
  double evaluate(double t, const double* c) {
    const double* v = v_.data();
    if (options_->direct && t != 0.0) {
      // What a program without kept values does: all of them anew, for the hyperplane that is tried.
      for (std::size_t j = 0; j < p_; ++j) tried_a_[j] = a_[j];
      double tried_t = t_;
      const std::size_t m = place_of(c);
      if (m < p_)
        tried_a_[m] -= t;
      else if (m == p_)
        tried_t += t;
      if (m <= p_) {
        values_by_row(tried_a_.data(), tried_t, spare_.data());
        return value_of(spare_.data(), c, 0.0);
      }
    }
    return value_of(v, c, t);
  }

  double value_of(const double* v, const double* c, double t) {
    double s = 0.0;
    for (int k = 0; k < rows_->n_classes; ++k) {
      const std::size_t first = rows_->first_row[k], n = rows_->first_row[k + 1] - first;
      left_[k] = rows_->weights ? weigh_left(v + first, c + first, t, rows_->weights + first, n)
                                : static_cast<double>(count_left(v + first, c + first, t, n));
      s += left_[k];
    }
    if (s < std::max(min_leaf_, 0.5) || totals_.n - s < std::max(min_leaf_, 0.5)) return kNone;
    return Criterion::value(left_.data(), s, totals_);
  }

  std::size_t place_of(const double* c) const {
    for (std::size_t j = 0; j <= p_; ++j)
      if (column_[j] == c) return j;
    return p_ + 1;
  }

  void values_by_row(const double* a, double t, double* v) const {
    for (std::size_t i = 0; i < rows_->n; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < p_; ++j) sum += a[j] * by_row_[i * p_ + j];
      v[i] = sum - t;
    }
  }

  void compute_values() {
    sized_ = 0;
    if (options_->direct) {
      tried_a_.resize(p_);
      values_by_row(a_.data(), t_, v_.data());
      return;
    }
    combine_columns(column_.data(), a_.data(), p_, v_.data(), rows_->n);
    for (double& v : v_) v -= t_;
  }

  // Once a sweep the values are computed anew, so that roundings do not add up, and coefficients that have grown or
  // shrunk far are scaled back, by a power of two, which changes nothing else.
  void begin_sweep() {
    if (computed_ == version_) return;
    computed_ = version_;
    double largest = 0.0;
    for (const double a : a_) largest = std::max(largest, std::fabs(a));
    if (largest > 0.0 && std::isfinite(largest) && (largest > 0x1p30 || largest < 0x1p-30)) {
      const double factor = std::exp2(-std::floor(std::log2(largest)));
      for (double& a : a_) a *= factor;
      t_ *= factor;
    }
    compute_values();
  }

  void keep_if_better() {
    if (value_ == kNone || !(best_value_ == kNone || value_ > best_value_ + line_.slack(best_value_))) return;
    best_value_ = value_;
    best_a_ = a_;
    best_t_ = t_;
  }

  // The best hyperplane over the original features: unit normal, threshold in the middle of its gap, and the value of
  // the split it makes in the arithmetic of prediction.
  bool settle(const double* x, const std::size_t* row, ClimbedPlane& out) {
    if (options_->linear_combination) {
      for (std::size_t j = 0; j < p_; ++j) {
        best_a_[j] /= deviation_[j];
        best_t_ += best_a_[j] * mean_[j];
      }
    }
    double unit = std::numeric_limits<double>::infinity(), size = 0.0;
    for (std::size_t j = 0; j < p_; ++j)
      if (best_a_[j] != 0.0) unit = std::min(unit, scale_[j]);
    out.w.assign(p_, 0.0);
    for (std::size_t j = 0; j < p_; ++j) {
      if (best_a_[j] != 0.0) out.w[j] = best_a_[j] * (unit / scale_[j]);
      size = std::max(size, std::fabs(out.w[j]));
    }
    if (!(size > 0.0) || !std::isfinite(size)) return false;
    for (double& w : out.w) w /= size;
    const double length = norm(out.w.data(), p_);
    for (double& w : out.w) w /= length;
    const double t = best_t_ * unit / size / length;
    if (!std::isfinite(t)) return false;

    const std::size_t n = rows_->n;
    for (std::size_t i = 0; i < n; ++i) v_[i] = dot_row(out.w.data(), x + row[i] * p_, p_);
    out.threshold = t;
    if (!oblique::settle(v_.data(), n, out.threshold)) return false;
    for (double& v : v_) v -= out.threshold;
    // Rows equal to the threshold are on the left in both arithmetics.
    out.value = value_of(v_.data(), column_[p_], 0.0);
    return out.value != kNone;
  }

  const NodeRows* rows_ = nullptr;
  const HillClimbOptions* options_ = nullptr;
  Totals totals_;
  std::size_t p_ = 0;
  double min_leaf_ = 1.0;
  LineSearch<Criterion> line_;
  std::vector<const double*> column_;   // p features and the constant 1
  std::vector<Direction> line_of_;      // the same as directions
  Vector columns_, by_row_, scale_, low_, high_, mean_, deviation_;
  std::vector<std::size_t> active_;
  Vector a_, r_, tried_a_, best_a_, v_, direction_, spare_, left_;
  double t_ = 0.0, best_t_ = 0.0, value_ = 0.0, best_value_ = 0.0;
  double v_size_ = 0.0;
  int equal_steps_left_ = 0;
  // Of the hyperplane; the one whose values were computed anew; the one whose largest value is known.
  std::uint64_t version_ = 1, computed_ = 0, sized_ = 0;
  std::vector<std::uint64_t> looked_at_;          // per coefficient, the version that it cannot improve
};

}  // namespace oblique
