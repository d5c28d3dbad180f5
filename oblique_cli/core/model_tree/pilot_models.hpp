// The least-squares models of one predictor that PILOT chooses among, each at its best cut (Raymaekers et al. 2024).
#pragma once

#include "common/interrupt.hpp"

namespace oblique {

// Means and sums of squares and products around them, updated row by row without subtracting large sums.
struct Spreads {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;

  void add(double value, double target) {
    n += 1.0;
    const double dx = value - x, dy = target - y;
    x += dx / n;
    y += dy / n;
    xx += dx * (value - x);
    xy += dx * (target - y);
    yy += dy * (target - y);
  }

  // The residual sum of squares of the line through these rows; of their mean if x is constant.
  double of_line(double least_spread) const { return xx > least_spread ? yy - xy * xy / xx : yy; }
};

// rss : of LIN, PCON, BLIN, PLIN, infinity for a model that is not allowed; threshold : cuts x <= threshold of the last
// three
struct PilotModels {
  std::array<double, 4> rss;
  std::array<double, 3> threshold;
};

// Requirements of a node. least : rows on either side of a cut; distinct : distinct values of x that a slope needs, on
// either side of a cut; zero : share of a spread that counts as zero
struct PilotLimits {
  size_t least, distinct;
  double zero;
};

class PilotSearch {
 public:
  // order : the n rows of the node by ascending x
  PilotModels best(const double* x, size_t stride, const double* y, const int64_t* order, size_t n,
                   const PilotLimits& limits) {
    constexpr double never = std::numeric_limits<double>::infinity();
    PilotModels models{{never, never, never, never}, {}};
    const auto at = [&](size_t i) { return x[static_cast<size_t>(order[i]) * stride]; };
    right_.resize(n);
    distinct_right_.resize(n);
    Spreads all;
    size_t values = 0;
    for (size_t i = n; i-- > 0;) {
      all.add(at(i), y[order[i]]);
      if (i + 1 == n || at(i) != at(i + 1)) ++values;
      right_[i] = all;
      distinct_right_[i] = values;
    }
    checkpoint(2 * n);
    const double none = limits.zero * all.xx;
    if (!(all.xx > 0.0)) return models;
    const bool slopes = values >= limits.distinct;
    if (slopes) models.rss[0] = all.of_line(none);
    Spreads left;
    size_t on_left = 0;
    for (size_t i = 0; i + 1 < n; ++i) {
      left.add(at(i), y[order[i]]);
      if (at(i) == at(i + 1)) continue;
      ++on_left;
      if (i + 1 < limits.least || n - i - 1 < limits.least) continue;
      const Spreads& right = right_[i + 1];
      const double middle = at(i) + 0.5 * (at(i + 1) - at(i));
      const double cut = middle < at(i + 1) ? middle : at(i);
      keep(models, 1, left.yy + right.yy, cut);
      if (!slopes || on_left < limits.distinct || distinct_right_[i + 1] < limits.distinct) continue;
      keep(models, 2, broken_line(all, right, cut, limits.zero), cut);
      keep(models, 3, left.of_line(limits.zero * none) + right.of_line(limits.zero * none), cut);
    }
    return models;
  }

 private:
  static void keep(PilotModels& models, size_t model, double rss, double cut) {
    if (rss < models.rss[model]) models.rss[model] = rss, models.threshold[model - 1] = cut;
  }

  // The residual sum of a line with a bend at the cut: a regression on x and h = max(x - cut, 0).
  static double broken_line(const Spreads& all, const Spreads& right, double cut, double zero) {
    const double above = right.x - cut, n_left = all.n - right.n;
    const double hh = right.xx + right.n * n_left / all.n * above * above;
    const double hx = right.xx + right.n * (right.x - all.x) * above;
    const double hy = right.xy + right.n * (right.y - all.y) * above;
    const double left_of_h = hh - hx * hx / all.xx;
    const double line = all.yy - all.xy * all.xy / all.xx;
    if (!(left_of_h > zero * hh)) return std::numeric_limits<double>::infinity();
    const double gain = hy - hx * all.xy / all.xx;
    return line - gain * gain / left_of_h;
  }

  std::vector<Spreads> right_;
  std::vector<size_t> distinct_right_;
};

}  // namespace oblique
