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
  std::vector<int> cluster;    // of each rectangle
  std::vector<Point> centers;  // of each rectangle, in the plane
  std::vector<Point> points;   // boundary points
  std::vector<int> owner;      // rectangle of each point
};

// The position of the grid in the plane.
struct GridFrame {
  int cells;
  double x_low, x_step, y_low, y_step;
  double x(double cell) const { return x_low + cell * x_step; }
  double y(double cell) const { return y_low + cell * y_step; }
};

// Counts of the two classes in each cell, cell (x, y) at y * cells + x; and the cells with rows of the pivot class, in
// ascending order.
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

}  // namespace oblique
