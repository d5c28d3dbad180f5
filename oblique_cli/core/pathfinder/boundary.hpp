// The boundary points between opposed rectangles. Amalaman (2015), section 3.3.2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

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

}  // namespace oblique
