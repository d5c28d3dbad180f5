// Python bindings of the reader of plain rows.
#include "common/plain_rows.hpp"

#include "bindings/bindings.hpp"

namespace oblique {
namespace {

nb::object text_of(std::string_view text) {
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made).attr("strip")();
}

nb::object cells_of(NumberColumn&& column) {
  nb::dict others;
  for (const auto& [text, rows] : column.others) {
    const nb::object cell = text_of(text);
    others[cell] = rows + (others.contains(cell) ? nb::cast<size_t>(others[cell]) : 0);
  }
  return nb::make_tuple(array(std::move(column.values)), others, column.integral, column.canonical, column.pointed);
}

nb::object cells_of(const TextColumn& column) {
  std::vector<nb::object> texts;
  for (const std::string_view text : column.texts) texts.push_back(text_of(text));
  PyObject* cells = PyList_New(static_cast<Py_ssize_t>(column.places.size()));
  if (cells == nullptr) throw nb::python_error();
  for (size_t i = 0; i < column.places.size(); ++i)
    PyList_SetItem(cells, static_cast<Py_ssize_t>(i), nb::object(texts[column.places[i]]).release().ptr());
  return nb::steal(cells);
}

nb::object plain_rows(const nb::bytes& lines, const std::string& delimiter, const std::string& decimal,
                      const std::string& kinds) {
  require(delimiter.size() == 1 && decimal.size() == 1, "a delimiter and a decimal mark are one byte");
  std::vector<PlainColumn> columns;
  for (const char kind : kinds) {
    columns.emplace_back();
    if (kind == 'n') columns.back().emplace<NumberColumn>();
    if (kind == 't') columns.back().emplace<TextColumn>();
  }
  const std::string_view text(lines.c_str(), lines.size());
  if (!without_lock([&]() { return add_rows(text, delimiter[0], decimal[0], columns); })) return nb::none();
  nb::list out;
  for (PlainColumn& column : columns) {
    if (auto* numbers = std::get_if<NumberColumn>(&column))
      out.append(cells_of(std::move(*numbers)));
    else if (auto* texts = std::get_if<TextColumn>(&column))
      out.append(cells_of(*texts));
    else
      out.append(nb::tuple());
  }
  return out;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("plain_rows", &plain_rows, "lines"_a, "delimiter"_a, "decimal"_a, "kinds"_a,
        "Columns of whole lines of UTF-8 text, None unless all are rows of plain cells (core/common/plain_rows.hpp). "
        "kinds : of each column, n for numbers: (values, other cells with their rows, integral, canonical, pointed); t "
        "for the list of texts; - for ().");
}

}  // namespace oblique
