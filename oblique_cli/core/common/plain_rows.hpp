// Cells of a delimited text by column: numbers, and the different texts of all other cells.
#pragma once

#include <charconv>
#include <string_view>
#include <unordered_map>

#include "common/standard.hpp"

namespace oblique {

// Returns the end of the decimal number that a text begins with, nullptr if there is none or it is not finite; `value`
// is then that of Python's float().
inline const char* number_end(const char* first, const char* last, double& value) {
  static constexpr std::array<double, 16> kPowers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool minus = first < last && *first == '-';
  if (first < last && (minus || *first == '+')) ++first;
  uint64_t digits = 0;
  const char* at = first;
  const char* point = nullptr;
  for (; at < last; ++at) {
    if (*at >= '0' && *at <= '9')
      digits = 10 * digits + static_cast<uint64_t>(*at - '0');
    else if (*at == '.' && point == nullptr)
      point = at;
    else
      break;
  }
  const auto n = at - first - (point != nullptr);
  if (n == 0) return nullptr;
  if (n <= 15 && (at == last || (*at != 'e' && *at != 'E'))) {  // one rounding of a quotient of exact numbers
    value = static_cast<double>(digits) / kPowers[point == nullptr ? 0 : static_cast<size_t>(at - point - 1)];
  } else {
#ifdef __cpp_lib_to_chars
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc()) return nullptr;
    at = end;
#else
    return nullptr;  // the standard library cannot parse such numbers
#endif
  }
  if (minus) value = -value;
  return at;
}

inline bool is_number(std::string_view cell, char decimal, double& value) {
  std::string with_point;
  if (decimal != '.') {
    if (cell.find('.') != cell.npos) return false;
    with_point = cell;
    std::replace(with_point.begin(), with_point.end(), decimal, '.');
    cell = with_point;
  }
  return !cell.empty() && number_end(cell.data(), cell.data() + cell.size(), value) == cell.data() + cell.size();
}

// A column of numbers: NaN for other cells, whose texts and rows are counted.
struct NumberColumn {
  static constexpr size_t kMostOthers = 16;

  std::vector<double> values;
  std::unordered_map<std::string, size_t> others;
  bool integral = true;   // all numbers are integers,
  bool canonical = true;  // spelled as Python spells them, below 10^15
  bool pointed = false;   // some number has a point that cannot be a separator of thousands

  void add(std::string_view cell, double value) {
    describe(cell);
    values.push_back(value);
  }

  // Returns false if the column has too many different other cells.
  bool add(std::string_view cell, char decimal) {
    double value = 0.0;
    if (is_number(cell, decimal, value)) {
      add(cell, value);
      return true;
    }
    ++others[std::string(cell)];
    values.push_back(std::numeric_limits<double>::quiet_NaN());
    return others.size() <= kMostOthers;
  }

 private:
  void describe(std::string_view cell) {
    const std::string_view number = cell.substr(cell[0] == '-' || cell[0] == '+');
    if (integral) {
      integral = number.find_first_not_of("0123456789") == number.npos;
      canonical = canonical && cell[0] != '+' && number.size() <= 15 && (number[0] != '0' || cell == "0");
    }
    const size_t point = pointed ? number.npos : number.find('.');
    if (point == number.npos) return;
    const std::string_view behind = number.substr(point + 1);
    pointed = point < 1 || point > 3 || number[0] == '0' || behind.size() != 3 ||
              behind.find_first_not_of("0123456789") != behind.npos;
  }
};

// A column of texts: its different texts in the order they appear, and the place of each cell's text among them.
struct TextColumn {
  std::vector<std::string_view> texts;
  std::vector<uint32_t> places;

  void add(std::string_view cell) {
    const auto [known, is_new] = place_of_.try_emplace(cell, static_cast<uint32_t>(texts.size()));
    if (is_new) texts.push_back(cell);
    places.push_back(known->second);
  }

 private:
  std::unordered_map<std::string_view, uint32_t> place_of_;
};

using PlainColumn = std::variant<std::monostate, NumberColumn, TextColumn>;  // the first is passed over

// Adds the cells of whole lines to their columns. Returns false if a line is blank or has another number of cells, if a
// quoted cell has a quote or a line end, if a cell is longer than Python's csv module takes, or if a column of numbers
// has too many other cells.
inline bool add_rows(std::string_view lines, char delimiter, char decimal, std::vector<PlainColumn>& columns) {
  constexpr size_t kLongestCell = 131072;
  const char* at = lines.data();
  const char* const end = at + lines.size();
  const auto is_line_end = [end](const char* c) { return *c == '\n' || (*c == '\r' && c + 1 < end && c[1] == '\n'); };
  while (at < end) {
    if (is_line_end(at)) return false;
    for (size_t j = 0; j < columns.size(); ++j) {
      while (at < end && *at == ' ') ++at;
      const bool is_last = j + 1 == columns.size();
      auto* numbers = std::get_if<NumberColumn>(&columns[j]);
      double value = 0.0;
      const char* stop = numbers && decimal == '.' ? number_end(at, end, value) : nullptr;
      if (stop != nullptr && stop < end && *stop == (is_last ? '\n' : delimiter)) {  // most cells
        numbers->add({at, static_cast<size_t>(stop - at)}, value);
        at = stop + 1;
        continue;
      }
      const bool quoted = at < end && *at == '"';
      const char* first = at += quoted;
      while (at < end && *at != '"' && *at != '\n' && *at != '\r' && (quoted || *at != delimiter)) ++at;
      const char* last = at;
      if (quoted ? (at == end || *at++ != '"') : (at < end && *at == '"')) return false;
      if (at < end && !(is_last ? is_line_end(at) : *at == delimiter)) return false;
      if (at == end && !is_last) return false;
      at += at < end ? (*at == '\r' ? 2 : 1) : 0;
      while (first < last && (*first == ' ' || *first == '\t')) ++first;
      while (first < last && (last[-1] == ' ' || last[-1] == '\t')) --last;
      const std::string_view cell(first, static_cast<size_t>(last - first));
      if (cell.size() > kLongestCell) return false;
      if (numbers != nullptr) {
        if (!numbers->add(cell, decimal)) return false;
      } else if (auto* texts = std::get_if<TextColumn>(&columns[j])) {
        texts->add(cell);
      }
    }
  }
  return true;
}

}  // namespace oblique
