// Split criteria as policies.
//
// A criterion values a cut by V(l), l = the weight of each class on the left, and V is maximised. It offers
//   base(t)            V of not cutting at all
//   gain(v, t)         the published score of a cut: reduction in impurity, or the twoing value itself
//   noise(t)           a bound on the rounding error of V, below which two values say nothing
//   value(l, s, t)     V of one cut, a pure function of l; s = sum of l, with 0 < s < t.n
//   Scan               the same while rows move from right to left one at a time
//   bounds(b, t)       for every bin an upper bound of V over all cuts inside it or at its right edge
//
// The bounds: all cuts in a bin have left counts in the box a <= l <= b and sum s in [lo, hi]. V is convex in l, and
// after relaxing s = sum(l) with a multiplier each class takes its better end, while s takes its better end as well
// (for the entropy the part in s is concave instead and its maximum is known). The multiplier may be any number; a good
// one makes the bound tight. tests/test_split_search.py checks bound >= value for random counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels.hpp"

namespace oblique {

// The classes present at a node. Weights are in units of the smallest positive one, so every row weighs at least 1.
struct Totals {
  int n_classes = 0;
  const double* of_class = nullptr;
  double n = 0.0;
  bool counts = true;                     // all weights are 1, so every sum is an exact integer
  const double* x_log_x = nullptr;        // table for integers 0..n when counts is true and the criterion wants it
};

// Cumulative class weights at the edges of equal-width bins, and room for what the bounds need.
struct BinTable {
  int n_bins = 0;
  std::vector<double> cum;                // class k at edge e: cum[k * (n_bins + 1) + e]
  std::vector<double> s, q, m;            // at edge e: sum l, sum l^2, sum N l
  std::vector<double> lo, hi;             // smallest and largest left weight of a cut of bin b
  std::vector<double> multiplier, at_lo, at_hi;
  std::vector<double> inv_lo, inv_nlo, inv_hi, inv_nhi;
  std::vector<double> bound;

  void reserve(int n_classes, int max_bins) {
    cum.resize(static_cast<std::size_t>(n_classes) * (max_bins + 1));
    for (auto* v : {&s, &q, &m, &lo, &hi, &multiplier, &at_lo, &at_hi, &inv_lo, &inv_nlo, &inv_hi, &inv_nhi, &bound})
      v->resize(static_cast<std::size_t>(max_bins) + 1);
  }
  const double* of_class(int k) const { return cum.data() + static_cast<std::size_t>(k) * (n_bins + 1); }
  double* of_class(int k) { return cum.data() + static_cast<std::size_t>(k) * (n_bins + 1); }

  int last_filled() const {
    int e = n_bins - 1;
    while (e > 0 && s[e] == s[e + 1]) --e;
    return e;
  }

  // Sets lo and hi: a cut of bin b leaves more than the bin's left edge and at most its right edge on the left, and
  // at least one row (weight 1) on either side.
  void limits(double n) {
    for (int b = 0; b < n_bins; ++b) {
      lo[b] = std::min(s[b] + 1.0, n - 1.0);
      hi[b] = std::max(std::min(s[b + 1], n - 1.0), lo[b]);
    }
  }
};

struct Gini {
  static constexpr bool needs_logarithms = false;

  static double base(const Totals& t) {
    double sum = 0.0;
    for (int k = 0; k < t.n_classes; ++k) sum += t.of_class[k] * t.of_class[k];
    return sum / t.n;
  }
  static double gain(double v, const Totals& t) { return (v - base(t)) / t.n; }
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
    void start(const double* l, const Totals& t) {
      left = right = s = 0.0;
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
    }
    double value(const double*, const Totals& t) const { return left / s + right / (t.n - s); }
  };
  static constexpr bool scan_is_exact_for_counts = true;

  static void bounds(BinTable& b, const Totals& t) {
    const int n_bins = b.n_bins;
    const double n = t.n;
    double all = 0.0;
    for (int k = 0; k < t.n_classes; ++k) all += t.of_class[k] * t.of_class[k];
    // sum (N - l)^2 at an edge = sum N^2 - 2 sum N l + sum l^2
    const auto right_square = [&](int e) { return all - 2.0 * b.m[e] + b.q[e]; };
    for (int e = 0; e < n_bins; ++e) {
      b.inv_lo[e] = 1.0 / b.lo[e];
      b.inv_nlo[e] = 1.0 / (n - b.lo[e]);
      b.inv_hi[e] = 1.0 / b.hi[e];
      b.inv_nhi[e] = 1.0 / (n - b.hi[e]);
      // Best multiplier: |p_L|^2 - |p_R|^2, here with the squares averaged over the two edges of the bin.
      const double s0 = 0.5 * (b.s[e] + b.s[e + 1]);
      const double left = 0.5 * (b.q[e] + b.q[e + 1]), right = 0.5 * (right_square(e) + right_square(e + 1));
      b.multiplier[e] = s0 > 0.0 && s0 < n ? left / (s0 * s0) - right / ((n - s0) * (n - s0)) : 0.0;
      b.at_lo[e] = b.multiplier[e] * (b.lo[e] - b.s[e]) + b.q[e] * b.inv_lo[e] + right_square(e) * b.inv_nlo[e];
      b.at_hi[e] = b.multiplier[e] * (b.hi[e] - b.s[e]) + b.q[e] * b.inv_hi[e] + right_square(e) * b.inv_nhi[e];
    }
    for (int k = 0; k < t.n_classes; ++k)
      gini_bound_terms(b.of_class(k), t.of_class[k], n_bins, b.inv_lo.data(), b.inv_nlo.data(), b.inv_hi.data(),
                       b.inv_nhi.data(), b.multiplier.data(), b.at_lo.data(), b.at_hi.data());
    for (int e = 0; e < n_bins; ++e) b.bound[e] = std::max(b.at_lo[e], b.at_hi[e]);
    // Where s is small, sum l^2 / s is better bounded by the largest class on that side; likewise on the right.
    for (int e = 0; e <= n_bins; ++e) b.at_lo[e] = b.at_hi[e] = 0.0;
    for (int k = 0; k < t.n_classes; ++k)
      largest_class_terms(b.of_class(k), t.of_class[k], n_bins + 1, b.at_lo.data(), b.at_hi.data());
    for (int e = 0; e < n_bins; ++e) {
      const double left = b.at_lo[e + 1] + right_square(e) * b.inv_nhi[e];
      const double right = b.at_hi[e] + b.q[e + 1] * b.inv_lo[e];
      b.bound[e] = std::min(b.bound[e], std::min(left, right));
    }
  }
};

// Entropy in nats inside V; gain() divides by n log 2.
struct Entropy {
  static constexpr bool needs_logarithms = true;

  static double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }
  static double term(double x, const Totals& t) {
    return t.counts ? t.x_log_x[static_cast<std::size_t>(x)] : x_log_x(x);
  }
  static double base(const Totals& t) {
    double sum = -x_log_x(t.n);
    for (int k = 0; k < t.n_classes; ++k) sum += x_log_x(t.of_class[k]);
    return sum;
  }
  static double gain(double v, const Totals& t) { return (v - base(t)) / (t.n * 0.6931471805599453); }
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
    double value(const double*, const Totals& t) const { return sum - term(s, t) - term(t.n - s, t); }
  };
  static constexpr bool scan_is_exact_for_counts = false;

  static void bounds(BinTable& b, const Totals& t) {
    for (int e = 0; e < b.n_bins; ++e) {
      const double s0 = 0.5 * (b.lo[e] + b.hi[e]);
      b.multiplier[e] = std::log(s0 / (t.n - s0));  // then s0 maximises the part in s, so no clamp is needed
      b.at_lo[e] = b.multiplier[e] * s0 - x_log_x(s0) - x_log_x(t.n - s0);
    }
    for (int k = 0; k < t.n_classes; ++k) {
      const double* cum = b.of_class(k);
      const double total = t.of_class[k];
      double before = term(cum[0], t) + term(total - cum[0], t);
      for (int e = 0; e < b.n_bins; ++e) {
        const double after = cum[e + 1] == cum[e] ? before : term(cum[e + 1], t) + term(total - cum[e + 1], t);
        b.at_lo[e] += std::max(before - b.multiplier[e] * cum[e], after - b.multiplier[e] * cum[e + 1]);
        before = after;
      }
    }
    for (int e = 0; e < b.n_bins; ++e) b.bound[e] = b.at_lo[e];
  }
};

// A criterion whose value is cheap enough to be computed afresh at every cut.
template <class Criterion>
struct FreshScan {
  double s = 0.0;
  void start(const double* l, const Totals& t) {
    s = 0.0;
    for (int k = 0; k < t.n_classes; ++k) s += l[k];
  }
  void move(int, double w, const double*, const Totals&) { s += w; }
  double value(const double* l, const Totals& t) const { return Criterion::value(l, s, t); }
};

struct Twoing {
  static constexpr bool needs_logarithms = false;

  static double base(const Totals&) { return 0.0; }
  static double gain(double v, const Totals&) { return v; }
  static double noise(const Totals&) { return 1e-15; }
  static double value(const double* l, double s, const Totals& t) {
    double sum = 0.0;
    for (int k = 0; k < t.n_classes; ++k) sum += std::fabs(t.n * l[k] - t.of_class[k] * s);
    return sum * sum / (4.0 * t.n * t.n * s * (t.n - s));
  }
  using Scan = FreshScan<Twoing>;
  static constexpr bool scan_is_exact_for_counts = true;

  static void bounds(BinTable& b, const Totals& t) {
    const double n = t.n;
    for (int e = 0; e < b.n_bins; ++e) {
      b.multiplier[e] = 0.0;
      b.at_lo[e] = b.at_hi[e] = 0.0;
    }
    // Best multiplier from the middle of the bin: -(M + F (n - 2s) / (2 s (n - s))) / n, M = sum N sign(y), F = sum |y|.
    for (int k = 0; k < t.n_classes; ++k) {
      const double* cum = b.of_class(k);
      const double total = t.of_class[k];
      for (int e = 0; e < b.n_bins; ++e) {
        const double s0 = 0.5 * (b.s[e] + b.s[e + 1]);
        const double y = n * 0.5 * (cum[e] + cum[e + 1]) - total * s0;
        b.at_lo[e] += y > 0.0 ? total : (y < 0.0 ? -total : 0.0);
        b.at_hi[e] += std::fabs(y);
      }
    }
    for (int e = 0; e < b.n_bins; ++e) {
      const double s0 = 0.5 * (b.s[e] + b.s[e + 1]);
      const double spread = 2.0 * s0 * (n - s0);
      const double best = spread > 0.0 ? -(b.at_lo[e] + b.at_hi[e] * (n - 2.0 * s0) / spread) / n : 0.0;
      b.multiplier[e] = std::clamp(best, -1.0, 1.0);
      b.at_lo[e] = b.at_hi[e] = 0.0;
    }
    for (int k = 0; k < t.n_classes; ++k)
      twoing_bound_terms(b.of_class(k), t.of_class[k], n, b.n_bins, b.lo.data(), b.hi.data(), b.multiplier.data(),
                         b.at_lo.data(), b.at_hi.data());
    const double scale = 1.0 / (4.0 * n * n);
    for (int e = 0; e < b.n_bins; ++e) {
      const double at_lo = b.at_lo[e] * b.at_lo[e] * scale / (b.lo[e] * (n - b.lo[e]));
      const double at_hi = b.at_hi[e] * b.at_hi[e] * scale / (b.hi[e] * (n - b.hi[e]));
      // sum |n l - N s| is at most 2 n s and at most 2 n (n - s): tight where s or n - s is tiny.
      const double cap = std::min(b.hi[e] / (n - b.hi[e]), (n - b.lo[e]) / b.lo[e]);
      b.bound[e] = std::min(std::max(at_lo, at_hi), cap);
    }
  }
};

// Rows outside the majority, left and right; both fall when a box is read at its better corner, because
// sum(l) - max(l) never falls when a component grows.
struct Minorities {
  double left, right;
};

inline Minorities minorities(const double* l, double s, const Totals& t) {
  double left = 0.0, right = 0.0;
  for (int k = 0; k < t.n_classes; ++k) {
    left = std::max(left, l[k]);
    right = std::max(right, t.of_class[k] - l[k]);
  }
  return {s - left, t.n - s - right};
}

inline double minority_of_node(const Totals& t) {
  double largest = 0.0;
  for (int k = 0; k < t.n_classes; ++k) largest = std::max(largest, t.of_class[k]);
  return t.n - largest;
}

template <class Join>
void minority_bounds(BinTable& b, const Totals& t, Join join) {
  for (int e = 0; e < b.n_bins; ++e) {
    double left = 0.0, right = 0.0;
    for (int k = 0; k < t.n_classes; ++k) {
      const double* cum = b.of_class(k);
      left = std::max(left, cum[e]);
      right = std::max(right, t.of_class[k] - cum[e + 1]);
    }
    b.bound[e] = -join(b.s[e] - left, t.n - b.s[e + 1] - right);
  }
}

struct MaxMinority {
  static constexpr bool needs_logarithms = false;
  static double base(const Totals& t) { return -minority_of_node(t); }
  static double gain(double v, const Totals& t) { return (v - base(t)) / t.n; }
  static double noise(const Totals& t) { return 1e-13 * t.n; }
  static double value(const double* l, double s, const Totals& t) {
    const Minorities m = minorities(l, s, t);
    return -std::max(m.left, m.right);
  }
  using Scan = FreshScan<MaxMinority>;
  static constexpr bool scan_is_exact_for_counts = true;
  static void bounds(BinTable& b, const Totals& t) {
    minority_bounds(b, t, [](double left, double right) { return std::max(left, right); });
  }
};

struct SumMinority {
  static constexpr bool needs_logarithms = false;
  static double base(const Totals& t) { return -minority_of_node(t); }
  static double gain(double v, const Totals& t) { return (v - base(t)) / t.n; }
  static double noise(const Totals& t) { return 1e-13 * t.n; }
  static double value(const double* l, double s, const Totals& t) {
    const Minorities m = minorities(l, s, t);
    return -(m.left + m.right);
  }
  using Scan = FreshScan<SumMinority>;
  static constexpr bool scan_is_exact_for_counts = true;
  static void bounds(BinTable& b, const Totals& t) {
    minority_bounds(b, t, [](double left, double right) { return left + right; });
  }
};

}  // namespace oblique
