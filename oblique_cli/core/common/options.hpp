// Options by name: the declared options of an algorithm of the core, and the values of a caller.
// The core has no defaults: a caller passes every declared option and no other, or an error names the first wrong one.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// A declared option. A choice is a text with a list of allowed values; members are families with options of their own.
struct Option {
  enum class Kind { flag, integer, number, choice, members };  // in the order of the types in OptionValue
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
using OptionValue = std::variant<bool, int64_t, double, std::string, std::vector<Member>>;

// A member of another family, with the values of its own options; the owner holds those that all families share.
struct Member {
  std::string family;
  std::map<std::string, OptionValue> options;
};

// The values of all options of one owner. Every function throws std::invalid_argument.
class Options {
 public:
  // owner : who takes the options, for messages: "family 'oc1'"
  Options(std::string owner, const std::vector<Option>& declared, std::map<std::string, OptionValue> values);

  double number(const char* name) const;
  int64_t integer(const char* name) const;
  size_t count(const char* name) const;  // a non-negative integer
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
