// Python bindings of PATHFINDER.
#include "bindings/bindings.hpp"
#include "pathfinder/planes.hpp"

namespace oblique {
namespace {

void check_planes(const Matrix& u, const Codes& y, int n_classes, int cells) {
  require(u.shape(0) >= 1 && u.shape(0) == y.shape(0), "U and y must have the same number of rows, at least one");
  require(n_classes >= 1 && cells >= 2, "there must be a class and at least two cells along an axis");
  check_codes(y, static_cast<size_t>(n_classes));
}

std::optional<nb::tuple> region_split(const Matrix& u, const Codes& y, int n_classes, int cells, double alpha,
                                      double theta) {
  check_planes(u, y, n_classes, cells);
  RegionSplit best = without_lock([&] {
    return best_regions(u.data(), y.data(), u.shape(0), u.shape(1), n_classes, cells, {alpha, theta});
  });
  if (best.x < 0) return std::nullopt;
  return nb::make_tuple(best.x, best.y, best.pivot, best.other, best.gain);
}

nb::object points_array(const std::vector<Point>& points) {
  std::vector<double> flat;
  for (const Point& point : points) flat.insert(flat.end(), {point.x, point.y});
  return array(std::move(flat), {points.size(), 2});
}

nb::tuple regions_of(const Matrix& u, const Codes& y, int n_classes, int x, int y_axis, int pivot, int other, int cells,
                     double alpha, double theta) {
  check_planes(u, y, n_classes, cells);
  const int p = static_cast<int>(u.shape(1));
  require(x >= 0 && x < p && y_axis >= 0 && y_axis < p && x != y_axis, "a plane has two different features");
  require(pivot >= 0 && pivot < n_classes && other >= 0 && other < n_classes && pivot != other,
          "two classes are needed");
  Planes planes(u.data(), y.data(), u.shape(0), u.shape(1), n_classes, cells);
  Regions regions;
  GridFrame frame{cells, 0.0, 0.0, 0.0, 0.0};
  if (!planes.flat(x) && !planes.flat(y_axis)) {
    planes.use(x, y_axis);
    frame = planes.frame();
    // The lower class comes first, as in the search: the order of a pair decides ties between equal distances.
    auto both = planes.opposed(std::min(pivot, other), std::max(pivot, other), {alpha, theta});
    regions = std::move(pivot < other ? both.first : both.second);
  }
  std::vector<double> corners;
  for (const Rectangle& r : regions.rectangles)
    corners.insert(corners.end(), {frame.x(r.x0), frame.y(r.y0), frame.x(r.x1 + 1), frame.y(r.y1 + 1)});
  const size_t n = regions.rectangles.size();
  return nb::make_tuple(array(std::move(corners), {n, 4}), array(std::move(regions.cluster)),
                        points_array(regions.centers), points_array(regions.points), array(std::move(regions.owner)));
}

nb::object inside_regions(const Matrix& points, const Codes& owner, const Matrix& centers, const Codes& cluster,
                          const Matrix& rows) {
  const size_t n_points = points.shape(0), n_rectangles = centers.shape(0), n = rows.shape(0);
  require(n_points >= 1 && points.shape(1) == 2 && centers.shape(1) == 2 && rows.shape(1) == 2,
          "points must lie in a plane");
  require(owner.shape(0) == n_points && cluster.shape(0) == n_rectangles,
          "every point has an owner, every rectangle a cluster");
  check_codes(owner, n_rectangles);
  const InsideTest inside(reinterpret_cast<const Point*>(points.data()), owner.data(), n_points,
                          reinterpret_cast<const Point*>(centers.data()), cluster.data(), n_rectangles);
  std::vector<uint8_t> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = inside({rows(i, 0), rows(i, 1)});
  return array(std::move(out));
}

}  // namespace

void bind_pathfinder(nb::module_& m) {
  m.def("region_split", &region_split, "U"_array, "y"_array, "n_classes"_a, "cells"_a, "alpha"_a, "theta"_a,
        "Best (feature, feature, pivot class, other class, Gini gain) over all planes and pairs, or None.");
  m.def(
      "regions", &regions_of, "U"_array, "y"_array, "n_classes"_a, "x"_a, "y_axis"_a, "pivot"_a, "other"_a, "cells"_a,
      "alpha"_a, "theta"_a,
      "Rectangles of the pivot class against the other: corners (m, 4), cluster (m,), centers (m, 2), boundary points "
      "(k, 2) and the rectangle that owns each (k,).");
  m.def("inside_regions", &inside_regions, "points"_array, "owner"_array, "centers"_array, "cluster"_array,
        "rows"_array, "Whether each row (n, 2) lies inside, (n,) uint8.");
}

}  // namespace oblique
