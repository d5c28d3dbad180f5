// The ranges of the features at a node, and the scale that decides which projections are distinct.
#pragma once

#include "split/table_rows.hpp"

namespace oblique {

// Range, center and largest magnitude of every feature at a node.
struct Spread {
  Vector range, center, magnitude;

  void measure(const NodeRows& rows) {
    const size_t p = rows.columns.size();
    range.resize(p);
    center.resize(p);
    magnitude.resize(p);
    std::vector<Range> all(p, {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
    Stretches().for_each(rows, 0, rows.n, [&](const double* const* columns, size_t from, size_t to) {
      for (size_t j = 0; j < p; ++j) {
        const Range part_range = range_of(columns[j], to - from);
        all[j] = {std::min(all[j].low, part_range.low), std::max(all[j].high, part_range.high)};
      }
    });
    for (size_t j = 0; j < p; ++j) set(j, all[j].low, all[j].high);
  }
  // The same for rows x (n x p), one after the other, n >= 1.
  void measure(const double* x, size_t n, size_t p) {
    range.resize(p);
    center.resize(p);
    magnitude.resize(p);
    for (size_t j = 0; j < p; ++j) {
      double low = x[j], high = x[j];
      for (size_t i = 1; i < n; ++i) {
        low = std::min(low, x[i * p + j]);
        high = std::max(high, x[i * p + j]);
      }
      set(j, low, high);
    }
  }
  // The largest range of a feature.
  double widest() const { return *std::max_element(range.begin(), range.end()); }
  static double gap(double range_sum, double magnitude_sum) {
    return 1e-9 * range_sum + 32.0 * std::numeric_limits<double>::epsilon() * magnitude_sum;
  }
  // The original axis j needs no arithmetic and therefore no tolerance for rounding.
  double of_axis(size_t j) const { return 1e-9 * range[j]; }
  // The axes of I - 2uu'. Their common terms are summed once, so p axes take p steps instead of p^2.
  class Reflected {
   public:
    Reflected(const Spread& spread, const Vector& u) : spread_(spread), u_(u) {
      for (size_t i = 0; i < u.size(); ++i) {
        range_ += std::fabs(u[i]) * spread.range[i];
        magnitude_ += std::fabs(u[i]) * spread.magnitude[i];
      }
    }
    // The scale of column j.
    double of_axis(size_t j) const {
      const double size = std::fabs(u_[j]), diagonal = std::fabs(1.0 - 2.0 * u_[j] * u_[j]);
      const auto sum = [&](double all, double feature_range) {
        return diagonal * feature_range + 2.0 * size * std::max(all - size * feature_range, 0.0);
      };
      return gap(sum(range_, spread_.range[j]), sum(magnitude_, spread_.magnitude[j]));
    }

   private:
    const Spread& spread_;
    const Vector& u_;
    double range_ = 0.0, magnitude_ = 0.0;
  };
  double of_direction(const double* h) const {
    double r = 0.0, m = 0.0;
    for (size_t i = 0; i < range.size(); ++i) {
      r += std::fabs(h[i]) * range[i];
      m += std::fabs(h[i]) * magnitude[i];
    }
    return gap(r, m);
  }

 private:
  void set(size_t j, double low, double high) {
    range[j] = high - low;
    center[j] = 0.5 * low + 0.5 * high;
    magnitude[j] = std::max(std::fabs(low), std::fabs(high));
  }
};

}  // namespace oblique
