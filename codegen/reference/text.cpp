#include "codegen/print_limits.hpp"
#include "codegen/reference/support.hpp"

#include <algorithm>
#include <charconv>

namespace trilith::codegen::reference {
namespace {

std::string element(const Value& value, std::int64_t index) {
  if (value.dtype == DType::Bool) return value.get<bool>(index) ? "true" : "false";
  return visit_numeric(value.dtype, [&]<class T>() {
    char text[64];
    using Printed = std::conditional_t<pl::is_narrow_float<T>, float, T>;
    const Printed printed = value.get<T>(index);
    return std::string(text, std::to_chars(text, text + sizeof text, printed).ptr);
  });
}

/// "[1, 0] " before a row of a tile of rank 3 and more.
std::string row_prefix(const Shape& shape, std::int64_t row) {
  if (shape.size() < 3) return {};
  Shape index(shape.size() - 1);
  for (std::size_t i = index.size(); i-- > 0;) {
    index[i] = row % shape[i];
    row /= shape[i];
  }
  return text_of(index) + " ";
}

}  // namespace

std::string to_text(const Value& value) {
  std::string text(name_of(value.dtype));
  if (value.is_scalar) return text + " " + element(value, 0);
  text = "tile<" + text + ">" + text_of(value.shape);
  const std::int64_t columns = value.shape.empty() ? 1 : value.shape.back();
  const std::int64_t rows = columns == 0 ? 0 : value.size() / columns;
  for (std::int64_t row = 0; row < std::min(rows, most_printed_rows); ++row) {
    text += "\n  " + row_prefix(value.shape, row);
    for (std::int64_t column = 0; column < std::min(columns, most_printed_columns); ++column)
      text += (column == 0 ? "" : ", ") + element(value, row * columns + column);
    if (columns > most_printed_columns)
      text += ", ... " + std::to_string(columns - most_printed_columns) + " more";
  }
  if (rows > most_printed_rows) text += "\n  ... " + std::to_string(rows - most_printed_rows) + " more rows";
  return text;
}

}  // namespace trilith::codegen::reference
