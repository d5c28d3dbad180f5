// Options by name: what an algorithm of the core takes, and the values a caller gives.
//
// The core has no defaults. Whoever calls it gives every option that is declared and no other; the first thing wrong is
// one sentence that names the owner and the option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace oblique {

// An option as it is declared. A choice is a text with a list of what it may be; members are families with options of
// their own.
struct Option {
  enum class Kind { number, integer, flag, choice, members };
  std::string name;
  Kind kind;
  std::vector<std::string> choices;
};

Option number(const char* name);
Option integer(const char* name);
Option flag(const char* name);
Option choice(const char* name, std::initializer_list<const char*> choices);
Option members(const char* name);

// "a number", "a whole number", "true or false", "one of 'a', 'b'".
std::string described(const Option& option);

struct Member;
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<Member>>;

// A family that belongs to another one, and the values of its own options. What all families take it has from its
// owner.
struct Member {
  std::string family;
  std::map<std::string, OptionValue> options;
};

// The values of all options of one owner. Everything here throws std::invalid_argument.
class Options {
 public:
  // owner : who takes the options, as it stands in messages: "family 'oc1'"
  Options(std::string owner, const std::vector<Option>& declared, std::map<std::string, OptionValue> values);

  double number(const char* name) const;
  std::int64_t integer(const char* name) const;
  std::size_t count(const char* name) const;  // an integer that may not be negative
  bool flag(const char* name) const;
  const std::string& choice(const char* name) const;
  const std::vector<Member>& members(const char* name) const;

  // The values of some of the options.
  std::map<std::string, OptionValue> values_of(const std::vector<Option>& some) const;

 private:
  template <class T>
  const T& value(const char* name) const;

  std::string owner_;
  std::map<std::string, OptionValue> values_;
};

}  // namespace oblique
