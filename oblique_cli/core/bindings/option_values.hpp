// Conversion of options from Python. Included by the bindings only.
#pragma once

#include <nanobind/nanobind.h>

#include "common/options.hpp"

namespace oblique {

inline std::map<std::string, OptionValue> option_values(const std::string& owner, const nanobind::dict& given);

// Reads pairs (family, options). Returns false if `value` is something else.
inline bool read_members(const nanobind::handle& value, std::vector<Member>& out) {
  namespace nb = nanobind;
  if (!nb::isinstance<nb::list>(value)) return false;
  for (const nb::handle& item : nb::cast<nb::list>(value)) {
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 2) return false;
    if (!nb::isinstance<nb::str>(item[0]) || !nb::isinstance<nb::dict>(item[1])) return false;
    const std::string family = nb::cast<std::string>(item[0]);
    out.push_back({family, option_values("family '" + family + "'", nb::cast<nb::dict>(item[1]))});
  }
  return true;
}

inline std::map<std::string, OptionValue> option_values(const std::string& owner, const nanobind::dict& given) {
  namespace nb = nanobind;
  std::map<std::string, OptionValue> out;
  for (const auto& [key, value] : given) {
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

}  // namespace oblique
