// PATHFINDER's work in a plane: rectangles of high purity on a grid, the points between opposed rectangles, and which
// rows lie inside. Amalaman (2015), algorithms 2, 2.1 and 3.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace oblique {

// A rectangle of cells: columns x0 to x1 and rows y0 to y1, both ends included.
struct Rectangle {
  int x0, y0, x1, y1;
};

struct Point {
  double x, y;
};

// Rectangles of one class against another (sub-clusters), the cluster each is part of, and their boundary points.
struct Regions {
  std::vector<Rectangle> rectangles;
  std::vector<int> cluster;    // of each rectangle
  std::vector<Point> centres;  // of each rectangle, in the plane
  std::vector<Point> points;   // boundary points
  std::vector<int> owner;      // rectangle that each point belongs to
};

// Where the grid lies in the plane.
struct GridFrame {
  int cells;
  double x_low, x_step, y_low, y_step;
  double x(double cell) const { return x_low + cell * x_step; }
  double y(double cell) const { return y_low + cell * y_step; }
};

// Counts of the two classes in each cell, cell (x, y) at y * cells + x.
struct PairCounts {
  const std::int32_t* pivot;
  const std::int32_t* other;
};

struct Purity {
  double alpha, theta;  // shares in [0, 1]; compared with >=, for nothing exceeds a purity of 1
};

namespace regions_detail {

struct Tally {
  std::int64_t pivot = 0, other = 0;
  std::int64_t all() const { return pivot + other; }
  bool at_least(double share) const {
    return all() > 0 && static_cast<double>(pivot) >= share * static_cast<double>(all()) - 1e-9;
  }
};

// Tally of a block of cells; `free` becomes false if one of them is taken.
inline Tally tally(const PairCounts& counts, int cells, const Rectangle& block, const std::vector<char>& taken,
                   bool& free) {
  Tally sum;
  for (int y = block.y0; y <= block.y1; ++y)
    for (int x = block.x0; x <= block.x1; ++x) {
      const std::size_t cell = static_cast<std::size_t>(y) * cells + x;
      free = free && !taken[cell];
      sum.pivot += counts.pivot[cell];
      sum.other += counts.other[cell];
    }
  return sum;
}

inline int root(std::vector<int>& parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// Whether two rectangles share a piece of an edge.
inline bool touch(const Rectangle& a, const Rectangle& b) {
  const int gap_x = std::max(a.x0, b.x0) - std::min(a.x1, b.x1), gap_y = std::max(a.y0, b.y0) - std::min(a.y1, b.y1);
  return (gap_x <= 0 && gap_y <= 1) || (gap_y <= 0 && gap_x <= 1);
}

// Clusters of touching rectangles, numbered in the order of their first rectangle.
inline void merge(Regions& found) {
  const int n = static_cast<int>(found.rectangles.size());
  std::vector<int> parent(n);
  for (int i = 0; i < n; ++i) parent[i] = i;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (touch(found.rectangles[i], found.rectangles[j])) {
        const int a = root(parent, i), b = root(parent, j);
        parent[std::max(a, b)] = std::min(a, b);
      }
  std::vector<int> number(n, -1);
  found.cluster.resize(n);
  int next = 0;
  for (int i = 0; i < n; ++i) {
    const int r = root(parent, i);
    if (number[r] < 0) number[r] = next++;
    found.cluster[i] = number[r];
  }
}

}  // namespace regions_detail

// Algorithm 2.1: rectangles of the pivot class, grown from pivot cells by whole columns and rows, right, up, left, down,
// until a round trip adds nothing. Pivot cells are taken row by row, the paper leaves their order open. A block without
// any row has no purity and is not added; a block with a cell of another rectangle is not available.
inline Regions grow_rectangles(const PairCounts& counts, const GridFrame& frame, const Purity& purity) {
  using regions_detail::Tally;
  Regions found;
  const int g = frame.cells;
  std::vector<char> taken(static_cast<std::size_t>(g) * g, 0);
  for (int row = 0; row < g; ++row)
    for (int column = 0; column < g; ++column) {
      const std::size_t cell = static_cast<std::size_t>(row) * g + column;
      Tally total{counts.pivot[cell], counts.other[cell]};
      if (taken[cell] || total.pivot == 0 || !total.at_least(purity.theta)) continue;
      Rectangle r{column, row, column, row};
      const auto add = [&](const Rectangle& block, const Rectangle& grown) {
        if (grown.x0 < 0 || grown.y0 < 0 || grown.x1 >= g || grown.y1 >= g) return false;
        bool free = true;
        const Tally more = regions_detail::tally(counts, g, block, taken, free);
        const Tally sum{total.pivot + more.pivot, total.other + more.other};
        if (!free || !more.at_least(purity.alpha) || !sum.at_least(purity.theta)) return false;
        r = grown;
        total = sum;
        return true;
      };
      for (bool grew = true; grew;) {
        grew = add({r.x1 + 1, r.y0, r.x1 + 1, r.y1}, {r.x0, r.y0, r.x1 + 1, r.y1});
        grew |= add({r.x0, r.y1 + 1, r.x1, r.y1 + 1}, {r.x0, r.y0, r.x1, r.y1 + 1});
        grew |= add({r.x0 - 1, r.y0, r.x0 - 1, r.y1}, {r.x0 - 1, r.y0, r.x1, r.y1});
        grew |= add({r.x0, r.y0 - 1, r.x1, r.y0 - 1}, {r.x0, r.y0 - 1, r.x1, r.y1});
      }
      for (int y = r.y0; y <= r.y1; ++y)
        for (int x = r.x0; x <= r.x1; ++x) taken[static_cast<std::size_t>(y) * g + x] = 1;
      found.rectangles.push_back(r);
      found.centres.push_back({frame.x((r.x0 + r.x1 + 1) / 2.0), frame.y((r.y0 + r.y1 + 1) / 2.0)});
    }
  regions_detail::merge(found);
  return found;
}

// Section 3.3.2: gives both sides the points between them. Direct neighbours face each other in a row or a column with
// no other rectangle between; the point is halfway, in the middle of that row or column. A cluster without any direct
// neighbour looks for the nearest rectangle in each of the four oblique directions. The third of the three points lies
// at the height of the other two: the paper prints it at (x2_i_high + x2_j_high) / 2, which is not between the two
// rectangles and would not survive exchanging them.
inline void separate(Regions& a, Regions& b, const GridFrame& frame) {
  std::vector<char> direct_a(a.rectangles.size(), 0), direct_b(b.rectangles.size(), 0);
  const auto give = [](Regions& side, int owner, Point point) {
    // Two clusters that are each other's only oblique neighbours name the same points.
    for (std::size_t k = 0; k < side.points.size(); ++k)
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
      for (std::size_t k = 1; k < line.size(); ++k) {
        const Interval &left = line[k - 1], &right = line[k];
        if (left.first == right.first) continue;
        const double between = (left.high + 1 + right.low) / 2.0, middle = at + 0.5;
        const Point point = horizontal ? Point{frame.x(between), frame.y(middle)} : Point{frame.x(middle), frame.y(between)};
        const int in_a = left.first ? left.rectangle : right.rectangle, in_b = left.first ? right.rectangle : left.rectangle;
        give(a, in_a, point);
        give(b, in_b, point);
        direct_a[in_a] = direct_b[in_b] = 1;
      }
    }

  const auto oblique = [&](Regions& lonely, const std::vector<char>& direct, Regions& others) {
    const int n_clusters = lonely.cluster.empty() ? 0 : *std::max_element(lonely.cluster.begin(), lonely.cluster.end()) + 1;
    std::vector<char> has(n_clusters, 0);
    for (std::size_t i = 0; i < direct.size(); ++i)
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

// Algorithm 3, lines 7 to 14: which side of the local boundary a row lies on.
class InsideTest {
 public:
  InsideTest(const Point* points, const std::int32_t* owner, std::size_t n_points, const Point* centres,
             const std::int32_t* cluster, std::size_t n_rectangles)
      : points_(points), owner_(owner), n_(n_points), centres_(centres), cluster_(cluster), start_(n_rectangles + 1, 0),
        by_owner_(n_points) {
    for (std::size_t k = 0; k < n_; ++k) ++start_[owner_[k] + 1];
    for (std::size_t i = 0; i < n_rectangles; ++i) start_[i + 1] += start_[i];
    std::vector<std::size_t> next(start_.begin(), start_.end());
    for (std::size_t k = 0; k < n_; ++k) by_owner_[next[owner_[k]]++] = k;
  }

  bool operator()(const Point& s) const {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < n_; ++k) {
      const double dx = points_[k].x - s.x, dy = points_[k].y - s.y, distance = dx * dx + dy * dy;
      if (distance < least) least = distance, nearest = k;
    }
    const int mine = owner_[nearest];
    const Point &p = points_[nearest], &centre = centres_[mine];
    const Point to_centre{centre.x - p.x, centre.y - p.y}, to_s{s.x - p.x, s.y - p.y};
    std::size_t second = n_;
    least = std::numeric_limits<double>::infinity();
    const auto consider = [&](std::size_t k) {
      if (std::hypot(points_[k].x - p.x, points_[k].y - p.y) <= 1e-12) return;
      const double dx = points_[k].x - s.x, dy = points_[k].y - s.y, distance = dx * dx + dy * dy;
      if (distance < least) least = distance, second = k;
    };
    for (std::size_t k = start_[mine]; k < start_[mine + 1]; ++k) consider(by_owner_[k]);
    if (second == n_)  // a rectangle of one point: the other points of its cluster
      for (std::size_t k = 0; k < n_; ++k)
        if (cluster_[owner_[k]] == cluster_[mine]) consider(k);
    if (second < n_) {
      const Point along{points_[second].x - p.x, points_[second].y - p.y};
      const double centre_side = along.x * to_centre.y - along.y * to_centre.x;
      const double scale = std::hypot(along.x, along.y) * std::hypot(to_centre.x, to_centre.y);
      if (std::fabs(centre_side) > 1e-9 * scale) return (along.x * to_s.y - along.y * to_s.x) * centre_side >= 0.0;
    }
    // No second point, or both in line with the centre: the boundary is square to the way from the point to the centre.
    return to_s.x * to_centre.x + to_s.y * to_centre.y >= 0.0;
  }

 private:
  const Point* points_;
  const std::int32_t* owner_;
  std::size_t n_;
  const Point* centres_;
  const std::int32_t* cluster_;
  std::vector<std::size_t> start_, by_owner_;
};

// What decides a split: plane (x, y), the pivot class and the class it is set against.
struct RegionSplit {
  int x = -1, y = -1, pivot = -1, other = -1;
  double gain = 0.0;
};

// The rows of a node on a grid of `cells` x `cells` over their own range, a plane at a time.
class Planes {
 public:
  // u : (n, p) rows, y : (n) codes
  Planes(const double* u, const std::int32_t* y, std::size_t n, std::size_t p, int n_classes, int cells)
      : u_(u), y_(y), n_(n), p_(p), classes_(n_classes), cells_(cells), low_(p), step_(p), cell_(n * p),
        counts_(static_cast<std::size_t>(n_classes) * cells * cells) {
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

  // A feature that is constant at the node makes no plane.
  bool flat(int j) const { return !(step_[j] > 0.0); }

  void use(int x, int y) {
    x_ = x, y_axis_ = y;
    std::fill(counts_.begin(), counts_.end(), 0);
    const std::size_t area = static_cast<std::size_t>(cells_) * cells_;
    for (std::size_t i = 0; i < n_; ++i)
      ++counts_[y_[i] * area + static_cast<std::size_t>(cell_[y * n_ + i]) * cells_ + cell_[x * n_ + i]];
  }

  GridFrame frame() const { return {cells_, low_[x_], step_[x_], low_[y_axis_], step_[y_axis_]}; }

  std::pair<Regions, Regions> opposed(int a, int b, const Purity& purity) const {
    const std::size_t area = static_cast<std::size_t>(cells_) * cells_;
    const std::int32_t *of_a = counts_.data() + a * area, *of_b = counts_.data() + b * area;
    Regions first = grow_rectangles({of_a, of_b}, frame(), purity), second = grow_rectangles({of_b, of_a}, frame(), purity);
    separate(first, second, frame());
    return {std::move(first), std::move(second)};
  }

  // Gini gain of sending the rows inside `found` one way and the others the other way.
  double gain(const Regions& found) const {
    if (found.points.empty()) return 0.0;
    const std::vector<std::int32_t> owner(found.owner.begin(), found.owner.end());
    const std::vector<std::int32_t> cluster(found.cluster.begin(), found.cluster.end());
    const InsideTest inside(found.points.data(), owner.data(), owner.size(), found.centres.data(), cluster.data(),
                            cluster.size());
    std::vector<double> in(classes_, 0.0), all(classes_, 0.0);
    double n_in = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      all[y_[i]] += 1.0;
      if (inside({u_[i * p_ + x_], u_[i * p_ + y_axis_]})) in[y_[i]] += 1.0, n_in += 1.0;
    }
    const double n = static_cast<double>(n_), n_out = n - n_in;
    if (n_in == 0.0 || n_out == 0.0) return 0.0;
    // n times the gain: sums of squares of counts, sides against the whole.
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
};

// The split of the largest Gini gain over all planes and ordered pairs of classes; the first of equals, x = -1 if none
// gains anything.
inline RegionSplit best_regions(const double* u, const std::int32_t* y, std::size_t n, std::size_t p, int n_classes,
                                int cells, const Purity& purity) {
  RegionSplit best;
  std::vector<char> present(n_classes, 0);
  for (std::size_t i = 0; i < n; ++i) present[y[i]] = 1;
  Planes planes(u, y, n, p, n_classes, cells);
  for (int i = 0; i < static_cast<int>(p); ++i)
    for (int j = i + 1; j < static_cast<int>(p); ++j) {
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
