// OC1, OC1-LC and OC1-AP at one node as the program OC1, version 3, searches (https://github.com/AndriyMulyar/
// sklearn-oblique-tree, its first sources). The rules are those that its sources state and its runs show.
//
// A hyperplane is v = a'x + c; rows with v < 0 go left. The impurity of a cut is 1 / gain in single precision; 0 if
// both sides are pure and infinite without a gain. Differences from Murthy et al. (1994) and from Breiman et al.
// (1984):
// - A sweep leaves the constant c out; only random directions (and order r50) move it.
// - The first eleven steps in a row that change the impurity by at most 1e-4 are all taken, then none.
// - Of equal cuts along a line, and of equal restarts, each later one replaces the earlier one with probability 1/2.
// - A coefficient moves only by more than 1e-4, in the units of the features.
// - Features, coefficients and steps have single precision. A climb of OC1-LC, which may get worse, depends on it.
// - Random planes and directions have p + 1 coefficients uniform in (-1, 1), c included, for unscaled features.
// - A feature with negative values at the node is shifted so that its least value is 0. The first starting plane, the
//   best axis-parallel cut, keeps the threshold of the unshifted feature.
// - The thresholds of hyperplanes are not moved to the middle of their gaps.
// - OC1-LC takes the best of its three steps even if the cut gets worse, and so the threshold; it tries at the root
//   whatever the number of rows, and a node whose last plane has no gain is a leaf.
// Two deviations from the program: two infinite impurities count as equal, because steps between them may not end, and
// reciprocals of the gain stand for its impurities by other criteria than twoing and entropy.
#pragma once

#include "common/interrupt.hpp"
#include "common/key_sort.hpp"
#include "heuristic/climbing/oc1_climb.hpp"
#include "split/criteria.hpp"

namespace oblique {

enum class ProgramSplits { oblique, linear_combinations, axes };

template <ProgramSplits Kind>
class OC1Program final : public Heuristic {
 public:
  explicit OC1Program(const Options& options) : min_leaf_(options.number("min_leaf")) {
    if constexpr (Kind == ProgramSplits::oblique) {
      restarts_ = options.integer("restarts");
      jumps_ = options.integer("jumps");
      order_ = order_of(options);
    }
    with_criterion(options.choice("criterion"), [this]<class Criterion>() {
      value_ = &Criterion::value;
      gain_ = &Criterion::gain;
      base_ = &Criterion::base;
      noise_ = &Criterion::noise;
      best_step_ = &OC1Program::best_step_by<Criterion>;
    });
  }

  bool split(const Node& node, Split& out) override {
    begin(node);
    [[maybe_unused]] const float of_axis = best_axis();
    [[maybe_unused]] const bool is_large = totals_.n > 2.0 * static_cast<double>(p_);
    if constexpr (Kind == ProgramSplits::linear_combinations) {
      if (of_axis != 0.0f && (is_large || node.path == kRootPath)) sweep_until_flat();
    } else if constexpr (Kind == ProgramSplits::oblique) {
      if (of_axis != 0.0f && is_large) {
        const Floats axis = a_;
        shift_up();
        const float climbed = climb();
        for (size_t j = 0; j < p_; ++j) a_[p_] -= a_[j] * low_[j];
        if (climbed < of_axis && settle(out)) return true;
        a_ = axis;
      }
    }
    return settle(out);
  }

  void propose(const Node& node, Candidates& candidates) override {
    Split best;
    if (split(node, best)) candidates.add_hyperplane(std::move(best.normal), best.threshold);
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr double kTolerance = 1e-4;  // of impurities and coefficients
  static constexpr int kEqualSteps = 10, kMostSweeps = 100, kRandomPerturbations = 50;

  using Floats = std::vector<float>;
  struct Entry {
    float step;
    uint32_t row;
  };
  // A step along a line, and the impurity of the hyperplane behind it.
  struct Move {
    float step = 0.0f;
    float impurity = kInfinity;
  };

  void begin(const Node& node) {
    node_ = &node;
    totals_ = node.search.totals();
    n_ = node.rows.n;
    p_ = node.n_features();
    stream_.emplace(node.stream(0));
    a_.assign(p_ + 1, 0.0f);
    low_.assign(p_, 0.0f);
    columns_.assign((p_ + 1) * n_, 1.0f);
    for (size_t j = 0; j < p_; ++j)
      std::transform(node.rows.columns[j], node.rows.columns[j] + n_, columns_.data() + j * n_,
                     [](double x) { return static_cast<float>(x); });
    for (Vector* each : {&v_, &tried_, &direction_}) each->resize(n_);
    entries_.resize(n_);
    class_of_.resize(n_);
    for (int k = 0; k < node.rows.n_classes; ++k)
      std::fill(class_of_.begin() + node.rows.first_row[k], class_of_.begin() + node.rows.first_row[k + 1], k);
    left_.resize(node.rows.n_classes);
    some_of_class_.resize(node.rows.n_classes);
  }

  const float* column(size_t m) const { return columns_.data() + m * n_; }

  void shift_up() {
    for (size_t j = 0; j < p_; ++j) {
      float* x = columns_.data() + j * n_;
      low_[j] = std::min(0.0f, *std::min_element(x, x + n_));
      for (size_t i = 0; i < n_; ++i) x[i] -= low_[j];
    }
  }

  // The impurity of the cut with weights left_ on its left, among rows of these totals.
  float impurity(const Totals& totals, double least) const {
    double s = 0.0;
    int in_left = 0, in_right = 0;
    for (int k = 0; k < totals.n_classes; ++k) {
      s += left_[k];
      in_left += left_[k] > 0.5;
      in_right += totals.of_class[k] - left_[k] > 0.5;  // every row weighs at least 1
    }
    if (s < least || totals.n - s < least) return kInfinity;
    const double value = value_(left_.data(), s, totals);
    if (!(value > base_(totals) + noise_(totals))) return kInfinity;
    if (in_left == 1 && in_right == 1) return 0.0f;
    return static_cast<float>(1.0 / gain_(value, totals));
  }

  float impurity_of(const Vector& v) {
    const NodeRows& rows = node_->rows;
    std::fill(left_.begin(), left_.end(), 0.0);
    for (size_t i = 0; i < n_; ++i)
      if (v[i] < 0.0) left_[class_of_[i]] += rows.weight(i);
    return impurity(totals_, std::max(min_leaf_, 0.5));
  }

  // The best cut of the first m entries, in order of their steps.
  float best_step(size_t m) { return (this->*best_step_)(m); }

  template <class Criterion>
  float best_step_by(size_t m) {
    checkpoint(m);
    const NodeRows& rows = node_->rows;
    std::fill(left_.begin(), left_.end(), 0.0);
    std::fill(some_of_class_.begin(), some_of_class_.end(), 0.0);
    Totals totals = totals_;
    totals.of_class = some_of_class_.data();
    totals.n = 0.0;
    for (size_t i = 0; i < m; ++i) {
      some_of_class_[class_of_[entries_[i].row]] += rows.weight(entries_[i].row);
      totals.n += rows.weight(entries_[i].row);
    }
    typename Criterion::Scan scan;
    scan.start(left_.data(), totals);
    float best = kInfinity;
    double needed = -std::numeric_limits<double>::infinity();  // no cut of a lower value has an impurity of `best`
    size_t cut = 0;
    for (size_t i = 0; i < m;) {
      const float step = entries_[i].step;
      do {
        const int k = class_of_[entries_[i].row];
        const double w = rows.weight(entries_[i].row);
        scan.move(k, w, left_.data(), totals);
        left_[k] += w;
      } while (++i < m && entries_[i].step == step);
      if (scan.rough(left_.data(), totals, needed) < needed) continue;
      const float here = impurity(totals, 0.5);
      if (!(here < best || (here == best && stream_->uniform() < 0.5))) continue;
      best = here;
      cut = i;
      if (best == 0.0f) break;
      if (best < kInfinity) needed = value_of_impurity<Criterion>(best, totals) - 1e-10 * totals.n;
    }
    if (cut == 0) return static_cast<float>(entries_[0].step - kTolerance);
    return cut == m ? entries_[m - 1].step : 0.5f * (entries_[cut - 1].step + entries_[cut].step);
  }

  // The value of a cut whose impurity exceeds `impurity` by more than single precision resolves.
  template <class Criterion>
  static double value_of_impurity(float impurity, const Totals& totals) {
    const double base = Criterion::base(totals);
    return base + (1.0 - 1e-5) / impurity / Criterion::gain(base + 1.0, totals);
  }

  // The best move from v to v + step c, among the steps at which rows change sides; false without any. The steps of OC1
  // are new values of a coefficient, which is `origin` now; those of OC1-LC have the opposite sign.
  template <class T>
  bool search(const T* c, float origin, Move& move) {
    constexpr bool is_reversed = Kind == ProgramSplits::linear_combinations;
    const auto step_of = [&](size_t i) {
      const float ratio = static_cast<float>(v_[i] / c[i]);
      return (is_reversed ? ratio : origin - ratio) + 0.0f;
    };
    keys_.resize(n_);
    size_t m = 0;
    for (size_t i = 0; i < n_; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(step_of(i));
      keys_[m] = (uint64_t{bits >> 31 ? ~bits : bits | 0x80000000u} << 32) | i;
      m += c[i] != T{0};
    }
    if (m == 0) return false;
    sort_steps(m);
    for (size_t e = 0; e < m; ++e) entries_[e] = {step_of_key(keys_[e]), static_cast<uint32_t>(keys_[e])};
    const float step = best_step(m);
    if (!std::isfinite(step)) return false;
    move.step = is_reversed ? -step : step - origin;
    for (size_t i = 0; i < n_; ++i) tried_[i] = v_[i] + move.step * c[i];
    move.impurity = impurity_of(tried_);
    return true;
  }

  static float step_of_key(uint64_t key) {
    const uint32_t bits = static_cast<uint32_t>(key >> 32);
    return std::bit_cast<float>(bits >> 31 ? bits & 0x7fffffffu : ~bits);
  }

  // Sorts the first m keys. Steps spread over the octaves unevenly, so buckets are of equal width around the median of
  // a sample, ever wider towards the ends.
  void sort_steps(size_t m) {
    constexpr size_t kSample = 33, kFew = 256;
    if (m <= kFew) return sort_.sort(keys_.data(), m);
    uint64_t sample[kSample];
    for (size_t i = 0; i < kSample; ++i) sample[i] = keys_[i * (m - 1) / (kSample - 1)];
    std::sort(sample, sample + kSample);
    const double middle = step_of_key(sample[kSample / 2]);
    const double width = step_of_key(sample[3 * kSample / 4]) - step_of_key(sample[kSample / 4]);
    if (!(width > 0.0 && std::isfinite(width))) return sort_.sort(keys_.data(), m);
    const size_t n_buckets = m / 2;
    buckets_.assign(n_buckets + 1, 0);
    bucket_of_.resize(m);
    for (size_t i = 0; i < m; ++i) {
      const double x = step_of_key(keys_[i]) - middle;
      const double share = 0.5 + 0.5 * x / (width + std::fabs(x));
      bucket_of_[i] = share >= 0.0 ? static_cast<uint32_t>(share * static_cast<double>(n_buckets - 1)) : 0;
      ++buckets_[bucket_of_[i] + 1];
    }
    for (size_t b = 1; b <= n_buckets; ++b) buckets_[b] += buckets_[b - 1];
    spare_.swap(keys_);
    keys_.resize(n_);
    for (size_t i = 0; i < m; ++i) keys_[buckets_[bucket_of_[i]]++] = spare_[i];
    size_t first = 0;
    for (size_t b = 0; b < n_buckets; first = buckets_[b++])
      if (buckets_[b] - first > 24 && !std::is_sorted(keys_.data() + first, keys_.data() + buckets_[b]))
        std::sort(keys_.data() + first, keys_.data() + buckets_[b]);
    insertion_sort(keys_.data(), m, std::less<>());  // rounding may swap keys at the ends of buckets
  }

  static void add(float a, const float* x, Vector& out) {
    for (size_t i = 0; i < out.size(); ++i) out[i] += a * x[i];
  }

  // Adds `change` to coefficient m, if it is large enough.
  bool change(size_t m, float change) {
    const float before = a_[m], after = before + change;
    if (!(std::fabs(after - before) > kTolerance)) return false;
    a_[m] = after;
    add(after - before, column(m), v_);
    return true;
  }

  float best_axis() {
    float best = kInfinity;
    size_t axis = 0;
    float threshold = 0.0f;
    for (size_t j = 0; j < p_ && (j == 0 || best != 0.0f); ++j) {
      for (size_t i = 0; i < n_; ++i) entries_[i] = {column(j)[i], static_cast<uint32_t>(i)};
      std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.step < b.step; });
      const float step = best_step(n_);
      for (size_t i = 0; i < n_; ++i) tried_[i] = column(j)[i] - step;
      const float here = impurity_of(tried_);
      if (j > 0 && !(here < best)) continue;
      best = here;
      axis = j;
      threshold = step;
    }
    a_[axis] = 1.0f;
    a_[p_] = -threshold;
    return best;
  }

  float start() {
    combine(a_, v_);
    return impurity_of(v_);
  }

  void combine(const Floats& a, Vector& out) const {
    std::fill(out.begin(), out.end(), a[p_]);
    for (size_t m = 0; m < p_; ++m) add(a[m], column(m), out);
  }

  void draw(Floats& a) {
    a.resize(p_ + 1);
    for (float& each : a) each = static_cast<float>(stream_->between(-1.0, 1.0));
  }

  // ---- OC1 ----

  float climb() {
    float current = start(), least = current;
    Floats best = a_;
    for (int64_t restart = 0; least != 0.0f && restart < restarts_; ++restart) {
      if (restart > 0) {
        draw(a_);
        current = start();
      }
      equal_steps_ = 0;
      order_ == PerturbationOrder::random50 ? perturb_at_random(current) : perturb_in_turn(current);
      if (!(current < least || (current == least && stream_->uniform() > 0.5))) continue;
      least = current;
      best = a_;
    }
    a_ = best;
    return least;
  }

  void perturb_in_turn(float& current) {
    for (bool is_changed = true; is_changed && current != 0.0f;) {
      is_changed = order_ == PerturbationOrder::best && perturb(best_coefficient(current), current);
      for (size_t m = 0; order_ != PerturbationOrder::best && m < p_ && current != 0.0f; ++m)
        is_changed = perturb(m, current) || is_changed;
      is_changed = is_changed || jump_to_better(current);
    }
  }

  void perturb_at_random(float& current) {
    for (int i = 0; i < kRandomPerturbations && current != 0.0f; ++i)
      if (!perturb(stream_->below(p_ + 1), current)) jump_to_better(current);
  }

  // The best move of coefficient m; false if it is worse than `current`, or equal after too many equal moves.
  bool is_offered(size_t m, float current, Move& move) {
    if (!search(column(m), a_[m], move) || current < move.impurity) return false;
    const bool is_equal = current == move.impurity || std::fabs(current - move.impurity) <= kTolerance;
    if (is_equal && equal_steps_ > kEqualSteps) return false;
    equal_steps_ = is_equal ? equal_steps_ + 1 : 0;
    if (is_equal) move.impurity = current;
    return true;
  }

  bool perturb(size_t m, float& current) {
    Move move;
    if (!is_offered(m, current, move) || !change(m, move.step)) return false;
    current = move.impurity;
    return true;
  }

  size_t best_coefficient(float current) {
    const int equal_steps = equal_steps_;
    size_t best = 0;
    float least = kInfinity;
    for (size_t m = 0; m < p_ && least != 0.0f; ++m) {
      Move move;
      const float here = is_offered(m, current, move) ? move.impurity : current;
      equal_steps_ = equal_steps;
      if (!(here < least)) continue;
      least = here;
      best = m;
    }
    return best;
  }

  bool jump_to_better(float& current) {
    for (int64_t jump = 0; jump < jumps_ && current != 0.0f; ++jump) {
      draw(drawn_);
      combine(drawn_, direction_);
      Move move;
      if (!search(direction_.data(), 0.0f, move) || !(move.impurity < current)) continue;
      equal_steps_ = 0;
      bool is_changed = false;
      for (size_t m = 0; m <= p_; ++m) is_changed = change(m, move.step * drawn_[m]) || is_changed;
      if (!is_changed) continue;
      current = move.impurity;
      return true;
    }
    return false;
  }

  // ---- OC1-LC ----

  void sweep_until_flat() {
    float current = start();
    for (int sweep = 0; current != 0.0f; ++sweep) {
      const float before = current;
      for (size_t m = 0; m < p_ && current != 0.0f; ++m) step_about(m, current);
      if (Move move; current != 0.0f && search(column(p_), 0.0f, move) && change(p_, move.step))
        current = move.impurity;
      if (sweep >= kMostSweeps || (sweep > 0 && std::fabs(before - current) < kTolerance)) return;
    }
  }

  void step_about(size_t m, float& current) {
    Move best;
    float best_gamma = 0.0f;
    bool is_first = true;
    shifted_.resize(n_);
    for (const float gamma : {-0.25f, 0.0f, 0.25f}) {
      for (size_t i = 0; i < n_; ++i) shifted_[i] = column(m)[i] + gamma;
      Move move;
      if (!search(shifted_.data(), 0.0f, move) || !(is_first || move.impurity < best.impurity)) continue;
      is_first = false;
      best = move;
      best_gamma = gamma;
    }
    const bool is_changed = change(m, best.step);
    if (change(p_, best.step * best_gamma) || is_changed) current = best.impurity;
  }

  // ----

  // Expresses the hyperplane by a unit normal, with its gain in the arithmetic of prediction; false without a gain.
  bool settle(Split& out) {
    double size = 0.0;
    for (size_t j = 0; j < p_; ++j) size = std::max(size, std::fabs(double{a_[j]}));
    if (!(size > 0.0) || !std::isfinite(size)) return false;
    out.normal.assign(a_.begin(), a_.begin() + static_cast<int64_t>(p_));
    for (double& each : out.normal) each /= size;
    const double length = norm(out.normal.data(), p_);
    for (double& each : out.normal) each /= length;
    // A row on the hyperplane goes right, as in the program.
    out.threshold = std::nextafter(-a_[p_] / size / length, -std::numeric_limits<double>::infinity());
    node_->predicted.project(out.normal.data(), tried_.data());
    std::fill(left_.begin(), left_.end(), 0.0);
    double s = 0.0;
    for (size_t i = 0; i < n_; ++i) {
      if (!(tried_[i] <= out.threshold)) continue;
      left_[class_of_[i]] += node_->rows.weight(i);
      s += node_->rows.weight(i);
    }
    if (impurity(totals_, std::max(min_leaf_, 0.5)) == kInfinity) return false;
    out.gain = gain_(value_(left_.data(), s, totals_), totals_);
    out.is_final = true;
    return true;
  }

  const double min_leaf_;
  int64_t restarts_ = 0, jumps_ = 0;
  PerturbationOrder order_ = PerturbationOrder::sequential;
  double (*value_)(const double*, double, const Totals&) = nullptr;
  double (*gain_)(double, const Totals&) = nullptr;
  double (*base_)(const Totals&) = nullptr;
  double (*noise_)(const Totals&) = nullptr;
  float (OC1Program::*best_step_)(size_t) = nullptr;
  const Node* node_ = nullptr;
  Totals totals_;
  size_t n_ = 0, p_ = 0;
  std::optional<Stream> stream_;
  Floats a_, low_, drawn_, shifted_, columns_;  // a_[p] is the constant
  Vector v_, tried_, direction_, left_, some_of_class_;
  std::vector<Entry> entries_;
  std::vector<int> class_of_;
  std::vector<uint64_t> keys_, spare_;
  std::vector<uint32_t> buckets_, bucket_of_;
  KeySort sort_;
  int equal_steps_ = 0;  // taken in a row
};

}  // namespace oblique
