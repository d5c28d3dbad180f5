// The test whether a row lies inside a boundary. Amalaman (2015), algorithm 3.
#pragma once

#include "pathfinder/rectangles.hpp"

namespace oblique {

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
    for (size_t k = 0; k < n_; ++k) {
      const double dx = points_[k].x - s.x, dy = points_[k].y - s.y, distance = dx * dx + dy * dy;
      if (distance < least) least = distance, nearest = k;
    }
    const int mine = owner_[nearest];
    const Point &p = points_[nearest], &center = centers_[mine];
    const Point to_center{center.x - p.x, center.y - p.y}, to_s{s.x - p.x, s.y - p.y};
    size_t second = n_;
    least = std::numeric_limits<double>::infinity();
    const auto consider = [&](size_t k) {
      const double away_x = std::fabs(points_[k].x - p.x), away_y = std::fabs(points_[k].y - p.y);
      if (std::max(away_x, away_y) <= kSame && std::hypot(away_x, away_y) <= kSame) return;
      const double dx = points_[k].x - s.x, dy = points_[k].y - s.y, distance = dx * dx + dy * dy;
      if (distance < least) least = distance, second = k;
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
    // Without a second point, or if both points are in line with the center, the boundary is perpendicular to the line
    // from the point to the center.
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
