// NumPy arrays as arguments and results, work without the interpreter lock, and the functions that fill the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "heuristic/heuristic.hpp"
#include "tree/levels.hpp"
#include "tree/plane_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace oblique {

using Bind = void(nb::module_& m);
Bind bind_refinement, bind_search, bind_geometry, bind_growth, bind_tree, bind_forest, bind_hierarchy, bind_linear,
    bind_model_tree, bind_pathfinder, bind_scale, bind_shapley, bind_text;

// Runs the handlers of pending signals (only the main thread has any). Throws what a handler raises.
inline void serve_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

class Released {
 private:
  const nb::gil_scoped_release release_;
  const Interruptible interruptible_{serve_signals};
};

// Returns what `work` returns, which does not touch Python.
template <class Work>
auto without_lock(const Work& work) {
  const Released released;
  return work();
}

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = Rows<double>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array argument that is not converted; `_maybe`: one that may be None, which is its default.
inline auto operator""_array(const char* name, size_t) { return nb::arg(name).noconvert(); }
inline auto operator""_maybe(const char* name, size_t) { return operator""_array(name, 0).none() = nb::none(); }

// Moves a vector into a NumPy array without a copy.
template <class T>
nb::object array(std::vector<T>&& values, std::vector<size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}
template <class T>
nb::object array(std::vector<T>&& values) {
  const size_t n = values.size();
  return array(std::move(values), {n});
}

template <class Array>
auto data_of(const std::optional<Array>& values) {
  return values ? values->data() : nullptr;
}
template <class T = double, class Array>
std::vector<T> vector_of(const Array& values) {
  return {values.data(), values.data() + values.size()};
}

// The same member of every item.
template <class T, class Item>
nb::object column_of(const std::vector<Item>& items, T Item::*member) {
  std::vector<T> values;
  for (const Item& item : items) values.push_back(item.*member);
  return array(std::move(values));
}

// Returns the value of a limit, and replaces it by `value`, if given.
inline size_t exchanged(std::atomic<size_t>& limit, std::optional<size_t> value) {
  return value ? limit.exchange(*value) : limit.load();
}

inline void require(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}

template <class Array>
void check_finite(const Array& values, const char* message) {
  for (size_t i = 0; i < values.size(); ++i) require(std::isfinite(values.data()[i]), message);
}

inline void check_codes(const Codes& y, size_t n_classes) {
  for (size_t i = 0; i < y.shape(0); ++i)
    require(y(i) >= 0 && static_cast<size_t>(y(i)) < n_classes, "y must hold codes from 0 to n_classes - 1");
}

template <class T, class Y>
void check_lengths(const Rows<T>& x, const Y& y, const std::optional<Doubles>& weights) {
  require(y.shape(0) == x.shape(0), "X and y must have the same number of rows");
  require(x.shape(0) <= UINT32_MAX, "X must have fewer than 2^32 rows");  // rows are numbered in 32 bits
  require(!weights || weights->shape(0) == x.shape(0), "X and weights must have the same number of rows");
}

template <class T>
void check_rows(const Rows<T>& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes) {
  check_lengths(x, y, weights);
  check_codes(y, n_classes);
}

// Number of levels of each feature (0 for a quantitative feature); empty if `levels` is None.
inline Levels levels_of(const std::optional<Codes>& levels, size_t p) {
  require(!levels || levels->shape(0) == p, "levels must have one entry per feature");
  std::vector<int32_t> counts(p, 0);
  if (levels) counts.assign(levels->data(), levels->data() + p);
  for (const int32_t count : counts) require(count >= 0, "levels must not be negative");
  return Levels(std::move(counts));
}

// The monotone constraints on predictions, none if `signs` is None.
inline std::optional<Signs> signs_of(const std::optional<Codes>& signs, size_t p, size_t n_classes) {
  if (!signs) return std::nullopt;
  require(signs->shape(0) == p && n_classes == 2,
          "signs must have one entry per feature, and there must be two classes");
  for (size_t j = 0; j < p; ++j) require((*signs)(j) >= -1 && (*signs)(j) <= 1, "signs must be 1, -1 or 0");
  return Signs(signs->data(), signs->data() + p);
}

inline std::map<std::string, OptionValue> option_values(const std::string& owner, const nb::dict& params);

// Reads pairs (family, options). Returns false if `value` is something else.
inline bool read_members(const nb::handle& value, std::vector<Member>& out) {
  if (!nb::isinstance<nb::list>(value)) return false;
  for (const nb::handle& item : nb::cast<nb::list>(value)) {
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 2) return false;
    if (!nb::isinstance<nb::str>(item[0]) || !nb::isinstance<nb::dict>(item[1])) return false;
    const std::string family = nb::cast<std::string>(item[0]);
    out.push_back({family, option_values("family '" + family + "'", nb::cast<nb::dict>(item[1]))});
  }
  return true;
}

inline std::map<std::string, OptionValue> option_values(const std::string& owner, const nb::dict& params) {
  std::map<std::string, OptionValue> out;
  for (const auto& [key, value] : params) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    int64_t whole = 0;
    double number = 0.0;
    std::vector<Member> members;
    if (nb::isinstance<nb::bool_>(value))
      out[name] = nb::cast<bool>(value);
    else if (nb::isinstance<nb::str>(value))
      out[name] = nb::cast<std::string>(value);
    else if (PyIndex_Check(value.ptr()) && nb::try_cast<int64_t>(value, whole))
      out[name] = whole;
    else if (PyNumber_Check(value.ptr()) && nb::try_cast<double>(value, number))
      out[name] = number;
    else if (read_members(value, members))
      out[name] = std::move(members);
    else
      throw nb::value_error(("option '" + name + "' of " + owner + " must be a number, a 64-bit whole number, True, " +
                             "False, a text or a list of pairs of a family and its options. Got " +
                             nb::cast<std::string>(nb::repr(value)))
                                .c_str());
  }
  return out;
}

inline Options read_options(const Family& family, const std::vector<Option>& common, const nb::dict& params) {
  return options_of(family, common, option_values("family '" + family.name + "'", params));
}

// Calls visit(name, vector, shape) for the arrays of a tree.
template <class Visit>
void each_array(GrownTree& tree, size_t nodes, const Visit& visit) {
  using Shape = std::vector<size_t>;
  visit("left", tree.left, Shape{nodes});
  visit("right", tree.right, Shape{nodes});
  visit("weights", tree.weights, Shape{nodes, tree.n_features});
  visit("thresholds", tree.thresholds, Shape{nodes});
  visit("counts", tree.counts, Shape{nodes, tree.n_classes});
  visit("gains", tree.gains, Shape{nodes});
  visit("n_rows", tree.n_rows, Shape{nodes});
  visit("level_scores", tree.level_scores, Shape{nodes, tree.n_scores});
}

inline nb::dict arrays_of(GrownTree&& tree) {
  nb::dict out;
  each_array(tree, tree.size(),
             [&](const char* name, auto& values, const auto& shape) { out[name] = array(std::move(values), shape); });
  return out;
}

// The inverse of arrays_of, for these numbers of features, classes and scores; nb::value_error if arrays disagree.
inline GrownTree tree_of(const nb::dict& arrays, size_t n_features, size_t n_classes, size_t n_scores) {
  GrownTree tree(n_features, n_classes, n_scores);
  const size_t n = nb::len(nb::object(arrays["left"]));
  bool fits = n >= 1;
  each_array(tree, n, [&]<class T>(const char* name, std::vector<T>& into, const auto& shape) {
    const auto from = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(arrays[name], false);
    into.assign(from.data(), from.data() + from.size());
    fits = fits && from.size() == n * (shape.size() == 2 ? shape[1] : 1);
  });
  for (size_t node = 0; fits && node < n; ++node) {
    const int64_t l = tree.left[node], r = tree.right[node], parent = static_cast<int64_t>(node);
    fits = (l < 0 && r < 0) || (l > parent && r > parent && std::max(l, r) < static_cast<int64_t>(n));
  }
  require(fits, "arrays of a tree must have one entry per node, and children behind their parent");
  return tree;
}

}  // namespace oblique
