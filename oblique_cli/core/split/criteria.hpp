// Split criteria as policies.
//
// A criterion assigns a cut the value V(l), where l holds the weight of each class on the left; the search maximizes V.
// A criterion must define
//
//   name               its name
//   value(l, s, t)     V of one cut, a pure function of l; s = sum of l, with 0 < s < t.n
//   gain(v, t)         the published score of a cut of value v, linear in v: reduction in impurity, or the value itself
//
// and inherits from CriterionOf defaults for
//
//   base(t)            V without a cut, where the gain is 0
//   impurity(t)        of the node: the score that a cut into pure sides would have
//   most(t)            an upper bound of value(); infinite if the arithmetic gives none
//   noise(t)           a bound on the rounding error of V; smaller differences of V have no meaning
//   is_convex          whether V is convex in l (in the weights of one class while the others stay)
//   Scan               the value while rows move from right to left one at a time: rough() is within 1e-10 n of it, or
//                      infinite without such an estimate
//   bounds(b, t)       for every bin an upper bound of V over all cuts inside it or at its right edge, up to slack(t)
//
// The list `Criteria` below makes it known to all engines by its name.
//
// The bounds: all cuts in a bin have left counts in the box a <= l <= b and sum s in [lo, hi]. V is convex in l. After
// relaxing s = sum(l) with a multiplier, each class takes its better end, and s takes its better end as well (for the
// entropy the part in s is concave instead and its maximum is known). Any multiplier is valid; a good one makes the
// bound tight. tests/core/test_split_search.py checks bound >= value for random counts.
#pragma once

#include "split/bin_table.hpp"

namespace oblique {

// Defaults of a criterion.
template <class Own>
struct CriterionOf {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr bool is_convex = false;
  static constexpr bool needs_logarithms = false;

  static double base(const Totals& t) {
    const double at_0 = Own::gain(0.0, t);
    return at_0 == 0.0 ? 0.0 : at_0 / (at_0 - Own::gain(1.0, t));
  }
  // The value of separating one class from the others, which for two classes makes both sides pure.
  static double impurity(const Totals& t) { return Own::gain(parting(t), t); }
  static double most(const Totals&) { return kInfinity; }
  static double noise(const Totals& t) { return 1e-13 * (std::fabs(Own::base(t)) + std::fabs(parting(t))); }

  // Computes the value at every cut.
  struct Scan {
    double s = 0.0;
    void start(const double* l, const Totals& t) {
      s = 0.0;
      for (int k = 0; k < t.n_classes; ++k) s += l[k];
    }
    void move(int, double w, const double*, const Totals&) { s += w; }
    double rough(const double* l, const Totals& t, double) const { return t.counts ? Own::value(l, s, t) : kInfinity; }
  };

  template <class T>
  static double slack(const Totals&) {
    return 0.0;
  }
  template <class T>
  static void bounds(BinTable<T>& b, const Totals&) {
    std::fill_n(b.bound.begin(), b.n_bins, std::numeric_limits<T>::infinity());
  }

 private:
  static double parting(const Totals& t) {
    std::vector<double> left(static_cast<size_t>(t.n_classes), 0.0);
    double best = -kInfinity;
    for (int k = 0; k < t.n_classes; ++k) {
      if (!(t.of_class[k] > 0.0 && t.of_class[k] < t.n)) continue;
      left[k] = t.of_class[k];
      best = std::max(best, Own::value(left.data(), left[k], t));
      left[k] = 0.0;
    }
    return best > -kInfinity ? best : Own::base(t);
  }
};

struct Gini : CriterionOf<Gini> {
  static constexpr const char* name = "gini";
  static constexpr bool is_convex = true;

  static double base(const Totals& t) {
    double sum = 0.0;
    for (int k = 0; k < t.n_classes; ++k) sum += t.of_class[k] * t.of_class[k];
    return sum / t.n;
  }
  static double gain(double v, const Totals& t) { return (v - base(t)) / t.n; }
  static double impurity(const Totals& t) { return gain(t.n, t); }
  // Both sides pure: l^2 / l + r^2 / r, without rounding.
  static double most(const Totals& t) { return t.counts ? t.n : std::numeric_limits<double>::infinity(); }
  static double noise(const Totals& t) { return 1e-14 * t.n; }
  static double value(const double* l, double s, const Totals& t) {
    double left = 0.0, right = 0.0;
    for (int k = 0; k < t.n_classes; ++k) {
      const double r = t.of_class[k] - l[k];
      left += l[k] * l[k];
      right += r * r;
    }
    return left / s + right / (t.n - s);
  }

  struct Scan {
    double left = 0.0, right = 0.0, s = 0.0;
    int moves = 0;
    void start(const double* l, const Totals& t) {
      left = right = s = 0.0;
      moves = 0;
      for (int k = 0; k < t.n_classes; ++k) {
        const double r = t.of_class[k] - l[k];
        left += l[k] * l[k];
        right += r * r;
        s += l[k];
      }
    }
    // l[k] still holds the weight before the move.
    void move(int k, double w, const double* l, const Totals& t) {
      left += w * (2.0 * l[k] + w);
      right -= w * (2.0 * (t.of_class[k] - l[k]) - w);
      s += w;
      ++moves;
    }
    // Precise enough to decide whether the exact value is needed. Running sums of weights have the rounding of every
    // move, a few 2^-53 of n^2 each: too much after many moves, or if little weight is left on the right.
    double rough(const double*, const Totals& t, double) const {
      if (!t.counts) {
        const double rest = t.n - s;
        return moves <= 1024 && 64.0 * rest >= t.n ? left / s + right / rest : kInfinity;
      }
      const size_t i = static_cast<size_t>(s);
      return left * t.of_count->inverse(i) + right * t.of_count->inverse(static_cast<size_t>(t.n) - i);
    }
  };

  // V is at most n, and so is every term of the bound.
  template <class T>
  static double slack(const Totals& t) {
    return rounding<T>(t) * t.n;
  }

  template <class T>
  static void bounds(BinTable<T>& b, const Totals& t) {
    gini_bounds(b.edges(), b.sums(), static_cast<T>(t.n), b.bound.data());
  }
};

// Entropy in nats inside V; gain() divides by n log 2.
struct Entropy : CriterionOf<Entropy> {
  static constexpr const char* name = "entropy";
  static constexpr bool is_convex = true;
  static constexpr bool needs_logarithms = true;

  static double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }
  static double term(double x, const Totals& t) {
    return t.counts ? t.of_count->x_log_x(static_cast<size_t>(x)) : x_log_x(x);
  }
  static double base(const Totals& t) {
    double sum = -x_log_x(t.n);
    for (int k = 0; k < t.n_classes; ++k) sum += x_log_x(t.of_class[k]);
    return sum;
  }
  static double gain(double v, const Totals& t) { return (v - base(t)) / (t.n * 0.6931471805599453); }
  static double impurity(const Totals& t) { return gain(0.0, t); }
  static double noise(const Totals& t) { return 1e-14 * t.n * std::log(t.n + 1.0); }
  static double value(const double* l, double s, const Totals& t) {
    double sum = 0.0;
    for (int k = 0; k < t.n_classes; ++k) sum += term(l[k], t) + term(t.of_class[k] - l[k], t);
    return sum - term(s, t) - term(t.n - s, t);
  }

  struct Scan {
    double sum = 0.0, s = 0.0;
    void start(const double* l, const Totals& t) {
      sum = s = 0.0;
      for (int k = 0; k < t.n_classes; ++k) {
        sum += term(l[k], t) + term(t.of_class[k] - l[k], t);
        s += l[k];
      }
    }
    void move(int k, double w, const double* l, const Totals& t) {
      const double r = t.of_class[k] - l[k];
      sum += term(l[k] + w, t) - term(l[k], t) + term(std::max(r - w, 0.0), t) - term(r, t);
      s += w;
    }
    double rough(const double*, const Totals& t, double) const {
      return t.counts ? sum - term(s, t) - term(t.n - s, t) : std::numeric_limits<double>::infinity();
    }
  };

  // The bounds are computed in double and rounded once, since |V| is at most n log(classes).
  template <class T>
  static double slack(const Totals& t) {
    return 16.0 * noise(t) + static_cast<double>(std::numeric_limits<T>::epsilon()) * t.n * std::log(t.n_classes + 1.0);
  }

  template <class T>
  static void bounds(BinTable<T>& b, const Totals& t) {
    // The multiplier log(s0 / (n - s0)) makes s0 the maximum of the part in s, so it needs no clamp to [lo, hi].
    std::vector<double>&multiplier = b.multiplier, &bound = b.exact_bound;
    multiplier.resize(static_cast<size_t>(b.n_bins));
    bound.resize(static_cast<size_t>(b.n_bins));
    for (int e = 0; e < b.n_bins; ++e) {
      const double lo = std::min(static_cast<double>(b.s[e]) + 1.0, t.n - 1.0);
      const double hi = std::max(std::min(static_cast<double>(b.s[e + 1]), t.n - 1.0), lo);
      const double s0 = 0.5 * (lo + hi);
      multiplier[e] = std::log(s0 / (t.n - s0));
      bound[e] = multiplier[e] * s0 - x_log_x(s0) - x_log_x(t.n - s0);
    }
    for (int k = 0; k < t.n_classes; ++k) {
      const T* cum = b.of_class(k);
      const double total = t.of_class[k];
      double left = static_cast<double>(cum[0]);
      double before = term(left, t) + term(total - left, t);
      for (int e = 0; e < b.n_bins; ++e) {
        const double right = static_cast<double>(cum[e + 1]);
        const double after = right == left ? before : term(right, t) + term(total - right, t);
        bound[e] += std::max(before - multiplier[e] * left, after - multiplier[e] * right);
        before = after;
        left = right;
      }
    }
    for (int e = 0; e < b.n_bins; ++e) b.bound[e] = static_cast<T>(bound[e]);
  }
};

struct Twoing : CriterionOf<Twoing> {
  static constexpr const char* name = "twoing";
  static constexpr bool is_convex = true;

  static double base(const Totals&) { return 0.0; }
  static double gain(double v, const Totals&) { return v; }
  // Half of Gini's: with two classes the twoing value of a cut is half the decrease of the Gini index.
  static double impurity(const Totals& t) { return 0.5 * Gini::impurity(t); }
  // With two classes, only the cut that separates them has the maximum, which is exact like integers below 2^53.
  static double most(const Totals& t) {
    if (!t.counts || t.n_classes != 2 || t.n > 4096.0) return std::numeric_limits<double>::infinity();
    const double left[2] = {t.of_class[0], 0.0};
    return value(left, left[0], t);
  }
  static double noise(const Totals&) { return 1e-15; }
  static double value(const double* l, double s, const Totals& t) {
    double sum = 0.0;
    for (int k = 0; k < t.n_classes; ++k) sum += std::fabs(t.n * l[k] - t.of_class[k] * s);
    return sum * sum / (4.0 * t.n * t.n * s * (t.n - s));
  }
  // A row that moves changes half the sum, in units of rows, by at most its weight. So most cuts need no sum.
  struct Scan {
    double s = 0.0, half = std::numeric_limits<double>::infinity();  // half the sum at the last cut or more
    void start(const double* l, const Totals& t) {
      s = 0.0;
      for (int k = 0; k < t.n_classes; ++k) s += l[k];
    }
    void move(int, double w, const double*, const Totals&) {
      s += w;
      half += std::fabs(w);
    }
    double rough(const double* l, const Totals& t, double needed) {
      if (!t.counts) return std::numeric_limits<double>::infinity();
      const size_t i = static_cast<size_t>(s);
      const double spread = t.of_count->inverse(i) * t.of_count->inverse(static_cast<size_t>(t.n) - i);
      if (half * half * spread < needed) return half * half * spread;
      double sum = 0.0;
      for (int k = 0; k < t.n_classes; ++k) sum += std::fabs(t.n * l[k] - t.of_class[k] * s);
      half = 0.5 * sum / t.n;
      return half * half * spread;
    }
  };

  // With sums in units of rows, V = (sum |y|)^2 / (4 s (n - s)) and sum |y| <= 2 min(s, n - s): an error of eps n in
  // the sum moves V by at most a few eps.
  template <class T>
  static double slack(const Totals& t) {
    return rounding<T>(t);
  }

  template <class T>
  static void bounds(BinTable<T>& b, const Totals& t) {
    twoing_bounds(b.edges(), b.sums(), static_cast<T>(t.n), b.bound.data());
  }
};

// The negative number of rows outside the majority of a side, summed over both sides. Both terms fall when a box is
// evaluated at its better corner, because sum(l) - max(l) never falls when a component grows.
template <class Own>
struct MinorityOf : CriterionOf<Own> {
  static double base(const Totals& t) { return *std::max_element(t.of_class, t.of_class + t.n_classes) - t.n; }
  static double gain(double v, const Totals& t) { return (v - base(t)) / t.n; }
  static double impurity(const Totals& t) { return gain(0.0, t); }
  static double most(const Totals& t) { return t.counts ? 0.0 : CriterionOf<Own>::kInfinity; }
  static double noise(const Totals& t) { return 1e-13 * t.n; }
  static double value(const double* l, double s, const Totals& t) {
    double left = 0.0, right = 0.0;
    for (int k = 0; k < t.n_classes; ++k) {
      left = std::max(left, l[k]);
      right = std::max(right, t.of_class[k] - l[k]);
    }
    return -Own::joined(s - left, t.n - s - right);
  }
  template <class T>
  static double slack(const Totals& t) {
    return 16.0 * noise(t) + static_cast<double>(std::numeric_limits<T>::epsilon()) * t.n;
  }
  template <class T>
  static void bounds(BinTable<T>& b, const Totals& t) {
    for (int e = 0; e < b.n_bins; ++e)
      b.bound[e] =
          static_cast<T>(-Own::joined(static_cast<double>(b.s[e] - b.left_max[e]),
                                      t.n - static_cast<double>(b.s[e + 1]) - static_cast<double>(b.right_max[e + 1])));
  }
};

struct MaxMinority : MinorityOf<MaxMinority> {
  static constexpr const char* name = "max_minority";
  static double joined(double left, double right) { return std::max(left, right); }
};

struct SumMinority : MinorityOf<SumMinority> {
  static constexpr const char* name = "sum_minority";
  static constexpr bool is_convex = true;
  static double joined(double left, double right) { return left + right; }
};

// A criterion from Python. Every value costs a function call, so there is no cheap estimate (`rough`) of a cut.
struct Given : CriterionOf<Given> {
  static double gain(double v, const Totals& t) {
    return t.runtime_criterion->gain ? t.runtime_criterion->gain(v, t) : v;
  }
  static double value(const double* l, double, const Totals& t) {
    const std::vector<double> left(l, l + t.n_classes);
    std::vector<double> right(left.size());
    for (size_t k = 0; k < left.size(); ++k) right[k] = t.of_class[k] - l[k];
    double value = 0.0;
    t.runtime_criterion->values(left, right, 1, &value);
    return value;
  }
  struct Scan : CriterionOf<Given>::Scan {
    double rough(const double*, const Totals&, double) const { return kInfinity; }
  };
};

template <class... Each>
struct CriterionList {};
// All criteria, in the order of listings.
using Criteria = CriterionList<Gini, Entropy, Twoing, MaxMinority, SumMinority>;

template <class... Each>
std::vector<std::string> names_of(CriterionList<Each...>) {
  return {Each::name...};
}

template <class Use, class First, class... Others>
auto with_criterion_of(CriterionList<First, Others...>, const std::string& name, const Use& use) {
  if (name == First::name) return use.template operator()<First>();
  if constexpr (sizeof...(Others) > 0) return with_criterion_of(CriterionList<Others...>{}, name, use);
  std::string known;
  for (const std::string& each : names_of(Criteria{})) known += (known.empty() ? "" : ", ") + each;
  for (const std::string& each : given_criteria()) known += ", " + each;
  throw std::invalid_argument("unknown criterion '" + name + "'; there are " + known);
}

// Calls use.operator()<Criterion>() for the criterion of a name; for a criterion from Python, Totals must hold it.
template <class Use>
auto with_criterion(const std::string& name, const Use& use) {
  if (given_criterion(name)) return use.template operator()<Given>();
  return with_criterion_of(Criteria{}, name, use);
}

}  // namespace oblique
