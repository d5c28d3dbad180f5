// Options by name: what an algorithm of the core takes, and the values a caller gives.
//
// The core has no defaults. Whoever calls it gives every option that is declared and no other; the first thing wrong is
// one sentence that names the owner and the option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace oblique {

// An option as it is declared. A choice is a text with a list of what it may be.
struct Option {
  enum class Kind { number, integer, flag, choice };
  std::string name;
  Kind kind;
  std::vector<std::string> choices;
};

Option number(std::string name);
Option integer(std::string name);
Option flag(std::string name);
Option choice(std::string name, std::vector<std::string> choices);

// "a number", "a whole number", "true or false", "one of 'a', 'b'".
std::string described(const Option& option);

using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

// The values of all options of one owner. Everything here throws std::invalid_argument.
class Options {
 public:
  // owner : who takes the options, as it stands in messages: "family 'oc1'"
  Options(std::string owner, const std::vector<Option>& declared, std::map<std::string, OptionValue> given);

  double number(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  std::size_t count(const std::string& name) const;  // an integer that may not be negative
  bool flag(const std::string& name) const;
  const std::string& choice(const std::string& name) const;

 private:
  template <class T>
  const T& value(const std::string& name) const;

  std::string owner_;
  std::map<std::string, OptionValue> values_;
};

}  // namespace oblique
