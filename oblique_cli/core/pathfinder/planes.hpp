// The planes of a node, and the choice of the best. Amalaman (2015), algorithm 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/interrupt.hpp"
#include "pathfinder/boundary.hpp"
#include "pathfinder/inside_test.hpp"
#include "pathfinder/rectangles.hpp"

namespace oblique {

// A split: the plane (x, y), the pivot class and the opposed class.
struct RegionSplit {
  int x = -1, y = -1, pivot = -1, other = -1;
  double gain = 0.0;
};

// The rows of a node on a grid of `cells` x `cells` over their range, one plane at a time.
class Planes {
 public:
  // u : (n, p) rows, y : (n) codes
  Planes(const double* u, const std::int32_t* y, std::size_t n, std::size_t p, int n_classes, int cells)
      : u_(u), y_(y), n_(n), p_(p), classes_(n_classes), cells_(cells), low_(p), step_(p), cell_(n * p),
        counts_(static_cast<std::size_t>(n_classes) * cells * cells), cells_of_(n_classes) {
    for (std::size_t j = 0; j < p; ++j) {
      double low = u[j], high = u[j];
      for (std::size_t i = 1; i < n; ++i) low = std::min(low, u[i * p + j]), high = std::max(high, u[i * p + j]);
      low_[j] = low;
      step_[j] = (high - low) / cells;
      for (std::size_t i = 0; i < n; ++i) {
        const double at = step_[j] > 0.0 ? (u[i * p + j] - low) / step_[j] : 0.0;
        cell_[j * n + i] = std::min(cells - 1, static_cast<int>(at));
      }
    }
  }

  // A feature that is constant at the node is in no plane.
  bool flat(int j) const { return !(step_[j] > 0.0); }

  void use(int x, int y) {
    x_ = x, y_axis_ = y;
    std::fill(counts_.begin(), counts_.end(), 0);
    const std::size_t area = static_cast<std::size_t>(cells_) * cells_;
    for (auto& cells : cells_of_) cells.clear();
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t cell = static_cast<std::size_t>(cell_[y * n_ + i]) * cells_ + cell_[x * n_ + i];
      if (counts_[y_[i] * area + cell]++ == 0) cells_of_[y_[i]].push_back(cell);
    }
    for (auto& cells : cells_of_) std::sort(cells.begin(), cells.end());
  }

  GridFrame frame() const { return {cells_, low_[x_], step_[x_], low_[y_axis_], step_[y_axis_]}; }

  std::pair<Regions, Regions> opposed(int a, int b, const Purity& purity) const {
    const std::size_t area = static_cast<std::size_t>(cells_) * cells_;
    checkpoint(4 * area);
    const std::int32_t *of_a = counts_.data() + a * area, *of_b = counts_.data() + b * area;
    Regions first = grow_rectangles({of_a, of_b, cells_of_[a]}, frame(), purity),
            second = grow_rectangles({of_b, of_a, cells_of_[b]}, frame(), purity);
    separate(first, second, frame());
    return {std::move(first), std::move(second)};
  }

  // Gini gain of dividing the rows into those inside `found` and the others.
  double gain(const Regions& regions) const {
    if (regions.points.empty()) return 0.0;
    const std::vector<std::int32_t> owner(regions.owner.begin(), regions.owner.end());
    const std::vector<std::int32_t> cluster(regions.cluster.begin(), regions.cluster.end());
    const InsideTest inside(regions.points.data(), owner.data(), owner.size(), regions.centers.data(), cluster.data(),
                            cluster.size());
    std::vector<double> in(classes_, 0.0), all(classes_, 0.0);
    double n_in = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      checkpoint(owner.size());
      all[y_[i]] += 1.0;
      if (inside({u_[i * p_ + x_], u_[i * p_ + y_axis_]})) in[y_[i]] += 1.0, n_in += 1.0;
    }
    const double n = static_cast<double>(n_), n_out = n - n_in;
    if (n_in == 0.0 || n_out == 0.0) return 0.0;
    // n times the gain: sums of squared counts, of the sides and of the whole.
    double sides = 0.0, whole = 0.0;
    for (int c = 0; c < classes_; ++c) {
      const double out = all[c] - in[c];
      sides += in[c] * in[c] / n_in + out * out / n_out;
      whole += all[c] * all[c] / n;
    }
    return (sides - whole) / n;
  }

 private:
  const double* u_;
  const std::int32_t* y_;
  std::size_t n_, p_;
  int classes_, cells_, x_ = 0, y_axis_ = 0;
  std::vector<double> low_, step_;
  std::vector<int> cell_;
  std::vector<std::int32_t> counts_;
  std::vector<std::vector<std::size_t>> cells_of_;  // of each class, the cells that hold rows of it, ascending
};

// The split of the largest Gini gain over all planes and ordered pairs of classes; the first of equals, x = -1 without
// any gain.
inline RegionSplit best_regions(const double* u, const std::int32_t* y, std::size_t n, std::size_t p, int n_classes,
                                int cells, const Purity& purity) {
  RegionSplit best;
  std::vector<char> present(n_classes, 0);
  for (std::size_t i = 0; i < n; ++i) present[y[i]] = 1;
  Planes planes(u, y, n, p, n_classes, cells);
  for (int i = 0; i < static_cast<int>(p); ++i)
    for (int j = i + 1; j < static_cast<int>(p); ++j) {
      checkpoint(n);
      if (planes.flat(i) || planes.flat(j)) continue;
      planes.use(i, j);
      for (int a = 0; a < n_classes; ++a)
        for (int b = a + 1; b < n_classes; ++b) {
          if (!present[a] || !present[b]) continue;
          const auto [first, second] = planes.opposed(a, b, purity);
          for (const bool forward : {true, false}) {
            const double gain = planes.gain(forward ? first : second);
            if (gain > best.gain + 1e-12) best = {i, j, forward ? a : b, forward ? b : a, gain};
          }
        }
    }
  return best;
}

}  // namespace oblique
