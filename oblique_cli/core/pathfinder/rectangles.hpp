// Rectangles of high purity on a grid: PATHFINDER in one plane. Amalaman (2015), algorithm 2.1.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// A rectangle of cells: columns x0 to x1 and rows y0 to y1, both ends included.
struct Rectangle {
  int x0, y0, x1, y1;
};

struct Point {
  double x, y;
};

// Rectangles of one class against another (sub-clusters), the cluster of each, and their boundary points.
struct Regions {
  std::vector<Rectangle> rectangles;
  std::vector<int32_t> cluster;  // of each rectangle
  std::vector<Point> centers;    // of each rectangle, in the plane
  std::vector<Point> points;     // boundary points
  std::vector<int32_t> owner;    // rectangle of each point
};

// The position of the grid in the plane.
struct GridFrame {
  int cells;
  double x_low, x_step, y_low, y_step;
  double x(double cell) const { return x_low + cell * x_step; }
  double y(double cell) const { return y_low + cell * y_step; }
};

// Counts of two classes by cell, (x, y) at y * cells + x; and the cells with rows of the pivot class, ascending.
struct PairCounts {
  const int32_t* pivot;
  const int32_t* other;
  const std::vector<size_t>& pivot_cells;
};

struct Purity {
  double alpha, theta;  // shares in [0, 1]; compared by >=, because no share exceeds a purity of 1
};

namespace regions_detail {

struct Tally {
  int64_t pivot = 0, other = 0;
  int64_t all() const { return pivot + other; }
  bool at_least(double share) const {
    return all() > 0 && static_cast<double>(pivot) >= share * static_cast<double>(all()) - 1e-9;
  }
};

// Tally of a block of cells; `free` becomes false if another rectangle contains one of them.
inline Tally tally(const PairCounts& counts, int cells, const Rectangle& block, const std::vector<char>& taken,
                   bool& free) {
  Tally sum;
  for (int y = block.y0; y <= block.y1; ++y)
    for (int x = block.x0; x <= block.x1; ++x) {
      const size_t cell = static_cast<size_t>(y) * cells + x;
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
inline void merge(Regions& regions) {
  const int n = static_cast<int>(regions.rectangles.size());
  std::vector<int> parent(n);
  for (int i = 0; i < n; ++i) parent[i] = i;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (touch(regions.rectangles[i], regions.rectangles[j])) {
        const int a = root(parent, i), b = root(parent, j);
        parent[std::max(a, b)] = std::min(a, b);
      }
  std::vector<int> number(n, -1);
  regions.cluster.resize(n);
  int next = 0;
  for (int i = 0; i < n; ++i) {
    const int r = root(parent, i);
    if (number[r] < 0) number[r] = next++;
    regions.cluster[i] = number[r];
  }
}

}  // namespace regions_detail

// Algorithm 2.1: rectangles of the pivot class, grown from pivot cells by whole columns and rows, right, up, left,
// down, until a round adds nothing. Pivot cells are visited row by row; the paper leaves the order open. A block
// without rows has no purity and is not added; a block with a cell of another rectangle is not available.
inline Regions grow_rectangles(const PairCounts& counts, const GridFrame& frame, const Purity& purity) {
  using regions_detail::Tally;
  Regions regions;
  const int g = frame.cells;
  std::vector<char> taken(static_cast<size_t>(g) * g, 0);
  for (const size_t cell : counts.pivot_cells) {
    Tally total{counts.pivot[cell], counts.other[cell]};
    if (taken[cell] || !total.at_least(purity.theta)) continue;
    const int row = static_cast<int>(cell) / g, column = static_cast<int>(cell) % g;
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
      for (int x = r.x0; x <= r.x1; ++x) taken[static_cast<size_t>(y) * g + x] = 1;
    regions.rectangles.push_back(r);
    regions.centers.push_back({frame.x((r.x0 + r.x1 + 1) / 2.0), frame.y((r.y0 + r.y1 + 1) / 2.0)});
  }
  regions_detail::merge(regions);
  return regions;
}

// Algorithm 3, lines 7 to 14: the side of the local boundary on which a row lies.
class InsideTest {
 public:
  InsideTest(const Point* points, const int32_t* owner, size_t n_points, const Point* centers, const int32_t* cluster,
             size_t n_rectangles)
      : points_(points), owner_(owner), n_(n_points), centers_(centers), cluster_(cluster), start_(n_rectangles + 1, 0),
        by_owner_(n_points) {
    for (size_t k = 0; k < n_; ++k) ++start_[owner_[k] + 1];
    for (size_t i = 0; i < n_rectangles; ++i) start_[i + 1] += start_[i];
    std::vector<size_t> next(start_.begin(), start_.end());
    for (size_t k = 0; k < n_; ++k) by_owner_[next[owner_[k]]++] = k;
  }

  bool operator()(const Point& s) const {
    size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    const auto come_nearer = [&](size_t k, size_t& to) {
      const double dx = points_[k].x - s.x, dy = points_[k].y - s.y, distance = dx * dx + dy * dy;
      if (distance < least) least = distance, to = k;
    };
    for (size_t k = 0; k < n_; ++k) come_nearer(k, nearest);
    const int mine = owner_[nearest];
    const Point &p = points_[nearest], &center = centers_[mine];
    const Point to_center{center.x - p.x, center.y - p.y}, to_s{s.x - p.x, s.y - p.y};
    size_t second = n_;
    least = std::numeric_limits<double>::infinity();
    const auto consider = [&](size_t k) {
      const double away_x = std::fabs(points_[k].x - p.x), away_y = std::fabs(points_[k].y - p.y);
      if (std::max(away_x, away_y) <= kSame && std::hypot(away_x, away_y) <= kSame) return;
      come_nearer(k, second);
    };
    for (size_t k = start_[mine]; k < start_[mine + 1]; ++k) consider(by_owner_[k]);
    if (second == n_)  // a rectangle of one point: the other points of its cluster
      for (size_t k = 0; k < n_; ++k)
        if (cluster_[owner_[k]] == cluster_[mine]) consider(k);
    if (second < n_) {
      const Point along{points_[second].x - p.x, points_[second].y - p.y};
      const double center_side = along.x * to_center.y - along.y * to_center.x;
      if (is_beside(center_side, along, to_center)) return (along.x * to_s.y - along.y * to_s.x) * center_side >= 0.0;
    }
    // Without a second point beside the center, the boundary is perpendicular to the line from the point to the center.
    return to_s.x * to_center.x + to_s.y * to_center.y >= 0.0;
  }

 private:
  static constexpr double kSame = 1e-12, kInLine = 1e-9;

  // Whether the center is not in line with two points: compares `side` with the product of two lengths. Squares decide
  // except close to the limit, because square roots take most of the time of a search.
  static bool is_beside(double side, const Point& along, const Point& to_center) {
    const double squares =
        (along.x * along.x + along.y * along.y) * (to_center.x * to_center.x + to_center.y * to_center.y);
    if (side * side > 1.000001 * kInLine * kInLine * squares && side * side > 1e-280) return true;
    return std::fabs(side) > kInLine * (std::hypot(along.x, along.y) * std::hypot(to_center.x, to_center.y));
  }

  const Point* points_;
  const int32_t* owner_;
  size_t n_;
  const Point* centers_;
  const int32_t* cluster_;
  std::vector<size_t> start_, by_owner_;
};

}  // namespace oblique
