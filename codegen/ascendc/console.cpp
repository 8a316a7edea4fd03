// pl::print by AscendC::printf, in the simulator's words: a tile is read where it lies in device memory, row by row.
#include "codegen/ascendc/call.hpp"
#include "codegen/ascendc/index_functions.hpp"
#include "codegen/ascendc/lowering.hpp"
#include "codegen/print_limits.hpp"

#include <algorithm>
#include <span>

namespace trilith::codegen::ascendc {
namespace {

constexpr const char* print_element = R"(
/// %f, %d and %u take elements as they are.
__aicore__ inline void PrintElement(float value) { AscendC::printf("%f", value); }
__aicore__ inline void PrintElement(int64_t value) { AscendC::printf("%d", value); }
__aicore__ inline void PrintElement(uint64_t value) { AscendC::printf("%u", value); }
__aicore__ inline void PrintElement(bool value) {
  if (value) {
    AscendC::printf("true");
  } else {
    AscendC::printf("false");
  }
}
)";

constexpr const char* print_row = R"(
/// The first `shown` elements of a row, as numbers of type Number.
template <typename T, typename Number, typename Moved>
__aicore__ inline void PrintRow(const AscendC::GlobalTensor<Moved>& from, const AscendC::LocalTensor<Moved>& line,
                                int64_t shown, int64_t hidden) {
  LoadLine(line, from, shown);
  const auto elements = line.template ReinterpretCast<T>();
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0) AscendC::printf(", ");
    PrintElement(static_cast<Number>(elements.GetValue(i)));
  }
  if (hidden > 0) AscendC::printf(", ... %d more", hidden);
}
)";

/// What elements are printed as.
std::string number_type(DType dtype) {
  if (is_floating(dtype)) return "float";
  if (dtype == DType::Bool) return "bool";
  return is_signed_integer(dtype) ? "int64_t" : "uint64_t";
}

std::string number(std::int64_t value) { return std::to_string(value); }

/// `numbers`: for the text's %d, a comma in front of each.
std::string say(const std::string& text, const std::string& numbers = "") {
  return "AscendC::printf(\"" + text + "\"" + numbers + ");\n";
}

/// As an operand of any operator.
std::string factor(const Extent& extent) {
  return extent.is_constant() ? extent.text() : "(" + extent.text() + ")";
}

Extent at_most(const Extent& extent, std::int64_t limit) {
  if (extent.is_constant()) return std::min(extent.most, limit);
  return {std::min(extent.most, limit),
          "(" + extent.text() + " < " + number(limit) + " ? " + extent.text() + " : " + number(limit) + ")"};
}

/// A row of a tile: its position along each leading axis, and where it begins.
struct RowPosition {
  std::vector<std::string> index;
  Address at;
};

RowPosition position_of(const View& view, const std::string& row) {
  RowPosition position{{}, view.at};
  Extent inner(1);
  const std::size_t axes = view.extents.empty() ? 0 : view.extents.size() - 1;
  position.index.resize(axes);
  for (std::size_t axis = axes; axis-- > 0; inner = inner.times(view.extents[axis])) {
    std::string& index = position.index[axis];
    index = inner.is(1) ? row : row + " / " + factor(inner);
    if (axis > 0) index += " % " + factor(view.extents[axis]);
    position.at.add(view.strides[axis], index);
  }
  return position;
}

/// How many rows there are of at least one element.
Extent rows_of(const View& view) {
  if (view.extents.empty()) return 1;
  const Extent& columns = view.extents.back();
  if (columns.is(0)) return 0;
  const Extent rows = product_of(std::span(view.extents).first(view.extents.size() - 1));
  if (columns.is_constant()) return rows;
  return {rows.most, "(" + columns.text() + " > 0 ? " + factor(rows) + " : 0)"};
}

}  // namespace

void Context::print(const Statement& statement) {
  location = statement.location;
  comment(statement);
  prints = true;
  const Expr& operand = statement.value.operands[0];
  const DType dtype = operand.type.dtype;
  if (const std::string reason = refusal(Op::Print, dtype); !reason.empty())
    refuse("print", dtype, reason, statement.location);
  function("PrintElement", print_element);
  const std::string word(name_of(dtype));
  if (!operand.type.is_tile())
    return line(Pipe::None, say(word + " ") + "PrintElement(static_cast<" + number_type(dtype) + ">(" +
                                scalar(operand) + "));\n" + "AscendC::printf(\"\\n\");");
  TileCall call{*this, statement, statement.value, {}};
  View view = call.operand(0);
  const bool is_dense = view.extents.empty() || view.extents.back().is(1) || view.strides.back().is(1);
  if (!is_dense) view = dense(call, view, true);
  const Extent columns = view.extents.empty() ? Extent(1) : view.extents.back(), rows = rows_of(view);
  const Extent shown = at_most(columns, most_printed_columns), printed = at_most(rows, most_printed_rows);
  std::string shape, numbers;
  for (const Extent& extent : view.extents) {
    shape += (shape.empty() ? "" : ", ") + (extent.is_constant() ? extent.text() : "%d");
    if (!extent.is_constant()) numbers += ", " + extent.text();
  }
  std::string text = say("tile<" + word + ">[" + shape + "]", numbers);
  std::vector<Touch> touches{{view.object, false}};
  if (!rows.is(0)) {
    function("Line", functions::line);
    function("PrintRow", print_row);
    const ObjectId buffer = scratch(round_up(shown.most * bytes_of(dtype), 32));
    touches.push_back({buffer, true});
    const std::string row = names.fresh("row");
    const RowPosition position = position_of(view, row);
    std::string before = "\\n  ", arguments;
    if (position.index.size() > 1) {
      for (const std::string& index : position.index) {
        before += arguments.empty() ? "[%d" : ", %d";
        arguments += ", " + index;
      }
      before += "] ";
    }
    view.at = position.at;
    const std::string moved = type_name(stored_as(dtype));
    const std::string stored = type_name(dtype == DType::Bool ? DType::UInt8 : dtype);
    text +=
        "for (int64_t " + row + " = 0; " + row + " < " + printed.text() + "; ++" + row + ") {\n  " +
        say(before, arguments) + "  PrintRow<" + stored + ", " + number_type(dtype) + ">(" + text_of(view) +
        ", " + Context::name(buffer) + ".ReinterpretCast<" + moved + ">(), " + shown.text() + ", " +
        (columns.is_constant() ? number(columns.most - shown.most) : columns.text() + " - " + shown.text()) +
        ");\n}\n";
  }
  if (rows.is_constant()) {
    if (rows.most > most_printed_rows)
      text += say("\\n  ... " + number(rows.most - most_printed_rows) + " more rows");
  } else {
    text += "if (" + rows.text() + " > " + number(most_printed_rows) + ") " +
            say("\\n  ... %d more rows", ", " + rows.text() + " - " + number(most_printed_rows));
  }
  Context::call(text + say("\\n") + "AscendC::PipeBarrier<PIPE_ALL>();", std::move(touches));
  takes({{Work::Unit::Scalar, printed.most * shown.most},
         {Work::Unit::MoveIn, printed.most * round_up(shown.most * bytes_of(dtype), 32)}});
}

}  // namespace trilith::codegen::ascendc
