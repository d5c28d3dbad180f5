// Options as Python gives them. Included by the bindings only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <string>

#include "common/options.hpp"

namespace oblique {

inline std::map<std::string, OptionValue> option_values(const std::string& owner, const nanobind::dict& given) {
  namespace nb = nanobind;
  std::map<std::string, OptionValue> out;
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    std::int64_t whole = 0;
    double number = 0.0;
    if (nb::isinstance<nb::bool_>(value))
      out[name] = nb::cast<bool>(value);
    else if (nb::isinstance<nb::str>(value))
      out[name] = nb::cast<std::string>(value);
    else if (PyIndex_Check(value.ptr()) && nb::try_cast<std::int64_t>(value, whole))
      out[name] = whole;
    else if (PyNumber_Check(value.ptr()) && nb::try_cast<double>(value, number))
      out[name] = number;
    else
      throw nb::value_error(("option '" + name + "' of " + owner + " must be a number, a 64-bit whole number, True, " +
                             "False or a text. Got " + nb::cast<std::string>(nb::repr(value)))
                                .c_str());
  }
  return out;
}

}  // namespace oblique
