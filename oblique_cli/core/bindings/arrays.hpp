// NumPy arrays as arguments and results of the core. Included by the bindings only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "split/monotone.hpp"
#include "tree/levels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace oblique {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = Rows<double>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Moves a vector into a NumPy array without a copy.
template <class T>
nb::object array(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}

inline void require(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}

inline void check_codes(const Codes& y, std::size_t n_classes) {
  for (std::size_t i = 0; i < y.shape(0); ++i)
    require(y(i) >= 0 && static_cast<std::size_t>(y(i)) < n_classes, "y must hold codes from 0 to n_classes - 1");
}

template <class T>
void check_rows(const Rows<T>& x, const Codes& y, const std::optional<Doubles>& weights, std::size_t n_classes) {
  require(y.shape(0) == x.shape(0), "X and y must have the same number of rows");
  require(x.shape(0) <= UINT32_MAX, "X must have fewer than 2^32 rows");  // rows are numbered in 32 bits
  require(!weights || weights->shape(0) == x.shape(0), "X and weights must have the same number of rows");
  check_codes(y, n_classes);
}

// As check_codes, for rows whose target is a number.
inline void check_numbers(const Matrix& x, const Doubles& y, const std::optional<Doubles>& weights) {
  require(y.shape(0) == x.shape(0), "X and y must have the same number of rows");
  require(x.shape(0) <= UINT32_MAX, "X must have fewer than 2^32 rows");
  require(!weights || weights->shape(0) == x.shape(0), "X and weights must have the same number of rows");
}

// Number of levels of each feature (0 for a quantitative feature); empty if `levels` is None.
inline Levels levels_of(const std::optional<Codes>& levels, std::size_t p) {
  require(!levels || levels->shape(0) == p, "levels must have one entry per feature");
  std::vector<std::int32_t> counts(p, 0);
  if (levels) counts.assign(levels->data(), levels->data() + p);
  for (const std::int32_t count : counts) require(count >= 0, "levels must not be negative");
  return Levels(std::move(counts));
}

// The order that answers keep, none if `signs` is None.
inline std::optional<Signs> signs_of(const std::optional<Codes>& signs, std::size_t p, std::size_t n_classes) {
  if (!signs) return std::nullopt;
  require(signs->shape(0) == p && n_classes == 2,
          "signs must have one entry per feature, and there must be two classes");
  for (std::size_t j = 0; j < p; ++j) require((*signs)(j) >= -1 && (*signs)(j) <= 1, "signs must be 1, -1 or 0");
  return Signs(signs->data(), signs->data() + p);
}

}  // namespace oblique
