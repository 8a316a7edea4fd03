// Operands with fewer rows or columns than the result. A column vector per row is spread to one block of 32 bytes a row
// (Brcb), of which every repeat then reads the same block; a row vector for all rows is read again by every repeat.
#include "codegen/ascendc/vector.hpp"
#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

/// Repeats walk the rows, so a line works on as many columns as a repeat has: lines for all columns.
struct Columns {
  std::int64_t per_line, whole, rest;
};
Columns columns_of(const Block& block, DType dtype) {
  const std::int64_t per = per_repeat(dtype), all = block.max_columns;
  return {per, all / per, all % per};
}

std::string braces(std::initializer_list<std::int64_t> numbers) {
  std::string text = "{";
  for (const std::int64_t number : numbers) text += (text.size() == 1 ? "" : ", ") + std::to_string(number);
  return text + "}";
}

}  // namespace

Tile Vector::expand(const Tile& a, bool rows, bool columns) {
  if (a.rows == rows && a.columns == columns) return a;
  if (!a.rows && !a.columns) return duplicate(a.dtype, read(a), rows, columns);
  if (!(rows && columns)) throw pl::InternalError("AscendC emitter: a tile cannot lose an axis");
  if (bytes_of(a.dtype) == 8) {
    const Tile result = fresh(a.dtype, true, true);
    by_element(result, {{.tile = a}}, [](const std::vector<std::string>& elements) { return elements[0]; });
    return result;
  }
  // Times one keeps every value; bits of whatever else are moved by `x | x`.
  const bool computes = a.dtype == DType::Float16 || a.dtype == DType::Float32 || a.dtype == DType::Int32;
  if (!computes) throw pl::InternalError("AscendC emitter: elements that cannot be spread");
  return broadcast("Muls", a, {-1, a.dtype, true, true});
}

Tile Vector::broadcast(const char* operation, const Tile& a, const Tile& b) {
  const bool alone = b.object < 0;  // Muls: the first operand by one, spread
  if (!alone && is_one(a)) return binary(operation, expand(a, b.rows, b.columns), b);
  if (!alone && is_one(b)) return binary(operation, a, expand(b, a.rows, a.columns));
  const bool rows = a.rows || b.rows, columns = a.columns || b.columns;
  const auto full = [&](const Tile& tile) { return tile.rows == rows && tile.columns == columns; };
  if (!alone && !full(a) && !full(b)) return binary(operation, expand(a, rows, columns), b);

  const std::int64_t block = per_block(a.dtype), pitch = block_.pitch / block;
  struct Side {
    std::string text;
    Touch touch;
    std::int64_t in_row, between;  // strides in blocks
    bool moves;                    // along the columns
  };
  const auto side = [&](const Tile& tile) -> Side {
    if (full(tile)) return {text(tile), reads(tile), 1, pitch, true};
    if (tile.columns) return {text(tile), reads(tile), 1, 0, true};
    const Tile blocks = fresh_bytes(tile.dtype, round_up(block_.max_rows, 8) * 32);
    const Amount groups = block_.rows;
    const std::string repeat =
        groups.is_constant() ? std::to_string((groups.factor + 7) / 8) : "(" + groups.text() + " + 7) / 8";
    c.line(Pipe::Vector,
           "AscendC::Brcb(" + text(blocks) + ", " + text(tile) + ", " + repeat +
               ", AscendC::BrcbRepeatParams{1, 8});",
           {{blocks.object, true}, {tile.object, false}});
    c.takes({{Work::Unit::Vector, (block_.max_rows + 7) / 8}});
    return {text(blocks), {blocks.object, false}, 0, 1, false};
  };
  const Side first = side(a);
  const Side second = alone ? first : side(b);
  const Tile result = fresh(a.dtype, rows, columns);
  const Columns lines = columns_of(block_, a.dtype);
  const auto call = [&](const std::string& at, const std::string& mask) {
    const auto offset = [&](const std::string& text, bool moves) {
      return moves && !at.empty() ? text + "[" + at + "]" : text;
    };
    std::string text = std::string("AscendC::") + operation + "(" + offset(this->text(result), true) + ", " +
                       offset(first.text, first.moves) + ", ";
    text += alone ? "static_cast<" + type_name(a.dtype) + ">(1)" : offset(second.text, second.moves);
    text += ", " + mask + ", " + block_.rows.text() +
            ", AscendC::" + (alone ? "UnaryRepeatParams" : "BinaryRepeatParams");
    text += alone ? braces({1, first.in_row, pitch, first.between})
                  : braces({1, first.in_row, second.in_row, pitch, first.between, second.between});
    return text + ");";
  };
  const std::string per = std::to_string(lines.per_line), end = std::to_string(lines.whole * lines.per_line);
  std::string text;
  if (block_.is_ragged()) {
    const std::string all = block_.columns.text(), rest = all + " - j";
    text = block_.max_columns <= lines.per_line
               ? call("", all)
               : "for (int32_t j = 0; j < " + all + "; j += " + per + ") " +
                     call("j", rest + " < " + per + " ? " + rest + " : " + per);
  } else {
    if (lines.whole == 1) text = call("", per);
    if (lines.whole > 1) text = "for (int32_t j = 0; j < " + end + "; j += " + per + ") " + call("j", per);
    if (lines.rest > 0)
      text += (text.empty() ? "" : "\n") + call(lines.whole == 0 ? "" : end, std::to_string(lines.rest));
  }
  std::vector<Touch> touches{writes(result), first.touch};
  if (!alone) touches.push_back(second.touch);
  c.line(Pipe::Vector, text, std::move(touches));
  takes_rows(lines.whole + (lines.rest > 0 ? 1 : 0));
  return result;
}

}  // namespace trilith::codegen::ascendc
