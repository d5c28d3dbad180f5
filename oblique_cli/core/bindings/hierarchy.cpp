// Python bindings of hierarchies over dissimilarities.
#include "bindings/bindings.hpp"
#include "hierarchy/avalanche.hpp"
#include "hierarchy/neighbor_joining.hpp"
#include "hierarchy/representatives.hpp"
#include "hierarchy/staxac.hpp"

namespace oblique {
namespace {

template <class T>
using Condensed = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
void check_pairs(const Condensed<T>& distances, size_t n) {
  require(n >= 1 && distances.shape(0) == n * (n - 1) / 2,
          "a condensed matrix of n objects has n (n - 1) / 2 distances, and n is at least 1");
}

nb::object children_of(Joins&& joins) {
  const size_t m = joins.left.size();
  std::vector<int64_t> children(2 * m);
  for (size_t k = 0; k < m; ++k) children[2 * k] = joins.left[k], children[2 * k + 1] = joins.right[k];
  return nb::make_tuple(array(std::move(children), {m, 2}), array(std::move(joins.heights)));
}

template <class T>
nb::object avalanche(const Condensed<T>& distances, size_t n, bool trace) {
  check_pairs(distances, n);
  Avalanche<T> growing(distances.data(), n, trace);
  without_lock([&] { growing.run(); });
  const size_t m = growing.moves.size();
  std::vector<int64_t> what(3 * m);
  std::vector<double> between(m);
  for (size_t k = 0; k < m; ++k) {
    const Move& move = growing.moves[k];
    what[3 * k] = move.node, what[3 * k + 1] = move.object, what[3 * k + 2] = move.is_retained;
    between[k] = move.between;
  }
  return nb::make_tuple(children_of(std::move(growing.joins)), array(std::move(what), {m, 3}),
                        array(std::move(between)));
}

template <class T>
nb::object staxac(const Condensed<T>& distances, const Codes& y, size_t n_classes, const std::optional<Codes>& edges,
                  bool renew) {
  const size_t n = y.shape(0);
  check_pairs(distances, n);
  check_codes(y, n_classes);
  require(!edges || edges->shape(0) % 2 == 0, "edges are pairs of objects");
  require(!edges || !renew, "a graph that is given is not made anew");
  for (size_t e = 0; edges && e < edges->shape(0); ++e)
    require((*edges)(e) >= 0 && static_cast<size_t>((*edges)(e)) < n, "an edge must join two of the objects");
  std::vector<T> sums(distances.data(), distances.data() + distances.shape(0));
  Staxac<T> merging(sums.data(), y.data(), n, n_classes);
  if (renew) merging.renew();
  for (size_t e = 0; edges && e < edges->shape(0); e += 2) {
    require((*edges)(e) != (*edges)(e + 1), "an edge must join two different objects");
    merging.add_edge(static_cast<size_t>((*edges)(e)), static_cast<size_t>((*edges)(e + 1)));
  }
  without_lock([&] { merging.run(); });
  return nb::make_tuple(children_of(std::move(merging.joins)), merging.rounds);
}

template <class T>
nb::object gabriel(const Condensed<T>& distances, size_t n) {
  check_pairs(distances, n);
  std::vector<int32_t> edges = without_lock([&] { return gabriel_edges(distances.data(), n); });
  return array(std::move(edges));
}

nb::object neighbor_joining(const Matrix& square) {
  const size_t n = square.shape(0);
  require(n >= 1 && square.shape(1) == n, "a distance matrix has as many columns as rows, at least one");
  std::vector<double> work(square.data(), square.data() + n * n);
  std::optional<NeighborJoining> tree;
  without_lock([&] { tree.emplace(work.data(), n); });
  return nb::make_tuple(children_of(std::move(tree->joins)), array(std::move(tree->lengths), {2 * n - 1}));
}

nb::object climb_representatives(const Matrix& square, const Codes& y, size_t n_classes, double weight,
                                 const Codes& start) {
  const size_t n = square.shape(0);
  require(n >= 1 && square.shape(1) == n && y.shape(0) == n,
          "a distance matrix has a row and a column for every label");
  check_codes(y, n_classes);
  require(start.shape(0) >= 1, "a climb starts from at least one representative");
  std::vector<size_t> chosen;
  for (size_t k = 0; k < start.shape(0); ++k) {
    require(start(k) >= 0 && static_cast<size_t>(start(k)) < n && (k == 0 || start(k) > start(k - 1)),
            "representatives are rising row numbers");
    chosen.push_back(static_cast<size_t>(start(k)));
  }
  double q = without_lock([&] { return Representatives(square.data(), y.data(), n, n_classes, weight).climb(chosen); });
  std::vector<int32_t> rows(chosen.begin(), chosen.end());
  return nb::make_tuple(array(std::move(rows)), q);
}

}  // namespace

void bind_hierarchy(nb::module_& m) {
  const auto def_condensed = [&]<class T>() {
    m.def("avalanche", &avalanche<T>, "distances"_array, "n"_a, "trace"_a = false,
          "AVALANCHE over a condensed matrix, float32 or float64. Returns ((children (n-1, 2), heights (n-1,)), "
          "moves (m, 3) int64 of node, object and whether it was kept, total distance between the sides after each "
          "(m,)); moves are empty without `trace`.");
    m.def("staxac", &staxac<T>, "distances"_array, "y"_array, "n_classes"_a, "edges"_maybe, "renew"_a = false,
          "STAXAC over a condensed matrix, float32 or float64; edges (2 m,) int32 of the proximity graph, or None for "
          "nearest neighbors, which `renew` makes anew after every merge. Returns ((children, heights), how often a "
          "graph was made).");
    m.def("gabriel_edges", &gabriel<T>, "distances"_array, "n"_a,
          "Edges of the Gabriel graph of a condensed matrix, one after another, (2 m,) int32.");
  };
  def_condensed.operator()<double>();
  def_condensed.operator()<float>();
  m.def("neighbor_joining", &neighbor_joining, "square"_array,
        "Neighbor joining over a square matrix (n, n). Returns ((children, last distances), branch lengths (2n-1,)).");
  m.def("climb_representatives", &climb_representatives, "square"_array, "y"_array, "n_classes"_a, "weight"_a,
        "start"_array, "One climb of SRIDHCR from the rows `start`: (representatives, rising int32; their q).");
}

}  // namespace oblique
