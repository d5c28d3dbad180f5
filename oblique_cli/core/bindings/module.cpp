// What Python sees of the core but for forests (forest_bindings.cpp): checks, lock release, docstrings.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "growth/growth.hpp"
#include "hierarchy/hierarchy.hpp"
#include "model_tree/least_squares.hpp"
#include "bindings/arrays.hpp"
#include "pathfinder/regions.hpp"
#include "tree/traverse.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace oblique {
namespace {

void check_codes(const Codes& y, std::size_t n_classes) {
  for (std::size_t i = 0; i < y.shape(0); ++i)
    require(y(i) >= 0 && static_cast<std::size_t>(y(i)) < n_classes, "y must hold codes from 0 to n_classes - 1");
}

template <class Use>
auto with_criterion(const std::string& name, Use use) {
  if (name == "gini") return use.template operator()<Gini>();
  if (name == "entropy") return use.template operator()<Entropy>();
  if (name == "twoing") return use.template operator()<Twoing>();
  if (name == "max_minority") return use.template operator()<MaxMinority>();
  if (name == "sum_minority") return use.template operator()<SumMinority>();
  throw nb::value_error(("unknown criterion '" + name + "'").c_str());
}

Family family_of(const std::string& name) {
  if (name == "axis_parallel" || name == "oc1_ap") return Family::axis_parallel;
  if (name == "hhcart_a") return Family::hhcart_all;
  if (name == "hhcart_d") return Family::hhcart_dominant;
  if (name == "gdt") return Family::gdt;
  if (name == "hhgdt") return Family::hhgdt;
  if (name == "hhcrv") return Family::hhcrv;
  if (name == "oc1" || name == "oc1_lc") return Family::hill_climb;
  throw nb::value_error(("no native growth for '" + name + "'").c_str());
}

// Number of levels of each feature, 0 for a quantitative one; none at all if `levels` is None.
Levels levels_of(const std::optional<Codes>& levels, std::size_t p) {
  require(!levels || levels->shape(0) == p, "levels must have one entry per feature");
  std::vector<std::int32_t> counts(p, 0);
  if (levels) counts.assign(levels->data(), levels->data() + p);
  for (const std::int32_t count : counts) require(count >= 0, "levels must not be negative");
  return Levels(std::move(counts));
}

// Reads restarts, jumps, order, stagnation, exact, sweep_tol, standardisation, rows_per_feature, backward_elimination and
// direct; what is missing keeps its default.
HillClimbOptions hill_climb_options(const std::string& family, const nb::dict& given, std::uint64_t seed) {
  HillClimbOptions options;
  options.seed = seed;
  options.linear_combination = family == "oc1_lc";
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "restarts") {
      options.restarts = nb::cast<int>(value);
    } else if (name == "jumps") {
      options.jumps = nb::cast<int>(value);
    } else if (name == "order") {
      const std::string order = nb::cast<std::string>(value);
      require(order == "sequential" || order == "best" || order == "r50", "order must be sequential, best or r50");
      options.order = order == "sequential" ? PerturbationOrder::sequential
                      : order == "best"     ? PerturbationOrder::best
                                            : PerturbationOrder::random50;
    } else if (name == "stagnation") {
      options.stagnation = nb::cast<double>(value);
    } else if (name == "exact") {
      options.exact = nb::cast<bool>(value);
    } else if (name == "sweep_tol") {
      options.sweep_tol = nb::cast<double>(value);
    } else if (name == "standardisation") {
      const std::string unit = nb::cast<std::string>(value);
      require(unit == "deviation" || unit == "range" || unit == "none", "standardisation must be deviation, range or none");
      options.standardisation = unit == "deviation" ? Standardisation::deviation
                                : unit == "range"   ? Standardisation::range
                                                    : Standardisation::none;
    } else if (name == "rows_per_feature") {
      options.rows_per_feature = nb::cast<double>(value);
    } else if (name == "backward_elimination") {
      options.backward_elimination = nb::cast<bool>(value);
    } else if (name == "direct") {
      options.direct = nb::cast<bool>(value);
    } else {
      throw nb::value_error(("unknown hill-climbing option '" + name + "'").c_str());
    }
  }
  return options;
}

nb::dict grow(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, std::size_t n_classes,
              const std::string& family, const std::string& criterion, double min_parent, double max_misrate,
              int max_depth, double min_leaf, bool strict_ties, bool exhaustive, double tau, double sign,
              double eigenvalue_tolerance, bool bisector_by_super_classes, bool both_signs, bool shrinkage,
              const std::optional<Codes>& levels, std::uint64_t seed,
              const nb::dict& hill_climb) {
  const std::size_t n = x.shape(0), p = x.shape(1);
  require(n >= 1 && p >= 1 && n_classes >= 1, "X must have at least one row and one column");
  require(y.shape(0) == n, "X and y must have the same number of rows");
  require(!weights || weights->shape(0) == n, "X and weights must have the same number of rows");
  check_codes(y, n_classes);
  GrowthOptions options;
  options.family = family_of(family);
  options.min_parent = min_parent;
  options.max_misrate = max_misrate;
  options.max_depth = max_depth;
  options.min_leaf = min_leaf;
  options.strict_ties = strict_ties;
  options.exhaustive = exhaustive;
  options.tau = tau;
  options.sign = sign;
  options.eigenvalue_tolerance = eigenvalue_tolerance;
  options.bisector_by_super_classes = bisector_by_super_classes;
  options.both_signs = both_signs;
  options.shrinkage = shrinkage;
  const Levels qualitative = levels_of(levels, p);
  options.hill_climb = hill_climb_options(family, hill_climb, seed);
  require(options.family != Family::hill_climb || !qualitative.any(), "oc1 and oc1_lc take quantitative features only");
  TreeArrays tree;
  {
    nb::gil_scoped_release release;
    tree = with_criterion(criterion, [&]<class Criterion>() {
      Grower<Criterion> grower(x.data(), y.data(), weights ? weights->data() : nullptr, n, p, n_classes, qualitative,
                               options);
      return grower.grow();
    });
  }
  const std::size_t nodes = tree.size();
  nb::dict out;
  out["left"] = array(std::move(tree.left), {nodes});
  out["right"] = array(std::move(tree.right), {nodes});
  out["weights"] = array(std::move(tree.weights), {nodes, p});
  out["thresholds"] = array(std::move(tree.thresholds), {nodes});
  out["counts"] = array(std::move(tree.counts), {nodes, n_classes});
  out["gains"] = array(std::move(tree.gains), {nodes});
  out["n_rows"] = array(std::move(tree.n_rows), {nodes});
  out["level_scores"] = array(std::move(tree.level_scores), {nodes, qualitative.width});
  out["directions"] = tree.search.directions;
  out["refined"] = tree.search.refined;
  out["bins"] = tree.search.bins;
  return out;
}

// Columns of a node grouped by class, owned: what NodeRows points into.
struct OwnedRows {
  std::vector<double> columns, weights;
  std::vector<std::size_t> order, offsets;
  NodeRows rows;

  // canonical: rows of a class in the order that growth gives them, so that sums have the same bits.
  OwnedRows(const Matrix& x, const Codes& y, const std::optional<Doubles>& w, std::size_t n_classes, bool canonical) {
    const std::size_t n = x.shape(0), p = x.shape(1);
    for (std::size_t k = 0; k < n_classes; ++k) {
      const std::size_t before = order.size();
      for (std::size_t i = 0; i < n; ++i)
        if (static_cast<std::size_t>(y(i)) == k) order.push_back(i);
      if (order.size() > before) offsets.push_back(before);
    }
    offsets.push_back(n);
    if (canonical)
      for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(offsets[k]),
                  order.begin() + static_cast<std::ptrdiff_t>(offsets[k + 1]), [&](std::size_t a, std::size_t b) {
                    return comes_before(x, p, w ? w->data() : nullptr, a, b);
                  });
    columns.resize(n * p);
    for (std::size_t j = 0; j < p; ++j)
      for (std::size_t i = 0; i < n; ++i) columns[j * n + i] = x(order[i], j);
    if (w)
      for (std::size_t i = 0; i < n; ++i) weights.push_back((*w)(order[i]));
    rows.n = n;
    for (std::size_t j = 0; j < p; ++j) rows.columns.push_back(columns.data() + j * n);
    rows.weights = w ? weights.data() : nullptr;
    rows.n_classes = static_cast<int>(offsets.size()) - 1;
    rows.first_row = offsets.data();
  }
};

nb::object search(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, std::size_t n_classes,
                  const std::string& criterion, const nb::list& candidates, double min_leaf, bool strict_ties,
                  bool exhaustive) {
  const std::size_t n = x.shape(0), p = x.shape(1);
  require(y.shape(0) == n, "X and y must have the same number of rows");
  require(!weights || weights->shape(0) == n, "X and weights must have the same number of rows");
  check_codes(y, n_classes);
  OwnedRows owned(x, y, weights, n_classes, false);
  if (owned.rows.n_classes < 2) return nb::none();

  struct Group {
    std::vector<Space> spaces;               // axes and reflections
    std::vector<Vector> directions;          // or explicit directions
    std::vector<double> thresholds;          // and their offsets, if given
  };
  std::vector<Group> groups;
  for (const nb::handle& item : candidates) {
    const nb::tuple parts = nb::cast<nb::tuple>(item);
    const std::string kind = nb::cast<std::string>(parts[0]);
    if (kind == "axes" || kind == "reflection") {
      Space space;
      if (kind == "reflection") {
        const Doubles u = nb::cast<Doubles>(parts[1]);
        require(u.shape(0) == p, "a reflection needs one component per feature");
        space.original = false;
        space.u.assign(u.data(), u.data() + p);
      }
      // Neighbouring spaces are searched together, so that an axis they share is searched once.
      if (groups.empty() || groups.back().spaces.empty()) groups.emplace_back();
      groups.back().spaces.push_back(std::move(space));
    } else if (kind == "directions") {
      const Matrix rows = nb::cast<Matrix>(parts[1]);
      require(rows.shape(1) == p, "directions need one component per feature");
      groups.emplace_back();
      for (std::size_t i = 0; i < rows.shape(0); ++i)
        groups.back().directions.emplace_back(rows.data() + i * p, rows.data() + (i + 1) * p);
      if (!parts[2].is_none()) {
        const Doubles t = nb::cast<Doubles>(parts[2]);
        require(t.shape(0) == rows.shape(0), "directions and thresholds must have the same length");
        groups.back().thresholds.assign(t.data(), t.data() + t.shape(0));
      }
    } else {
      throw nb::value_error("a candidate is 'axes', 'reflection' or 'directions'");
    }
  }

  bool found = false;
  Vector normal;
  double threshold = 0.0, gain = 0.0;
  std::int64_t winner = -1;
  {
    nb::gil_scoped_release release;
    with_criterion(criterion, [&]<class Criterion>() {
      SplitSearch<Criterion> searcher;
      searcher.configure(strict_ties, min_leaf, exhaustive);
      searcher.begin(owned.rows);
      Spread spread;
      spread.measure(owned.rows);
      Vector xu, z(n);
      std::vector<std::int64_t> starts;
      std::int64_t order = 0;
      for (const Group& group : groups) {
        starts.push_back(order);
        search_spaces(searcher, owned.rows, spread, group.spaces, order, xu);
        order += static_cast<std::int64_t>(group.spaces.size() * p);
        for (std::size_t i = 0; i < group.directions.size(); ++i, ++order) {
          const Vector& h = group.directions[i];
          if (group.thresholds.empty()) {
            project(owned.rows, h.data(), z.data());
            searcher.direction(order, z.data(), spread.of_direction(h.data()));
          } else {
            for (std::size_t r = 0; r < n; ++r) z[r] = dot_row(h.data(), x.data() + owned.order[r] * p, p);
            searcher.fixed_cut(order, z.data(), group.thresholds[i], min_leaf);
          }
        }
      }
      const Cut cut = searcher.front().winner();
      if (cut.order < 0) return;
      std::size_t g = starts.size();
      while (starts[g - 1] > cut.order) --g;
      const Group& group = groups[g - 1];
      const std::int64_t within = cut.order - starts[g - 1];
      const bool given = !group.thresholds.empty();
      normal = group.spaces.empty() ? group.directions[static_cast<std::size_t>(within)]
                                    : normal_of(group.spaces, p, within);
      threshold = cut.threshold;
      if (!given) {
        for (std::size_t r = 0; r < n; ++r) z[r] = dot_row(normal.data(), x.data() + r * p, p);
        if (!settle(z.data(), n, threshold)) return;
      }
      gain = Criterion::gain(cut.value, searcher.totals());
      winner = cut.order;
      found = true;
    });
  }
  if (!found) return nb::none();
  return nb::make_tuple(array(std::move(normal), {p}), threshold, gain, winner);
}

nb::object hill_climb(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, std::size_t n_classes,
                      const std::string& family, const std::string& criterion, double min_leaf, bool strict_ties,
                      std::uint64_t seed, std::uint64_t path, const nb::dict& options) {
  const std::size_t n = x.shape(0), p = x.shape(1);
  require(n >= 1 && p >= 1 && y.shape(0) == n, "X and y must have the same number of rows, at least one");
  require(!weights || weights->shape(0) == n, "X and weights must have the same number of rows");
  require(family_of(family) == Family::hill_climb, "only oc1 and oc1_lc climb");
  check_codes(y, n_classes);
  const HillClimbOptions chosen = hill_climb_options(family, options, seed);
  OwnedRows owned(x, y, weights, n_classes, true);
  if (owned.rows.n_classes < 2) return nb::none();
  ClimbedPlane plane;
  bool found = false;
  double gain = 0.0;
  {
    nb::gil_scoped_release release;
    with_criterion(criterion, [&]<class Criterion>() {
      SplitSearch<Criterion> searcher;
      searcher.configure(strict_ties, min_leaf, false);
      searcher.begin(owned.rows);
      Spread spread;
      spread.measure(owned.rows);
      Vector xu;
      search_spaces(searcher, owned.rows, spread, {Space{}}, 0, xu);
      HillClimb<Criterion> climb;
      found = climb.find(owned.rows, searcher.totals(), searcher.front().winner(), x.data(), owned.order.data(), path,
                         strict_ties, min_leaf, false, chosen, plane);
      if (found) gain = Criterion::gain(plane.value, searcher.totals());
    });
  }
  if (!found) return nb::none();
  return nb::make_tuple(array(std::move(plane.w), {p}), plane.threshold, gain);
}

nb::object line_search(const Doubles& v, const Doubles& c, const Codes& y, const std::optional<Doubles>& weights,
                       std::size_t n_classes, const std::string& criterion, bool exact, bool strict_ties, bool direct) {
  const std::size_t n = v.shape(0);
  require(n >= 1 && c.shape(0) == n && y.shape(0) == n && (!weights || weights->shape(0) == n),
          "v, c, y and weights must have the same number of rows, at least one");
  check_codes(y, n_classes);
  std::vector<double> both(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    both[2 * i] = v(i);
    both[2 * i + 1] = c(i);
  }
  const std::size_t shape[] = {n, 2};
  const OwnedRows owned(Matrix(both.data(), 2, shape), y, weights, n_classes, false);
  Step step;
  with_criterion(criterion, [&]<class Criterion>() {
    SplitSearch<Criterion> searcher;
    searcher.configure(strict_ties, 1.0, false);
    searcher.begin(owned.rows);
    LineSearch<Criterion> line;
    line.configure(strict_ties, 1.0, direct);
    line.begin(owned.rows, searcher.totals());
    step = line.search(owned.rows.columns[0], largest_magnitude(owned.rows.columns[0], n), Direction::of(owned.rows.columns[1], n), exact,
                       -std::numeric_limits<double>::infinity());
  });
  if (!step.found) return nb::none();
  return nb::make_tuple(step.t, step.value);
}

// A finished tree with its arrays kept alive.
class Walker {
 public:
  Walker(Codes left, Codes right, Matrix weights, Doubles thresholds, const std::optional<Codes>& levels,
         std::optional<Matrix> level_scores, std::optional<Flags> missing_left)
      : left_(std::move(left)), right_(std::move(right)), weights_(std::move(weights)),
        thresholds_(std::move(thresholds)), scores_(std::move(level_scores)), missing_left_(std::move(missing_left)),
        levels_(levels_of(levels, weights_.shape(1))) {
    const std::size_t nodes = left_.shape(0), p = weights_.shape(1);
    require(nodes >= 1 && right_.shape(0) == nodes && weights_.shape(0) == nodes && thresholds_.shape(0) == nodes,
            "the arrays of a tree must all have one entry per node");
    require(!missing_left_ || missing_left_->shape(0) == nodes, "missing_left must have one entry per node");
    require(!levels_.any() ||
                (scores_ && scores_->shape(0) == nodes && scores_->shape(1) == levels_.width),
            "level_scores must have a row per node and a column per level");
    std::vector<char> reached(nodes, 0);
    axis_.assign(nodes, -1);
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::int32_t l = left_(node), r = right_(node);
      if (l < 0 && r < 0) continue;
      // Children larger than their parent, each the child of one parent only: no cycle, no way out of the arrays.
      for (const std::int32_t child : {l, r}) {
        require(child > static_cast<std::int32_t>(node) && static_cast<std::size_t>(child) < nodes &&
                    !reached[static_cast<std::size_t>(child)],
                "a child must have a larger number than its parent, below n_nodes, and one parent only");
        reached[static_cast<std::size_t>(child)] = 1;
      }
      int used = 0, feature = -1;
      for (std::size_t j = 0; j < p; ++j) {
        if (weights_(node, j) == 0.0) continue;
        ++used;
        feature = weights_(node, j) == 1.0 ? static_cast<int>(j) : -1;
      }
      if (used == 1) axis_[node] = feature;
    }
    view_ = {nodes, p, left_.data(), right_.data(), weights_.data(), thresholds_.data(), axis_.data(),
             &levels_, levels_.any() ? scores_->data() : nullptr, missing_left_ ? missing_left_->data() : nullptr};
  }

  nb::object apply_rows(const Matrix& x) const {
    check_columns(x);
    std::vector<std::int32_t> leaf(x.shape(0));
    {
      nb::gil_scoped_release release;
      apply(view_, x.data(), x.shape(0), leaf.data());
    }
    const std::size_t n = leaf.size();
    return array(std::move(leaf), {n});
  }

  nb::object apply_limits(const Matrix& x, const Doubles& rate, const Doubles& limits) const {
    check_columns(x);
    check_nodes(rate);
    const std::size_t n = x.shape(0), m = limits.shape(0);
    std::vector<std::int32_t> stop(n * m);
    {
      nb::gil_scoped_release release;
      apply_truncated(view_, rate.data(), limits.data(), m, x.data(), n, stop.data());
    }
    return array(std::move(stop), {n, m});
  }

  nb::object leaves_of_limits(const Doubles& rate, const Doubles& limits) const {
    check_nodes(rate);
    std::vector<std::int64_t> leaves(limits.shape(0));
    count_truncated(view_, rate.data(), limits.data(), limits.shape(0), leaves.data());
    const std::size_t m = leaves.size();
    return array(std::move(leaves), {m});
  }

  nb::object links(const Doubles& errors, double tie) const {
    check_nodes(errors);
    std::vector<double> alpha(view_.n_nodes);
    weakest_links(view_, errors.data(), tie, alpha.data());
    return array(std::move(alpha), {view_.n_nodes});
  }

  nb::object sequence_errors(const Doubles& node_alpha, const Codes& labels, const Doubles& alphas, const Matrix& x,
                             const Codes& y, const std::optional<Doubles>& weights) const {
    check_columns(x);
    check_nodes(node_alpha);
    require(labels.shape(0) == view_.n_nodes, "labels must have one entry per node");
    require(y.shape(0) == x.shape(0) && (!weights || weights->shape(0) == x.shape(0)),
            "X, y and weights must have the same number of rows");
    std::vector<double> wrong(alphas.shape(0), 0.0);
    {
      nb::gil_scoped_release release;
      errors_of_sequence(view_, node_alpha.data(), labels.data(), alphas.data(), alphas.shape(0), x.data(), y.data(),
                         weights ? weights->data() : nullptr, x.shape(0), wrong.data());
    }
    const std::size_t m = wrong.size();
    return array(std::move(wrong), {m});
  }

 private:
  void check_columns(const Matrix& x) const {
    require(x.shape(1) == view_.n_features, "X must have as many columns as the tree has features");
  }
  void check_nodes(const Doubles& values) const {
    require(values.shape(0) == view_.n_nodes, "the values must have one entry per node");
  }
  Codes left_, right_;
  Matrix weights_;
  Doubles thresholds_;
  std::optional<Matrix> scores_;
  std::optional<Flags> missing_left_;
  Levels levels_;
  std::vector<std::int32_t> axis_;
  TreeView view_;
};

// ---- hierarchies ----------------------------------------------------------------------------------------------------

template <class T>
using Condensed = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
void check_pairs(const Condensed<T>& distances, std::size_t n) {
  require(n >= 1 && distances.shape(0) == n * (n - 1) / 2,
          "a condensed matrix of n objects has n (n - 1) / 2 distances, and n is at least 1");
}

nb::object children_of(Joins&& joins) {
  const std::size_t m = joins.left.size();
  std::vector<std::int64_t> children(2 * m);
  for (std::size_t k = 0; k < m; ++k) children[2 * k] = joins.left[k], children[2 * k + 1] = joins.right[k];
  return nb::make_tuple(array(std::move(children), {m, 2}), array(std::move(joins.heights), {m}));
}

template <class T>
nb::object avalanche(const Condensed<T>& distances, std::size_t n, bool trace) {
  check_pairs(distances, n);
  Avalanche<T> growing(distances.data(), n, trace);
  {
    nb::gil_scoped_release release;
    growing.run();
  }
  const std::size_t m = growing.moves.size();
  std::vector<std::int64_t> what(3 * m);
  std::vector<double> between(m);
  for (std::size_t k = 0; k < m; ++k) {
    const Move& move = growing.moves[k];
    what[3 * k] = move.node, what[3 * k + 1] = move.object, what[3 * k + 2] = move.kept;
    between[k] = move.between;
  }
  return nb::make_tuple(children_of(std::move(growing.joins)), array(std::move(what), {m, 3}),
                        array(std::move(between), {m}));
}

template <class T>
nb::object staxac(const Condensed<T>& distances, const Codes& y, std::size_t n_classes,
                  const std::optional<Codes>& edges, bool renew) {
  const std::size_t n = y.shape(0);
  check_pairs(distances, n);
  check_codes(y, n_classes);
  require(!edges || edges->shape(0) % 2 == 0, "edges are pairs of objects");
  require(!edges || !renew, "a graph that is given is not made anew");
  for (std::size_t e = 0; edges && e < edges->shape(0); ++e)
    require((*edges)(e) >= 0 && static_cast<std::size_t>((*edges)(e)) < n, "an edge must join two of the objects");
  std::vector<T> sums(distances.data(), distances.data() + distances.shape(0));
  Staxac<T> merging(sums.data(), y.data(), n, n_classes);
  if (renew) merging.renew();
  for (std::size_t e = 0; edges && e < edges->shape(0); e += 2) {
    require((*edges)(e) != (*edges)(e + 1), "an edge must join two different objects");
    merging.add_edge(static_cast<std::size_t>((*edges)(e)), static_cast<std::size_t>((*edges)(e + 1)));
  }
  {
    nb::gil_scoped_release release;
    merging.run();
  }
  return nb::make_tuple(children_of(std::move(merging.joins)), merging.rounds);
}

template <class T>
nb::object gabriel(const Condensed<T>& distances, std::size_t n) {
  check_pairs(distances, n);
  std::vector<std::int32_t> edges;
  {
    nb::gil_scoped_release release;
    edges = gabriel_edges(distances.data(), n);
  }
  const std::size_t m = edges.size();
  return array(std::move(edges), {m});
}

nb::object neighbor_joining(const Matrix& square) {
  const std::size_t n = square.shape(0);
  require(n >= 1 && square.shape(1) == n, "a distance matrix has as many columns as rows, at least one");
  std::vector<double> work(square.data(), square.data() + n * n);
  std::optional<NeighborJoining> tree;
  {
    nb::gil_scoped_release release;
    tree.emplace(work.data(), n);
  }
  return nb::make_tuple(children_of(std::move(tree->joins)), array(std::move(tree->lengths), {2 * n - 1}));
}

nb::object climb_representatives(const Matrix& square, const Codes& y, std::size_t n_classes, double weight,
                                 const Codes& start) {
  const std::size_t n = square.shape(0);
  require(n >= 1 && square.shape(1) == n && y.shape(0) == n, "a distance matrix has a row and a column for every label");
  check_codes(y, n_classes);
  require(start.shape(0) >= 1, "a climb starts from at least one representative");
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < start.shape(0); ++k) {
    require(start(k) >= 0 && static_cast<std::size_t>(start(k)) < n && (k == 0 || start(k) > start(k - 1)),
            "representatives are rising row numbers");
    chosen.push_back(static_cast<std::size_t>(start(k)));
  }
  double q = 0.0;
  {
    nb::gil_scoped_release release;
    q = Representatives(square.data(), y.data(), n, n_classes, weight).climb(chosen);
  }
  std::vector<std::int32_t> rows(chosen.begin(), chosen.end());
  const std::size_t k = rows.size();
  return nb::make_tuple(array(std::move(rows), {k}), q);
}

// Small pieces, for tests that compare them with the textbook.

nb::object bin_bounds(const Matrix& counts, const std::string& criterion) {
  const int n_classes = static_cast<int>(counts.shape(0)), n_bins = static_cast<int>(counts.shape(1));
  Vector of_class(counts.shape(0), 0.0);
  BinTable<double> table;
  Totals totals;
  totals.n_classes = n_classes;
  totals.counts = false;
  for (std::size_t k = 0; k < counts.shape(0); ++k)
    for (std::size_t b = 0; b < counts.shape(1); ++b) of_class[k] += counts(k, b);
  for (double w : of_class) totals.n += w;
  totals.of_class = of_class.data();
  table.resize(n_classes, n_bins, of_class.data());
  for (int k = 0; k < n_classes; ++k)
    cumulate(counts.data() + static_cast<std::size_t>(k) * counts.shape(1), n_bins, table.of_class(k));
  edge_sums(table.edges(), table.sums());
  with_criterion(criterion, [&]<class Criterion>() { Criterion::bounds(table, totals); });
  std::vector<double> out(table.bound.begin(), table.bound.begin() + n_bins);
  const std::size_t size = out.size();
  return array(std::move(out), {size});
}

nb::tuple cut_value(const Doubles& left, const Doubles& of_class, const std::string& criterion) {
  require(left.shape(0) == of_class.shape(0), "left and totals must have one entry per class");
  Totals totals;
  totals.n_classes = static_cast<int>(of_class.shape(0));
  totals.of_class = of_class.data();
  totals.counts = false;
  double s = 0.0;
  for (std::size_t k = 0; k < of_class.shape(0); ++k) {
    totals.n += of_class(k);
    s += left(k);
  }
  double value = 0.0, gain = 0.0;
  with_criterion(criterion, [&]<class Criterion>() {
    value = Criterion::value(left.data(), s, totals);
    gain = Criterion::gain(value, totals);
  });
  return nb::make_tuple(value, gain);
}

nb::tuple clustering_hyperplane(const Matrix& a, const Matrix& b, const Doubles& centre, const Doubles& scale) {
  const std::size_t m = a.shape(0);
  require(a.shape(1) == m && b.shape(0) == m && b.shape(1) == m && m >= 2, "A and B must be square and of one size");
  require(centre.shape(0) + 1 == m && scale.shape(0) + 1 == m, "centre and scale need one entry per feature");
  Standard standard;
  standard.centre.assign(centre.data(), centre.data() + m - 1);
  standard.scale.assign(scale.data(), scale.data() + m - 1);
  ClusteringHyperplane solver;
  std::vector<double> w(m, 0.0);
  const Hyperplane kind = solver.solve(a.data(), b.data(), static_cast<int>(m), standard, w.data());
  const char* names[] = {"full_rank", "null_space", "range_space", "none"};
  return nb::make_tuple(array(std::move(w), {m}), names[static_cast<int>(kind)]);
}

nb::object principal_axes_of(const Matrix& covariance, double tolerance, double sign, bool dominant_only) {
  const std::size_t p = covariance.shape(0);
  require(covariance.shape(1) == p && p >= 1, "the covariance matrix must be square");
  SymmetricEigen eigen;
  Vector out;
  const int kept = principal_axes(eigen, covariance.data(), static_cast<int>(p), tolerance, sign, dominant_only, out);
  return array(std::move(out), {static_cast<std::size_t>(kept), p});
}

nb::object crimcoord(const Matrix& table) {
  std::vector<double> scores(table.shape(0));
  Crimcoord solver;
  solver.solve(table.data(), table.shape(0), table.shape(1), scores.data());
  const std::size_t n = scores.size();
  return array(std::move(scores), {n});
}

nb::object project_rows(const Matrix& x, const Doubles& w) {
  require(w.shape(0) == x.shape(1), "w must have one component per column of X");
  std::vector<double> z(x.shape(0));
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = dot_row(w.data(), x.data() + i * x.shape(1), x.shape(1));
  const std::size_t n = z.size();
  return array(std::move(z), {n});
}

nb::object prefix_rss_of(const Matrix& rows, const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& cuts,
                         double zero) {
  const std::size_t n = rows.shape(0), m = rows.shape(1), n_cuts = cuts.shape(0);
  require(m >= 1, "rows must have at least the column of the target");
  for (std::size_t c = 0; c < n_cuts; ++c)
    require(cuts(c) >= (c ? cuts(c - 1) : 0) && cuts(c) <= static_cast<std::int64_t>(n), "cuts must rise from 0 to n");
  std::vector<double> out;
  {
    nb::gil_scoped_release release;
    out = prefix_rss(rows.data(), m, cuts.data(), n_cuts, zero);
  }
  return array(std::move(out), {n_cuts});
}

void check_planes(const Matrix& u, const Codes& y, int n_classes, int cells) {
  require(u.shape(0) >= 1 && u.shape(0) == y.shape(0), "U and y must have the same number of rows, at least one");
  require(n_classes >= 1 && cells >= 2, "there must be a class and at least two cells along an axis");
  check_codes(y, static_cast<std::size_t>(n_classes));
}

std::optional<nb::tuple> region_split(const Matrix& u, const Codes& y, int n_classes, int cells, double alpha,
                                      double theta) {
  check_planes(u, y, n_classes, cells);
  RegionSplit best;
  {
    nb::gil_scoped_release release;
    best = best_regions(u.data(), y.data(), u.shape(0), u.shape(1), n_classes, cells, {alpha, theta});
  }
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
  require(pivot >= 0 && pivot < n_classes && other >= 0 && other < n_classes && pivot != other, "two classes are needed");
  Planes planes(u.data(), y.data(), u.shape(0), u.shape(1), n_classes, cells);
  Regions found;
  GridFrame frame{cells, 0.0, 0.0, 0.0, 0.0};
  if (!planes.flat(x) && !planes.flat(y_axis)) {
    planes.use(x, y_axis);
    frame = planes.frame();
    // The lower class first, as the search has it: the order of a pair decides how equal distances are settled.
    auto both = planes.opposed(std::min(pivot, other), std::max(pivot, other), {alpha, theta});
    found = std::move(pivot < other ? both.first : both.second);
  }
  std::vector<double> corners;
  for (const Rectangle& r : found.rectangles)
    corners.insert(corners.end(), {frame.x(r.x0), frame.y(r.y0), frame.x(r.x1 + 1), frame.y(r.y1 + 1)});
  const std::size_t n = found.rectangles.size(), n_points = found.points.size();
  return nb::make_tuple(array(std::move(corners), {n, 4}), array(std::vector<std::int32_t>(found.cluster.begin(), found.cluster.end()), {n}),
                        points_array(found.centres), points_array(found.points),
                        array(std::vector<std::int32_t>(found.owner.begin(), found.owner.end()), {n_points}));
}

nb::object inside_regions(const Matrix& points, const Codes& owner, const Matrix& centres, const Codes& cluster,
                          const Matrix& rows) {
  const std::size_t n_points = points.shape(0), n_rectangles = centres.shape(0), n = rows.shape(0);
  require(n_points >= 1 && points.shape(1) == 2 && centres.shape(1) == 2 && rows.shape(1) == 2, "points must lie in a plane");
  require(owner.shape(0) == n_points && cluster.shape(0) == n_rectangles, "every point has an owner, every rectangle a cluster");
  check_codes(owner, n_rectangles);
  const InsideTest inside(reinterpret_cast<const Point*>(points.data()), owner.data(), n_points,
                          reinterpret_cast<const Point*>(centres.data()), cluster.data(), n_rectangles);
  std::vector<std::uint8_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = inside({rows(i, 0), rows(i, 1)});
  return array(std::move(out), {n});
}

void load_lapack() {
  const nb::object exported = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
  const nb::object capsule = exported["dsyev"];
  // The name of a capsule is its C signature; asking for it by its own name accepts whatever SciPy wrote there.
  void* address = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
  if (!address) throw nb::python_error();
  lapack().dsyev = reinterpret_cast<dsyev_t>(address);
}

}  // namespace
}  // namespace oblique

NB_MODULE(_core, m) {
  using namespace oblique;
  m.doc() = "Compiled core: exact split search, whole-tree growth, traversal and pruning. Releases the GIL.";
  load_lapack();

  m.def("grow", &grow, "X"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert().none(), "n_classes"_a,
        "family"_a, "criterion"_a, "min_parent"_a, "max_misrate"_a, "max_depth"_a, "min_leaf"_a, "strict_ties"_a,
        "exhaustive"_a, "tau"_a, "sign"_a, "eigenvalue_tolerance"_a, "bisector_by_super_classes"_a,
        "both_signs"_a = false, "shrinkage"_a = false, "levels"_a.noconvert().none() = nb::none(),
        "seed"_a = std::uint64_t{0}, "hill_climb"_a = nb::dict(),
        "Grow a whole tree. X (n, p) float64 C order, finite; y (n,) int32 codes; weights (n,) float64, smallest 1, or "
        "None; max_depth -1 for no limit; levels (p,) int32, the number of levels of a feature that holds codes 0, 1, "
        "..., 0 for a quantitative one; seed and hill_climb (options of `hill_climb`) for the families that draw. Returns the tree's arrays and search counts as a dict.");
  m.def("hill_climb", &hill_climb, "X"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert().none(), "n_classes"_a,
        "family"_a, "criterion"_a, "min_leaf"_a, "strict_ties"_a, "seed"_a, "path"_a, "options"_a,
        "Hyperplane (normal (p,), threshold, gain) that oc1 or oc1_lc finds at one node, or None if the best "
        "axis-parallel split is at least as good. Its option `direct` sorts and recomputes everything, for comparisons.");
  m.def("line_search", &line_search, "v"_a.noconvert(), "c"_a.noconvert(), "y"_a.noconvert(),
        "weights"_a.noconvert().none(), "n_classes"_a, "criterion"_a, "exact"_a, "strict_ties"_a, "direct"_a,
        "Best step t of the hyperplanes v - t c <= 0: (t, value of the searched cut) or None.");
  m.def("search", &search, "X"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert().none(), "n_classes"_a,
        "criterion"_a, "candidates"_a, "min_leaf"_a, "strict_ties"_a, "exhaustive"_a,
        "Best split of one node among candidates: ('axes',), ('reflection', u) or ('directions', rows, thresholds or "
        "None). Returns (normal (p,), threshold, gain, order) or None.");
  m.def("bin_bounds", &bin_bounds, "counts"_a.noconvert(), "criterion"_a,
        "Upper bounds of a criterion's value over the cuts of each bin; counts (n_classes, n_bins) float64.");
  m.def("cut_value", &cut_value, "left"_a.noconvert(), "totals"_a.noconvert(), "criterion"_a,
        "Value and published gain of a cut with class weights `left` of `totals` on the left.");
  m.def("clustering_hyperplane", &clustering_hyperplane, "A"_a.noconvert(), "B"_a.noconvert(),
        "centre"_a.noconvert(), "scale"_a.noconvert(),
        "Plane (w, b) over x that maximises w'Bw / w'Aw, unnormalised, A and B moments of [z 1] with "
        "x = centre + scale * z; and which case of thesis 5.1.2 applied.");
  m.def("principal_axes", &principal_axes_of, "covariance"_a.noconvert(), "tolerance"_a, "sign"_a, "dominant_only"_a,
        "Eigenvectors as rows, by falling eigenvalue, oriented and with canonical bases of repeated eigenvalues.");
  m.def("crimcoord", &crimcoord, "table"_a.noconvert(),
        "Score of each level from the table of weights of levels by classes (thesis 3.7), (n_levels,).");
  m.def("project", &project_rows, "X"_a.noconvert(), "w"_a.noconvert(),
        "X w by the arithmetic that prediction uses.");
  m.def("prefix_rss", &prefix_rss_of, "rows"_a.noconvert(), "cuts"_a.noconvert(), "zero"_a,
        "Residual sum of squares of the last column on the others over the first cuts[0], cuts[1], ... rows, by Givens "
        "rotations; entries below zero once the columns before them are eliminated count as 0.");
  m.def("region_split", &region_split, "U"_a.noconvert(), "y"_a.noconvert(), "n_classes"_a, "cells"_a, "alpha"_a,
        "theta"_a, "Best (feature, feature, pivot class, other class, Gini gain) over all planes and pairs, or None.");
  m.def("regions", &regions_of, "U"_a.noconvert(), "y"_a.noconvert(), "n_classes"_a, "x"_a, "y_axis"_a, "pivot"_a,
        "other"_a, "cells"_a, "alpha"_a, "theta"_a,
        "Rectangles of the pivot class against the other: corners (m, 4), cluster (m,), centres (m, 2), boundary points "
        "(k, 2) and the rectangle that owns each (k,).");
  m.def("inside_regions", &inside_regions, "points"_a.noconvert(), "owner"_a.noconvert(), "centres"_a.noconvert(),
        "cluster"_a.noconvert(), "rows"_a.noconvert(), "Whether each row (n, 2) lies inside, (n,) uint8.");

  const auto def_condensed = [&]<class T>() {
    m.def("avalanche", &avalanche<T>, "distances"_a.noconvert(), "n"_a, "trace"_a = false,
          "AVALANCHE over a condensed matrix, float32 or float64. Returns ((children (n-1, 2), heights (n-1,)), moves "
          "(m, 3) int64 of node, object and whether it was kept, total distance between the sides after each (m,)); moves "
          "are empty without `trace`.");
    m.def("staxac", &staxac<T>, "distances"_a.noconvert(), "y"_a.noconvert(), "n_classes"_a,
          "edges"_a.noconvert().none() = nb::none(), "renew"_a = false,
          "STAXAC over a condensed matrix, float32 or float64; edges (2 m,) int32 of the proximity graph, or None for "
          "nearest neighbours, which `renew` makes anew after every merge. Returns ((children, heights), how often a "
          "graph was made).");
    m.def("gabriel_edges", &gabriel<T>, "distances"_a.noconvert(), "n"_a,
          "Edges of the Gabriel graph of a condensed matrix, one after another, (2 m,) int32.");
  };
  def_condensed.operator()<double>();
  def_condensed.operator()<float>();
  m.def("neighbor_joining", &neighbor_joining, "square"_a.noconvert(),
        "Neighbour joining over a square matrix (n, n). Returns ((children, last distances), branch lengths (2n-1,)).");
  m.def("climb_representatives", &climb_representatives, "square"_a.noconvert(), "y"_a.noconvert(), "n_classes"_a,
        "weight"_a, "start"_a.noconvert(),
        "One climb of SRIDHCR from the rows `start`: (representatives, rising int32; their q).");

  nb::class_<Walker>(m, "Walker", "A finished tree ready to send rows through; checks its node numbers.")
      .def(nb::init<Codes, Codes, Matrix, Doubles, const std::optional<Codes>&, std::optional<Matrix>,
                    std::optional<Flags>>(),
           "left"_a.noconvert(), "right"_a.noconvert(), "weights"_a.noconvert(), "thresholds"_a.noconvert(),
           "levels"_a.noconvert().none() = nb::none(), "level_scores"_a.noconvert().none() = nb::none(),
           "missing_left"_a.noconvert().none() = nb::none())
      .def("apply", &Walker::apply_rows, "X"_a.noconvert(), "Leaf of each row, (n,) int32.")
      .def("apply_limits", &Walker::apply_limits, "X"_a.noconvert(), "rate"_a.noconvert(), "limits"_a.noconvert(),
           "Node at which each row stops when nodes of rate <= limit are leaves, (n, m); limits ascending.")
      .def("leaves_of_limits", &Walker::leaves_of_limits, "rate"_a.noconvert(), "limits"_a.noconvert(),
           "Number of leaves for each limit, (m,); limits ascending.")
      .def("weakest_links", &Walker::links, "errors"_a.noconvert(), "tie"_a,
           "Complexity at which each internal node collapses, (n_nodes,); -inf at leaves.")
      .def("sequence_errors", &Walker::sequence_errors, "node_alpha"_a.noconvert(), "labels"_a.noconvert(),
           "alphas"_a.noconvert(), "X"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert().none(),
           "Misclassified weight of every member of a pruning sequence, (m,); alphas ascending.");
  bind_forest(m);
}
