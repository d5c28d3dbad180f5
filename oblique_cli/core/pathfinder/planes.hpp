// The planes of a node, and the choice of the best. Amalaman (2015), algorithm 2.
#pragma once

#include "common/interrupt.hpp"
#include "pathfinder/rectangles.hpp"

namespace oblique {

// Section 3.3.2: computes the boundary points for both sides. Direct neighbors face each other in a row or a column
// without another rectangle between them; the point is halfway, in the middle of that row or column. A cluster without
// direct neighbors uses the nearest rectangle in each of the four oblique directions. The third of the three points has
// the height of the other two: the paper prints its height as (x2_i_high + x2_j_high) / 2, which does not lie between
// the two rectangles and changes if they are exchanged.
inline void separate(Regions& a, Regions& b, const GridFrame& frame) {
  std::vector<char> direct_a(a.rectangles.size(), 0), direct_b(b.rectangles.size(), 0);
  const auto give = [](Regions& side, int owner, Point point) {
    // Two clusters that are each other's only oblique neighbors produce the same points.
    for (size_t k = 0; k < side.points.size(); ++k)
      if (side.owner[k] == owner && side.points[k].x == point.x && side.points[k].y == point.y) return;
    side.points.push_back(point);
    side.owner.push_back(owner);
  };

  struct Interval {
    int low, high, rectangle;
    bool first;
  };
  std::vector<Interval> line;
  for (const bool horizontal : {true, false})
    for (int at = 0; at < frame.cells; ++at) {
      line.clear();
      for (const bool first : {true, false}) {
        const Regions& side = first ? a : b;
        for (int i = 0; i < static_cast<int>(side.rectangles.size()); ++i) {
          const Rectangle& r = side.rectangles[i];
          const int low = horizontal ? r.y0 : r.x0, high = horizontal ? r.y1 : r.x1;
          if (low <= at && at <= high) line.push_back({horizontal ? r.x0 : r.y0, horizontal ? r.x1 : r.y1, i, first});
        }
      }
      std::sort(line.begin(), line.end(), [](const Interval& s, const Interval& t) {
        return s.low != t.low ? s.low < t.low : s.first && !t.first;
      });
      for (size_t k = 1; k < line.size(); ++k) {
        const Interval &left = line[k - 1], &right = line[k];
        if (left.first == right.first) continue;
        const double between = (left.high + 1 + right.low) / 2.0, middle = at + 0.5;
        const Point point =
            horizontal ? Point{frame.x(between), frame.y(middle)} : Point{frame.x(middle), frame.y(between)};
        const int in_a = left.first ? left.rectangle : right.rectangle,
                  in_b = left.first ? right.rectangle : left.rectangle;
        give(a, in_a, point);
        give(b, in_b, point);
        direct_a[in_a] = direct_b[in_b] = 1;
      }
    }

  const auto oblique = [&](Regions& lonely, const std::vector<char>& direct, Regions& others) {
    const int n_clusters =
        lonely.cluster.empty() ? 0 : *std::max_element(lonely.cluster.begin(), lonely.cluster.end()) + 1;
    std::vector<char> has(n_clusters, 0);
    for (size_t i = 0; i < direct.size(); ++i)
      if (direct[i]) has[lonely.cluster[i]] = 1;
    for (int c = 0; c < n_clusters; ++c) {
      if (has[c]) continue;
      for (const int east : {0, 1})
        for (const int north : {0, 1}) {
          int best_i = -1, best_j = -1;
          double best = std::numeric_limits<double>::infinity();
          for (int i = 0; i < static_cast<int>(lonely.rectangles.size()); ++i) {
            if (lonely.cluster[i] != c) continue;
            const Rectangle& r = lonely.rectangles[i];
            for (int j = 0; j < static_cast<int>(others.rectangles.size()); ++j) {
              const Rectangle& o = others.rectangles[j];
              const int dx = east ? o.x0 - r.x1 - 1 : r.x0 - o.x1 - 1, dy = north ? o.y0 - r.y1 - 1 : r.y0 - o.y1 - 1;
              if (dx < 0 || dy < 0) continue;
              const double gap = std::hypot(dx * frame.x_step, dy * frame.y_step);
              if (gap < best) best = gap, best_i = i, best_j = j;
            }
          }
          if (best_i < 0) continue;
          const Rectangle &r = lonely.rectangles[best_i], &o = others.rectangles[best_j];
          const double own_x = frame.x(east ? r.x1 + 1 : r.x0), other_x = frame.x(east ? o.x0 : o.x1 + 1);
          const double height = frame.y((north ? r.y1 + 1 + o.y0 : r.y0 + o.y1 + 1) / 2.0);
          const Point shared{(own_x + other_x) / 2.0, height};
          give(lonely, best_i, shared);
          give(others, best_j, shared);
          give(lonely, best_i, {own_x, height});
          give(others, best_j, {other_x, height});
        }
    }
  };
  oblique(a, direct_a, b);
  oblique(b, direct_b, a);
}

// A split: the plane (x, y), the pivot class and the opposed class.
struct RegionSplit {
  int x = -1, y = -1, pivot = -1, other = -1;
  double gain = 0.0;
};

// The rows of a node on a grid of `cells` x `cells` over their range, one plane at a time.
class Planes {
 public:
  // u : (n, p) rows, y : (n) codes
  Planes(const double* u, const int32_t* y, size_t n, size_t p, int n_classes, int cells)
      : u_(u), y_(y), n_(n), p_(p), classes_(n_classes), cells_(cells), low_(p), step_(p), cell_(n * p),
        counts_(static_cast<size_t>(n_classes) * cells * cells), cells_of_(n_classes) {
    for (size_t j = 0; j < p; ++j) {
      double low = u[j], high = u[j];
      for (size_t i = 1; i < n; ++i) low = std::min(low, u[i * p + j]), high = std::max(high, u[i * p + j]);
      low_[j] = low;
      step_[j] = (high - low) / cells;
      for (size_t i = 0; i < n; ++i) {
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
    const size_t area = static_cast<size_t>(cells_) * cells_;
    for (auto& cells : cells_of_) cells.clear();
    for (size_t i = 0; i < n_; ++i) {
      const size_t cell = static_cast<size_t>(cell_[y * n_ + i]) * cells_ + cell_[x * n_ + i];
      if (counts_[y_[i] * area + cell]++ == 0) cells_of_[y_[i]].push_back(cell);
    }
    for (auto& cells : cells_of_) std::sort(cells.begin(), cells.end());
  }

  GridFrame frame() const { return {cells_, low_[x_], step_[x_], low_[y_axis_], step_[y_axis_]}; }

  std::pair<Regions, Regions> opposed(int a, int b, const Purity& purity) const {
    const size_t area = static_cast<size_t>(cells_) * cells_;
    checkpoint(4 * area);
    const int32_t *of_a = counts_.data() + a * area, *of_b = counts_.data() + b * area;
    Regions first = grow_rectangles({of_a, of_b, cells_of_[a]}, frame(), purity),
            second = grow_rectangles({of_b, of_a, cells_of_[b]}, frame(), purity);
    separate(first, second, frame());
    return {std::move(first), std::move(second)};
  }

  // Gini gain of dividing the rows into those inside `found` and the others.
  double gain(const Regions& regions) const {
    if (regions.points.empty()) return 0.0;
    const InsideTest inside(regions.points.data(), regions.owner.data(), regions.owner.size(), regions.centers.data(),
                            regions.cluster.data(), regions.cluster.size());
    std::vector<double> in(classes_, 0.0), all(classes_, 0.0);
    double n_in = 0.0;
    for (size_t i = 0; i < n_; ++i) {
      checkpoint(regions.owner.size());
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
  const int32_t* y_;
  size_t n_, p_;
  int classes_, cells_, x_ = 0, y_axis_ = 0;
  std::vector<double> low_, step_;
  std::vector<int> cell_;
  std::vector<int32_t> counts_;
  std::vector<std::vector<size_t>> cells_of_;  // of each class, the cells that hold rows of it, ascending
};

// The split of the largest Gini gain over all planes and ordered pairs of classes, the first of equals; else x = -1.
inline RegionSplit best_regions(const double* u, const int32_t* y, size_t n, size_t p, int n_classes, int cells,
                                const Purity& purity) {
  RegionSplit best;
  std::vector<char> present(n_classes, 0);
  for (size_t i = 0; i < n; ++i) present[y[i]] = 1;
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
