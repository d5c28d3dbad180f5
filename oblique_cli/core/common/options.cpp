#include "common/options.hpp"

namespace oblique {

namespace {

std::string shown(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const double* number = std::get_if<double>(&value)) return std::to_string(*number);
  if (std::holds_alternative<std::vector<Member>>(value)) return "a list of families";
  return "'" + std::get<std::string>(value) + "'";
}

bool fits(const Option& option, const OptionValue& value) {
  if (value.index() != static_cast<size_t>(option.kind)) return false;
  const std::string* text = std::get_if<std::string>(&value);
  return !text || std::find(option.choices.begin(), option.choices.end(), *text) != option.choices.end();
}

}  // namespace

Option number(const char* name) { return {name, Option::Kind::number, {}}; }
Option integer(const char* name) { return {name, Option::Kind::integer, {}}; }
Option flag(const char* name) { return {name, Option::Kind::flag, {}}; }
Option choice(const char* name, std::initializer_list<const char*> choices) {
  return {name, Option::Kind::choice, {choices.begin(), choices.end()}};
}
Option members(const char* name) { return {name, Option::Kind::members, {}}; }

std::string described(const Option& option) {
  constexpr const char* kinds[] = {"True or False", "a whole number", "a number", "one of ",
                                   "a list of families with their options"};
  std::string out = kinds[static_cast<size_t>(option.kind)];
  for (const std::string& each : option.choices) out += (out.back() == ' ' ? "'" : ", '") + each + "'";
  return out;
}

Options::Options(std::string owner, const std::vector<Option>& declared, std::map<std::string, OptionValue> values)
    : owner_(std::move(owner)), values_(std::move(values)) {
  std::string names;
  for (const Option& option : declared) names += (names.empty() ? "" : ", ") + option.name;
  for (const auto& [name, value] : values_) {
    const auto is_it = [&key = name](const Option& option) { return option.name == key; };
    if (std::none_of(declared.begin(), declared.end(), is_it))
      throw std::invalid_argument(owner_ + " has no option '" + name + "'; it takes " + names);
  }
  for (const Option& option : declared) {
    const auto entry = values_.find(option.name);
    if (entry == values_.end())
      throw std::invalid_argument(owner_ + " needs the option '" + option.name + "', " + described(option));
    OptionValue& value = entry->second;
    const int64_t* whole = std::get_if<int64_t>(&value);
    if (whole && option.kind == Option::Kind::number) value = static_cast<double>(*whole);
    if (!fits(option, value))
      throw std::invalid_argument("option '" + option.name + "' of " + owner_ + " must be " + described(option) +
                                  ". Got " + shown(value));
  }
}

template <class T>
const T& Options::value(const char* name) const {
  const auto entry = values_.find(name);
  const T* value = entry == values_.end() ? nullptr : std::get_if<T>(&entry->second);
  if (!value) throw std::invalid_argument(owner_ + " reads the option '" + name + "', which it does not declare so");
  return *value;
}

double Options::number(const char* name) const { return value<double>(name); }
int64_t Options::integer(const char* name) const { return value<int64_t>(name); }
size_t Options::count(const char* name) const {
  const int64_t value = integer(name);
  if (value < 0)
    throw std::invalid_argument(std::string("option '") + name + "' of " + owner_ + " must not be negative. Got " +
                                std::to_string(value));
  return static_cast<size_t>(value);
}
bool Options::flag(const char* name) const { return value<bool>(name); }
const std::string& Options::choice(const char* name) const { return value<std::string>(name); }
const std::vector<Member>& Options::members(const char* name) const { return value<std::vector<Member>>(name); }

std::map<std::string, OptionValue> Options::values_of(const std::vector<Option>& some) const {
  std::map<std::string, OptionValue> out;
  for (const Option& option : some) out.emplace(option.name, values_.at(option.name));
  return out;
}

}  // namespace oblique
