#include "codegen/ascendc/vector.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

std::string quoted_mode(const char* mode) { return std::string("AscendC::RoundMode::CAST_") + mode; }

}  // namespace

std::string Vector::text(const Tile& tile) const {
  const std::string name = tile.at.of(Context::name(tile.object));
  if (c.program.objects[tile.object].dtype == tile.dtype) return name;
  return name + ".ReinterpretCast<" + type_name(tile.dtype) + ">()";
}

Amount Vector::count(bool rows, bool columns) const {
  if (rows && columns) {
    if (block_.rows.is(1)) return block_.columns;
    return block_.rows.times(block_.pitch);
  }
  if (rows) return block_.rows;
  return columns ? block_.columns : Amount{1};
}

std::int64_t Vector::capacity(bool rows, bool columns) const {
  std::int64_t elements = 1;
  if (rows && columns)
    elements = block_.max_rows == 1 ? block_.max_columns : block_.max_rows * block_.pitch;
  else if (rows)
    elements = block_.max_rows;
  else if (columns)
    elements = block_.max_columns;
  return elements;
}

Touch Vector::touch(const Tile& tile, bool writes) const {
  if (!tile.at.is_constant()) return {tile.object, writes};
  const std::int64_t size = bytes_of(tile.dtype), begin = tile.at.constant * size;
  return {tile.object, writes, begin, begin + round_up(capacity(tile.rows, tile.columns) * size, 32)};
}

void Vector::takes_bytes(std::int64_t bytes) { c.takes({{Work::Unit::Vector, (bytes + 255) / 256}}); }

void Vector::takes(const Tile& tile) {
  takes_bytes(capacity(tile.rows, tile.columns) * bytes_of(tile.dtype));
}

Tile Vector::fresh_bytes(DType dtype, std::int64_t bytes) {
  // Whole repeats: a comparison works on no less.
  const ObjectId object =
      c.add_object({.kind = Object::Kind::Calc, .dtype = dtype, .bytes = round_up(bytes, 256)});
  Node node{.kind = Node::Kind::Declare, .object = object, .location = c.location};
  c.program.nodes.push_back(std::move(node));
  return {object, dtype, false, false};
}

Tile Vector::fresh(DType dtype, bool rows, bool columns) {
  Tile tile = fresh_bytes(dtype, capacity(rows, columns) * bytes_of(dtype));
  tile.rows = rows;
  tile.columns = columns;
  return tile;
}

Tile Vector::unary(const char* operation, const Tile& a) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  c.line(Pipe::Vector,
         std::string("AscendC::") + operation + "(" + text(result) + ", " + text(a) + ", " + count(a).text() +
             ");",
         {writes(result), reads(a)}, true);
  takes(a);
  return result;
}

Tile Vector::with_scalar(const char* operation, const Tile& a, const std::string& scalar) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  c.line(Pipe::Vector,
         std::string("AscendC::") + operation + "(" + text(result) + ", " + text(a) + ", " + scalar + ", " +
             count(a).text() + ");",
         {writes(result), reads(a)}, true);
  takes(a);
  return result;
}

Tile Vector::binary(const char* operation, const Tile& a, const Tile& b) {
  if (a.dtype != b.dtype) throw pl::InternalError("AscendC emitter: operands of two dtypes");
  if (!a.same_axes(b)) return broadcast(operation, a, b);
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  c.line(Pipe::Vector,
         std::string("AscendC::") + operation + "(" + text(result) + ", " + text(a) + ", " + text(b) + ", " +
             count(a).text() + ");",
         {writes(result), reads(a), reads(b)}, true);
  takes(a);
  return result;
}

Tile Vector::cast(const Tile& a, DType to, const char* mode) {
  const Tile result = fresh(to, a.rows, a.columns);
  c.line(Pipe::Vector,
         "AscendC::Cast(" + text(result) + ", " + text(a) + ", " + quoted_mode(mode) + ", " +
             count(a).text() + ");",
         {writes(result), reads(a)}, a.dtype == to);
  takes(bytes_of(to) > bytes_of(a.dtype) ? result : a);
  return result;
}

Tile Vector::duplicate(DType dtype, const std::string& scalar, bool rows, bool columns) {
  const Tile result = fresh(dtype, rows, columns);
  if (bytes_of(dtype) == 8) {
    const std::string i = c.names.fresh("i");
    c.line(Pipe::Scalar,
           "for (int32_t " + i + " = 0; " + i + " < " + count(rows, columns).text() + "; ++" + i + ") " +
               text(result) + ".SetValue(" + i + ", " + scalar + ");",
           {writes(result)});
    c.takes({{Work::Unit::Scalar, capacity(rows, columns)}});
    return result;
  }
  c.line(Pipe::Vector,
         "AscendC::Duplicate(" + text(result) + ", " + scalar + ", " + count(rows, columns).text() + ");",
         {writes(result)});
  takes(result);
  return result;
}

namespace {

/// The tile as 16-bit integers, and how many a count of its elements is.
std::string halves(const std::string& tile, DType dtype) {
  return dtype == DType::Int16 ? tile : tile + ".ReinterpretCast<int16_t>()";
}

}  // namespace

Tile Vector::bitwise(const char* operation, const Tile& a, const Tile& b) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  const Amount halfwords = count(a).times(bytes_of(a.dtype) / 2);
  c.line(Pipe::Vector,
         std::string("AscendC::") + operation + "(" + halves(text(result), a.dtype) + ", " +
             halves(text(a), a.dtype) + ", " + halves(text(b), b.dtype) + ", " + halfwords.text() + ");",
         {writes(result), reads(a), reads(b)}, true);
  takes(a);
  return result;
}

Tile Vector::bitwise_not(const Tile& a) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  const Amount halfwords = count(a).times(bytes_of(a.dtype) / 2);
  c.line(Pipe::Vector,
         "AscendC::Not(" + halves(text(result), a.dtype) + ", " + halves(text(a), a.dtype) + ", " +
             halfwords.text() + ");",
         {writes(result), reads(a)}, true);
  takes(a);
  return result;
}

Tile Vector::shift(bool left, const Tile& a, const std::string& amount, bool logical) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  const std::string cast = logical ? ".ReinterpretCast<uint32_t>()" : "";
  c.line(Pipe::Vector,
         std::string(left ? "AscendC::ShiftLeft(" : "AscendC::ShiftRight(") + text(result) + cast + ", " +
             text(a) + cast + ", static_cast<" + (logical ? "uint32_t" : "int32_t") + ">(" + amount + "), " +
             count(a).text() + ");",
         {writes(result), reads(a)}, true);
  takes(a);
  return result;
}

namespace {

/// Comparisons work on whole repeats; buffers have room for them.
std::string repeats(std::int64_t capacity, DType dtype) {
  return std::to_string(round_up(capacity, per_repeat(dtype)));
}

}  // namespace

Mask Vector::compare(const char* mode, const Tile& a, const Tile& b) {
  const std::int64_t capacity = this->capacity(a.rows, a.columns);
  const Tile bits = fresh_bytes(DType::UInt8, round_up(capacity, per_repeat(a.dtype)) / 8);
  c.line(Pipe::Vector,
         "AscendC::Compare(" + text(bits) + ", " + text(a) + ", " + text(b) + ", AscendC::CMPMODE::" + mode +
             ", " + repeats(capacity, a.dtype) + ");",
         {{bits.object, true}, {a.object, false}, {b.object, false}});
  takes(a);
  return {bits.object, a.rows, a.columns};
}

Mask Vector::compare_scalar(const char* mode, const Tile& a, const std::string& scalar) {
  const std::int64_t capacity = this->capacity(a.rows, a.columns);
  const Tile bits = fresh_bytes(DType::UInt8, round_up(capacity, per_repeat(a.dtype)) / 8);
  c.line(Pipe::Vector,
         "AscendC::CompareScalar(" + text(bits) + ", " + text(a) + ", " + scalar +
             ", AscendC::CMPMODE::" + mode + ", " + repeats(capacity, a.dtype) + ");",
         {{bits.object, true}, {a.object, false}});
  takes(a);
  return {bits.object, a.rows, a.columns};
}

Mask Vector::mask_not(const Mask& mask) {
  const std::int64_t bytes = c.program.objects[mask.object].bytes;
  const Tile bits = fresh_bytes(DType::UInt8, bytes);
  c.line(Pipe::Vector,
         "AscendC::Not(" + text(bits) + ".ReinterpretCast<uint16_t>(), " + Context::name(mask.object) +
             ".ReinterpretCast<uint16_t>(), " + std::to_string(bytes / 2) + ");",
         {{bits.object, true}, {mask.object, false}}, true);
  takes_bytes(bytes);
  return {bits.object, mask.rows, mask.columns};
}

Mask Vector::mask_binary(const char* operation, const Mask& a, const Mask& b) {
  const std::int64_t bytes = c.program.objects[a.object].bytes;
  const Tile bits = fresh_bytes(DType::UInt8, bytes);
  c.line(Pipe::Vector,
         std::string("AscendC::") + operation + "(" + text(bits) + ".ReinterpretCast<uint16_t>(), " +
             Context::name(a.object) + ".ReinterpretCast<uint16_t>(), " + Context::name(b.object) +
             ".ReinterpretCast<uint16_t>(), " + std::to_string(bytes / 2) + ");",
         {{bits.object, true}, {a.object, false}, {b.object, false}}, true);
  takes_bytes(bytes);
  return {bits.object, a.rows, a.columns};
}

namespace {

/// Select knows half and float; other elements of their sizes are moved as those.
std::string selectable(const std::string& tile, DType dtype) {
  if (dtype == DType::Float16 || dtype == DType::Float32) return tile;
  return tile + (bytes_of(dtype) == 2 ? ".ReinterpretCast<half>()" : ".ReinterpretCast<float>()");
}

}  // namespace

Tile Vector::select(const Mask& mask, const Tile& a, const Tile& b) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  c.line(Pipe::Vector,
         "AscendC::Select(" + selectable(text(result), a.dtype) + ", " + Context::name(mask.object) + ", " +
             selectable(text(a), a.dtype) + ", " + selectable(text(b), b.dtype) +
             ", AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, " + count(a).text() + ");",
         {writes(result), {mask.object, false}, reads(a), reads(b)});
  takes(a);
  return result;
}

Tile Vector::select(const Mask& mask, const Tile& a, const std::string& scalar) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  c.line(Pipe::Vector,
         "AscendC::Select(" + text(result) + ", " + Context::name(mask.object) + ", " + text(a) + ", " +
             scalar + ", AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, " + count(a).text() + ");",
         {writes(result), {mask.object, false}, reads(a)});
  takes(a);
  return result;
}

void Vector::copy_into(const Tile& to, const Tile& a) {
  // x | x: the bits of any dtype. The count is even for bytes, too: rows are whole blocks of 32 bytes.
  const std::int64_t size = bytes_of(a.dtype);
  const Amount elements = count(a);
  const std::string halfwords = size >= 2
                                    ? elements.times(size / 2).text()
                                    : (elements.is_constant() ? std::to_string((elements.factor + 1) / 2)
                                                              : "(" + elements.text() + " + 1) / 2");
  c.line(Pipe::Vector,
         "AscendC::Or(" + halves(text(to), a.dtype) + ", " + halves(text(a), a.dtype) + ", " +
             halves(text(a), a.dtype) + ", " + halfwords + ");",
         {writes(to), reads(a)});
  takes(a);
}

Tile Vector::copy(const Tile& a) {
  const Tile result = fresh(a.dtype, a.rows, a.columns);
  copy_into(result, a);
  return result;
}

std::string Vector::read(const Tile& a) {
  const std::string name = c.names.fresh("element");
  const std::string at = a.at.is_constant() ? std::to_string(a.at.constant) : a.at.text();
  c.line(
      Pipe::Scalar,
      "const " + type_name(a.dtype) + " " + name + " = " + Context::name(a.object) + ".GetValue(" + at + ");",
      {{a.object, false}});
  c.takes({{Work::Unit::Scalar, 1}});
  return name;
}

}  // namespace trilith::codegen::ascendc
