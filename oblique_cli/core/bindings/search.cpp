// Python bindings of the search at one node.
#include <algorithm>

#include "bindings/bindings.hpp"
#include "common/counting.hpp"
#include "heuristic/climbing/line_search.hpp"
#include "split/candidates.hpp"
#include "split/criteria.hpp"

namespace oblique {
namespace {

// Owned columns of a node, grouped by class; NodeRows points into them.
struct OwnedRows {
  std::vector<double> columns, weights;
  std::vector<uint32_t> order;
  std::vector<size_t> offsets;
  NodeRows rows;

  OwnedRows(const Matrix& x, const Codes& y, const std::optional<Doubles>& w, size_t n_classes) {
    const size_t n = x.shape(0), p = x.shape(1);
    for (size_t k = 0; k < n_classes; ++k) {
      const size_t before = order.size();
      for (size_t i = 0; i < n; ++i)
        if (static_cast<size_t>(y(i)) == k) order.push_back(static_cast<uint32_t>(i));
      if (order.size() > before) offsets.push_back(before);
    }
    offsets.push_back(n);
    columns.resize(n * p);
    for (size_t j = 0; j < p; ++j)
      for (size_t i = 0; i < n; ++i) columns[j * n + i] = x(order[i], j);
    if (w)
      for (size_t i = 0; i < n; ++i) weights.push_back((*w)(order[i]));
    rows.n = n;
    for (size_t j = 0; j < p; ++j) rows.columns.push_back(columns.data() + j * n);
    rows.weights = w ? weights.data() : nullptr;
    rows.n_classes = static_cast<int>(offsets.size()) - 1;
    rows.first_row = offsets.data();
  }
};

// Reads ('axes',), ('reflection', u) and ('directions', D, thresholds or None).
Candidates candidates_of(const nb::list& items, size_t p) {
  Candidates out;
  for (const nb::handle& item : items) {
    const nb::tuple parts = nb::cast<nb::tuple>(item);
    const std::string kind = nb::cast<std::string>(parts[0]);
    if (kind == "axes") {
      out.add_axes();
    } else if (kind == "reflection") {
      const Doubles u = nb::cast<Doubles>(parts[1]);
      require(u.shape(0) == p, "a reflection needs one component per feature");
      out.add_reflection(vector_of(u));
    } else if (kind == "directions") {
      const Matrix rows = nb::cast<Matrix>(parts[1]);
      require(rows.shape(1) == p, "directions need one component per feature");
      std::optional<Doubles> thresholds;
      if (!parts[2].is_none()) {
        thresholds = nb::cast<Doubles>(parts[2]);
        require(thresholds->shape(0) == rows.shape(0), "directions and thresholds must have the same length");
      }
      for (size_t i = 0; i < rows.shape(0); ++i) {
        Vector w(rows.data() + i * p, rows.data() + (i + 1) * p);
        thresholds ? out.add_hyperplane(std::move(w), (*thresholds)(i)) : out.add_direction(std::move(w));
      }
    } else {
      throw nb::value_error("a candidate is 'axes', 'reflection' or 'directions'");
    }
  }
  return out;
}

nb::object search(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes,
                  const std::string& criterion, const nb::list& candidates, double min_leaf, bool strict_ties,
                  bool exhaustive, const std::vector<std::string>& without, const std::optional<Codes>& signs_given,
                  double low, double high) {
  const size_t n = x.shape(0), p = x.shape(1);
  check_rows(x, y, weights, n_classes);
  const OwnedRows owned(x, y, weights, n_classes);
  if (owned.rows.n_classes < 2) return nb::none();
  const Candidates chosen = candidates_of(candidates, p);
  const SearchOptions options{criterion, strict_ties, min_leaf, exhaustive, without};
  const Levels levels(std::vector<int32_t>(p, 0));
  const std::optional<Signs> signs = signs_of(signs_given, p, n_classes);
  Split split;
  bool is_found = false;
  {
    const Released released;
    PredictedRows predicted(x.data(), levels);
    predicted.begin(owned.order.data(), n, nullptr);
    const auto searcher = make_search(options);
    searcher->begin(owned.rows);
    Spread spread;
    spread.measure(owned.rows);
    const Node node{owned.rows, spread, predicted, *searcher, options, 0, kRootPath, nullptr, signs ? &*signs : nullptr,
                    {low, high}};
    is_found = signs ? MonotoneSearch().find(node, chosen, split) : CandidateSearch().find(node, chosen, split);
    if (is_found && !split.is_final) {
      Vector z(n);
      predicted.project(split.normal.data(), z.data());
      is_found = settle(z.data(), n, split.threshold);
    }
  }
  if (!is_found) return nb::none();
  return nb::make_tuple(array(std::move(split.normal)), split.threshold, split.gain, split.order);
}

nb::object line_search(const Doubles& v, const Doubles& c, const Codes& y, const std::optional<Doubles>& weights,
                       size_t n_classes, const std::string& criterion, bool exact, bool strict_ties, bool direct) {
  const size_t n = v.shape(0);
  require(n >= 1 && c.shape(0) == n && y.shape(0) == n && (!weights || weights->shape(0) == n),
          "v, c, y and weights must have the same number of rows, at least one");
  check_codes(y, n_classes);
  std::vector<double> both(2 * n);
  for (size_t i = 0; i < n; ++i) {
    both[2 * i] = v(i);
    both[2 * i + 1] = c(i);
  }
  const size_t shape[] = {n, 2};
  const OwnedRows owned(Matrix(both.data(), 2, shape), y, weights, n_classes);
  const auto searcher = make_search({criterion, strict_ties, 1.0, false});
  searcher->begin(owned.rows);
  const auto line = make_line_search(criterion, strict_ties, 1.0, direct);
  line->begin(owned.rows, searcher->totals());
  const Step step =
      line->search(owned.rows.columns[0], largest_magnitude(owned.rows.columns[0], n),
                   LineDirection::of(owned.rows.columns[1], n), exact, -std::numeric_limits<double>::infinity());
  if (!step.is_found) return nb::none();
  return nb::make_tuple(step.t, step.value);
}

// Small building blocks, for tests that compare them with textbook formulas.

// of_class must outlive the result.
Totals totals_of(const double* of_class, size_t n_classes, const std::string& criterion) {
  Totals totals;
  totals.runtime_criterion = given_criterion(criterion);
  totals.n_classes = static_cast<int>(n_classes);
  totals.of_class = of_class;
  totals.counts = false;
  for (size_t k = 0; k < n_classes; ++k) totals.n += of_class[k];
  return totals;
}

nb::object bin_bounds(const Matrix& counts, const std::string& criterion) {
  const int n_classes = static_cast<int>(counts.shape(0)), n_bins = static_cast<int>(counts.shape(1));
  Vector of_class(counts.shape(0), 0.0);
  BinTable<double> table;
  for (size_t k = 0; k < counts.shape(0); ++k)
    for (size_t b = 0; b < counts.shape(1); ++b) of_class[k] += counts(k, b);
  const Totals totals = totals_of(of_class.data(), of_class.size(), criterion);
  table.resize(n_classes, n_bins, of_class.data());
  for (int k = 0; k < n_classes; ++k) cumulate(counts.data() + k * counts.shape(1), n_bins, table.of_class(k));
  edge_sums(table.edges(), table.sums());
  with_criterion(criterion, [&]<class Criterion>() { Criterion::bounds(table, totals); });
  return array(Vector(table.bound.begin(), table.bound.begin() + n_bins));
}

// Places of rows by class, one class after the other, and a number for each of 256 places.
struct PlacesOfClasses {
  std::vector<uint8_t> place, of_place;
  std::vector<size_t> first_row{0};

  PlacesOfClasses(const Codes& places, const Codes& sizes, const Codes& numbers)
      : place(vector_of<uint8_t>(places)), of_place(vector_of<uint8_t>(numbers)) {
    require(numbers.shape(0) == 256, "there are 256 places");
    for (size_t k = 0; k < sizes.shape(0); ++k) first_row.push_back(first_row.back() + sizes(k));
    require(first_row.back() == place.size(), "the sizes of the classes must add up to the number of places");
    place.resize(place.size() + kPlacePadding);
  }
  int n_classes() const { return static_cast<int>(first_row.size()) - 1; }
};

nb::object count_places(const Codes& places, const Codes& sizes, const Codes& bin_of) {
  const PlacesOfClasses all(places, sizes, bin_of);
  constexpr size_t stride = kPlaceBins + 1;
  std::vector<float> counts(sizes.shape(0) * stride);
  count_up_to(all.place.data(), all.first_row.data(), all.n_classes(), all.of_place.data(), counts.data(), stride);
  return array(Vector(counts.begin(), counts.end()), {sizes.shape(0), stride});
}

nb::tuple picked_rows(const Codes& places, const Codes& sizes, const Codes& wanted) {
  const PlacesOfClasses all(places, sizes, wanted);
  std::vector<size_t> up_to(sizes.shape(0));
  std::vector<uint32_t> rows(places.shape(0));
  pick_rows(all.place.data(), all.first_row.data(), all.n_classes(), all.of_place.data(), rows.data(), up_to.data());
  rows.resize(up_to.empty() ? 0 : up_to.back());
  return nb::make_tuple(array(Vector(rows.begin(), rows.end())), array(Vector(up_to.begin(), up_to.end())));
}

nb::object least_of_above(const Codes& places, int place, const Doubles& x, const Doubles& w, double c) {
  require(x.shape(0) == w.shape(0) && x.shape(0) == places.shape(0),
          "places, x and w must have the same number of rows");
  const auto of_row = vector_of<uint8_t>(places);
  return nb::float_(least_above(of_row.data(), static_cast<uint8_t>(place), x.data(), w.data(), c, of_row.size()));
}

nb::object counted_below(const Doubles& z, const Doubles& values) {
  std::vector<uint32_t> below(values.shape(0));
  count_below(z.data(), z.shape(0), values.data(), values.shape(0), below.data());
  return array(Vector(below.begin(), below.end()), {below.size()});
}

nb::object places_along(const Doubles& x, const Doubles& w, double c, double scale, double shift) {
  require(x.shape(0) == w.shape(0), "x and w must have the same number of rows");
  std::vector<uint8_t> places(x.shape(0));
  place_reflected(x.data(), w.data(), c, scale, shift, places.data(), places.size());
  return array(Vector(places.begin(), places.end()), {places.size()});
}

nb::tuple cut_value(const Doubles& left, const Doubles& of_class, const std::string& criterion) {
  require(left.shape(0) == of_class.shape(0), "left and totals must have one entry per class");
  const Totals totals = totals_of(of_class.data(), of_class.shape(0), criterion);
  double s = 0.0;
  for (size_t k = 0; k < of_class.shape(0); ++k) s += left(k);
  double value = 0.0, gain = 0.0;
  with_criterion(criterion, [&]<class Criterion>() {
    value = Criterion::value(left.data(), s, totals);
    gain = Criterion::gain(value, totals);
  });
  return nb::make_tuple(value, gain);
}

double impurity(const Doubles& of_class, const std::string& criterion) {
  const Totals totals = totals_of(of_class.data(), of_class.shape(0), criterion);
  return with_criterion(criterion, [&]<class Criterion>() { return Criterion::impurity(totals); });
}

// A copy, since Python code may store it after the call. A weight below 0 is a rounding error of a difference of sums.
nb::object class_weights(const Vector& weights, size_t m) {
  Vector copy(weights.size());
  std::transform(weights.begin(), weights.end(), copy.begin(), [](double w) { return std::max(w, 0.0); });
  return array(std::move(copy), {m, weights.size() / m});
}

void give_criterion_of_python(const std::string& name, const nb::callable& values, const nb::object& gain) {
  GivenCriterion criterion;
  criterion.values = [values](const Vector& left, const Vector& right, size_t m, double* out) {
    const nb::gil_scoped_acquire lock;
    const auto cut_values = nb::cast<Doubles>(values(class_weights(left, m), class_weights(right, m)), false);
    require(cut_values.shape(0) == m, "a criterion must return a value for each cut");
    std::copy_n(cut_values.data(), m, out);
  };
  if (!gain.is_none())
    criterion.gain = [gain](double v, const Totals& t) {
      const nb::gil_scoped_acquire lock;
      const size_t k = t.n_classes;
      return nb::cast<double>(gain(v, array(Vector(t.of_class, t.of_class + k), {k})));
    };
  give_criterion(name, std::move(criterion));
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def(
      "search", &search, "X"_array, "y"_array, "weights"_array.none(), "n_classes"_a, "criterion"_a, "candidates"_a,
      "min_leaf"_a, "strict_ties"_a, "exhaustive"_a, "without"_a = std::vector<std::string>(), "signs"_maybe,
      "low"_a = -std::numeric_limits<double>::infinity(), "high"_a = std::numeric_limits<double>::infinity(),
      "Best split of one node among candidates: ('axes',), ('reflection', u) or ('directions', rows, thresholds or "
      "None). Returns (normal (p,), threshold, gain, order) or None. without : tactics to leave out, which changes no "
      "result. signs (p,) int32 of 1, -1 and 0, low, high : features with which the share of the second of two classes "
      "never falls, or never rises, and the bounds of its shares on both sides; planes across which features disagree "
      "are cut along their parts that agree, and where no candidate has an allowed cut the axes have.");
  m.def("kernel_sets", &kernel_sets, "Instruction sets of this processor for kernels, in rising order.");
  m.def(
      "kernels",
      [](const std::optional<std::string>& name) {
        const std::string before = used_kernels();
        if (name) use_kernels(*name);
        return before;
      },
      "name"_a = nb::none(),
      "The instruction set of the kernels, which changes no result; `name` selects one of `kernel_sets`, for tests.");
  m.def("tactics", &tactics, "Names of the tactics of the search, in their order.");
  m.def("criteria", &criterion_names, "Names of the core's own criteria of a cut.");
  m.def("give_criterion", &give_criterion_of_python, "name"_a, "values"_a, "gain"_a.none(),
        "Lets all engines know a criterion for as long as the process lives. values : (left (m, K), right (m, K)) -> "
        "(m,) float64, pure; gain : (value, totals (K,)) -> float, or None: the value itself. Any thread calls them.");
  m.def("impurity", &impurity, "of_class"_array, "criterion"_a,
        "Impurity of a node in units of the criterion: the gain of a cut that leaves pure sides only.");
  m.def("line_search", &line_search, "v"_array, "c"_array, "y"_array, "weights"_array.none(), "n_classes"_a,
        "criterion"_a, "exact"_a, "strict_ties"_a, "direct"_a,
        "Best step t of the hyperplanes v - t c <= 0: (t, value of the searched cut) or None.");
  m.def("bin_bounds", &bin_bounds, "counts"_array, "criterion"_a,
        "Upper bounds of a criterion's value over the cuts of each bin; counts (n_classes, n_bins) float64.");
  m.def("places_along", &places_along, "x"_array, "w"_array, "c"_a, "scale"_a, "shift"_a,
        "Places of the rows along x - c * w: (x - c * w) * scale + shift, rounded and cut off at 0 and 255.");
  m.def("count_places", &count_places, "places"_array, "sizes"_array, "bin_of"_array,
        "Rows of each class in bins up to each of 31 bins of 256 places, and one column more that means nothing; the "
        "classes have the given sizes and come one after the other.");
  m.def(
      "pick_rows", &picked_rows, "places"_array, "sizes"_array, "wanted"_array,
      "Rows whose place is wanted (256 numbers, 0 for no), class by class, and how many up to the end of each class.");
  m.def("least_above", &least_of_above, "places"_array, "place"_a, "x"_array, "w"_array, "c"_a,
        "Least x - c * w of the rows with places above a place; infinite if there is none.");
  m.def("count_below", &counted_below, "z"_array, "values"_array, "For each value how many z are less.");
  m.def("cut_value", &cut_value, "left"_array, "totals"_array, "criterion"_a,
        "Value and published gain of a cut with class weights `left` of `totals` on the left.");
}

}  // namespace oblique
