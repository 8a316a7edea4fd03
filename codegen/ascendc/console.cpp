// pl::print by AscendC::printf, in the simulator's words: a tile is read where it lies in device memory, row by row.
#include "codegen/ascendc/call.hpp"
#include "codegen/ascendc/index_functions.hpp"
#include "codegen/ascendc/lowering.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

// As codegen/reference/text.cpp has them.
constexpr std::int64_t most_rows = 16, most_columns = 64;

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

std::string say(const std::string& text) { return "AscendC::printf(\"" + text + "\");\n"; }

/// A row of a tile: its position along each leading axis, and where it begins.
struct RowPosition {
  std::vector<std::string> index;
  Address at;
};

RowPosition position_of(const View& view, const std::string& row) {
  RowPosition position{{}, view.at};
  std::int64_t inner = 1;
  const std::size_t axes = view.extents.empty() ? 0 : view.extents.size() - 1;
  position.index.resize(axes);
  for (std::size_t axis = axes; axis-- > 0; inner *= view.extents[axis]) {
    std::string& index = position.index[axis];
    index = inner == 1 ? row : row + " / " + number(inner);
    if (axis > 0) index += " % " + number(view.extents[axis]);
    position.at.add(Amount{view.strides[axis]}, index);
  }
  return position;
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
  const bool is_dense = view.extents.empty() || view.extents.back() == 1 || view.strides.back() == 1;
  if (!is_dense) view = dense(call, view, true);
  const std::int64_t columns = view.extents.empty() ? 1 : view.extents.back();
  const std::int64_t rows = columns == 0 ? 0 : view.size() / columns;
  std::string shape;
  for (const std::int64_t extent : view.extents) shape += (shape.empty() ? "" : ", ") + number(extent);
  std::string text = say("tile<" + word + ">[" + shape + "]");
  std::vector<Touch> touches{{view.object, false}};
  const std::int64_t shown = std::min(columns, most_columns);
  if (rows > 0) {
    function("Line", functions::line);
    function("PrintRow", print_row);
    const ObjectId buffer = scratch(round_up(shown * bytes_of(dtype), 32));
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
    text += "for (int64_t " + row + " = 0; " + row + " < " + number(std::min(rows, most_rows)) + "; ++" +
            row + ") {\n  AscendC::printf(\"" + before + "\"" + arguments + ");\n  PrintRow<" + stored +
            ", " + number_type(dtype) + ">(" + text_of(view) + ", " + Context::name(buffer) +
            ".ReinterpretCast<" + moved + ">(), " + number(shown) + ", " + number(columns - shown) +
            ");\n}\n";
  }
  if (rows > most_rows) text += say("\\n  ... " + number(rows - most_rows) + " more rows");
  Context::call(text + "AscendC::printf(\"\\n\");\nAscendC::PipeBarrier<PIPE_ALL>();", std::move(touches));
  const std::int64_t printed = std::min(rows, most_rows);
  takes({{Work::Unit::Scalar, printed * shown},
         {Work::Unit::MoveIn, printed * round_up(shown * bytes_of(dtype), 32)}});
}

}  // namespace trilith::codegen::ascendc
