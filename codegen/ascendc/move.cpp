// Between device memory and the unified buffer. What is a whole number of blocks of 32 bytes moves by DataCopy, all else
// by DataCopyPad, which puts each row on a block of its own and leaves the rest of its last block unspecified.
#include "codegen/ascendc/nest.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

/// A count as a parameter of `type`: constants need no cast.
std::string as(const char* type, const Amount& amount) {
  return amount.is_constant() ? amount.text()
                              : std::string("static_cast<") + type + ">(" + amount.text() + ")";
}

std::string list(std::initializer_list<std::string> items) {
  std::string text = "{";
  for (const std::string& item : items) text += (text.size() == 1 ? "" : ", ") + item;
  return text + "}";
}

/// Into the unified buffer: rows of `bytes`, `gap` bytes apart in device memory, with `padding` blocks between.
std::string pad_in(const std::string& to, const std::string& from, DType dtype, const std::string& rows,
                   const std::string& bytes, const std::string& gap, const std::string& padding) {
  return "AscendC::DataCopyPad(" + to + ", " + from + ", AscendC::DataCopyExtParams" +
         list({rows, bytes, gap, padding, "0"}) + ", AscendC::DataCopyPadExtParams<" + type_name(dtype) +
         ">{false, 0, 0, 0});";
}

std::string pad_out(const std::string& to, const std::string& from, const std::string& rows,
                    const std::string& bytes, const std::string& padding, const std::string& gap) {
  return "AscendC::DataCopyPad(" + to + ", " + from + ", AscendC::DataCopyExtParams" +
         list({rows, bytes, padding, gap, "0"}) + ");";
}

/// Bytes between elements that are `stride` elements apart.
std::string gap_of(const Amount& stride, std::int64_t size) {
  if (stride.is_constant()) return number((stride.factor - 1) * size);
  return "static_cast<uint32_t>((" + stride.text() + " - 1) * " + number(size) + ")";
}

// Rows of a block in the terms of DataCopyPad: bytes of one, blocks of 32 bytes between them in the unified buffer, bytes
// between them in device memory.
std::string row_bytes(const Block& block, std::int64_t size) {
  return block.is_ragged() ? as("uint32_t", block.columns.times(size)) : number(block.max_columns * size);
}
std::string row_padding(const Block& block, std::int64_t size) {
  const std::int64_t pitch = block.pitch * size / 32;
  if (!block.is_ragged()) return number(pitch - round_up(block.max_columns * size, 32) / 32);
  return "static_cast<uint32_t>(" + number(pitch) + " - (" + block.columns.times(size).text() +
         " + 31) / 32)";
}
std::string row_gap(const Block& block, const Amount& distance, std::int64_t size) {
  if (!block.is_ragged()) return number((distance.factor - block.max_columns) * size);
  return "static_cast<uint32_t>((" + distance.text() + " - " + block.columns.text() + ") * " + number(size) +
         ")";
}

}  // namespace

Address Nest::address(const Stream& stream) const {
  Address address = stream.base;
  for (std::size_t i = 0; i < loops_.size(); ++i) address.add(stream.strides[i], loops_[i].variable);
  if (!row_.empty()) address.add(stream.rows, row_);
  if (!column_.empty()) address.add(stream.inner, column_);
  return address;
}

/// The element of a stream that is `i` strides behind `at`.
std::string Nest::step(const Stream& stream, Address at, const std::string& i, const Amount& stride) {
  at.add(stride, i);
  return at.of(Context::name(stream.object));
}

Tile Nest::in_tensor(DType dtype, std::int64_t bytes) {
  bytes = round_up(bytes, 256);
  const int queue = c.queue(true, std::min(next_in_, c.tiling.queue_limit - 1), bytes, twice_ ? buffers_ : 1);
  ++next_in_;
  const ObjectId object = c.add_object(
      {.kind = Object::Kind::In, .dtype = dtype, .bytes = bytes, .queue = queue, .location = c.location});
  c.program.nodes.push_back({.kind = Node::Kind::Alloc, .object = object, .location = c.location});
  return {object, dtype, false, false};
}

void Nest::arrived(const Tile& tile) {
  c.program.nodes.push_back({.kind = Node::Kind::EnQue, .object = tile.object, .location = c.location});
  c.program.nodes.push_back({.kind = Node::Kind::DeQue, .object = tile.object, .location = c.location});
}

void Nest::free(const Tile& tile) {
  c.program.nodes.push_back({.kind = Node::Kind::Free, .object = tile.object, .location = c.location});
}

/// `count` elements, `stride` apart in device memory, beside each other.
Tile Nest::load_vector(const Stream& stream, const Address& at, const Amount& count, const Amount& stride,
                       bool rows, bool columns) {
  const DType dtype = stored_as(stream.dtype);
  const std::int64_t size = bytes_of(dtype), most = v.capacity(rows, columns);
  const std::string from = at.of(Context::name(stream.object));
  if (stride.is(1)) {
    Tile tile = in_tensor(dtype, most * size);
    tile.rows = rows;
    tile.columns = columns;
    const std::string to = Context::name(tile.object);
    const bool blocks = (count.factor * size) % 32 == 0;
    c.line(Pipe::MoveIn,
           blocks ? "AscendC::DataCopy(" + to + ", " + from + ", " + count.text() + ");"
                  : pad_in(to, from, dtype, "1", as("uint32_t", count.times(size)), "0", "0"),
           {{tile.object, true}, {stream.object, false}});
    c.takes({{Work::Unit::MoveIn, round_up(most * size, 32)}});
    arrived(tile);
    return tile;
  }
  // One block of 32 bytes an element, then their first elements side by side.
  const Tile blocks = in_tensor(dtype, most * 32);
  const std::string to = Context::name(blocks.object);
  const std::string at_once =
      pad_in(to, from, dtype, as("uint16_t", count), number(size), gap_of(stride, size), "0");
  if (stride.is_constant() && stride.factor > 0) {
    c.line(Pipe::MoveIn, at_once, {{blocks.object, true}, {stream.object, false}});
  } else {
    // A stride of the run may be 0 or negative, which no gap is.
    const std::string i = c.names.fresh("i");
    c.line(Pipe::MoveIn,
           (stride.is_constant() ? "" : "if (" + stride.text() + " > 0) {\n  " + at_once + "\n} else {\n  ") +
               "for (int32_t " + i + " = 0; " + i + " < " + count.text() + "; ++" + i + ") " +
               pad_in(to + "[" + i + " * " + number(32 / size) + "]", step(stream, at, i, stride), dtype, "1",
                      number(size), "0", "0") +
               (stride.is_constant() ? "" : "\n}"),
           {{blocks.object, true}, {stream.object, false}});
  }
  c.takes({{Work::Unit::MoveIn, most * 32}});
  arrived(blocks);
  const Tile result = v.fresh(dtype, rows, columns);
  if ((dtype == DType::Float32 || dtype == DType::Float16) && most <= 255) {
    c.line(Pipe::Vector,
           "AscendC::WholeReduceSum(" + v.text(result) + ", " + to + ", 1, " + count.text() + ", 1, 1, 1);",
           {v.writes(result), {blocks.object, false}});
    c.takes({{Work::Unit::Vector, most}});
  } else {
    const std::string i = c.names.fresh("i");
    c.line(Pipe::Scalar,
           "for (int32_t " + i + " = 0; " + i + " < " + count.text() + "; ++" + i + ") " + v.text(result) +
               ".SetValue(" + i + ", " + to + ".GetValue(" + i + " * " + number(32 / size) + "));",
           {v.writes(result), {blocks.object, false}});
    c.takes({{Work::Unit::Scalar, 2 * most}});
  }
  free(blocks);
  return result;
}

Held Nest::load(fuse::ValueId id, const Stream& stream) {
  const bool rows = block_.max_rows > 1 && !stream.rows.is(0);
  const bool columns = inner_extent_.most > 1 && !stream.inner.is(0);
  const fuse::Value& value = plan_.values[id];
  const DType held = held_as(value.dtype);
  const Address at = address(stream);
  if (!stream.global) {
    // A home: the block is part of it, when its rows lie as the block's and begin at a block of 32 bytes.
    const bool one = !rows && !columns;
    if (!one && !lies_as_block(stream, at, rows, columns, held)) throw Spill{stream.name};
    Tile tile{stream.object, held, rows, columns, at};
    if (one && !at.is_zero()) return {{.scalar = v.read(tile)}, {}};
    return {{.tile = tile}, {}};
  }
  const bool narrow = is_narrow_float(value.dtype);
  if (!rows && !columns && held == stored_as(stream.dtype) && !narrow && held != DType::Int64 &&
      stream.is_input) {
    // One element of a tensor that nobody writes while the kernel runs: the scalar pipe reads it where it is.
    const std::string element = c.names.fresh("element");
    // With strides of the run the element may lie in front of the tensor's first.
    const bool plain = at.is_constant() || c.program.objects[stream.object].bytes > 0;
    const std::string from = Context::name(stream.object);
    c.line(Pipe::Scalar,
           "const " + type_name(held) + " " + element + " = " +
               (plain ? from + ".GetValue(" + at.text() + ")" : at.of(from) + ".GetValue(0)") + ";",
           {{stream.object, false}});
    c.takes({{Work::Unit::Scalar, 1}});
    return {{.scalar = element}, {}};
  }
  const std::string from = at.of(Context::name(stream.object));
  Tile tile;
  const bool matrix = rows && columns;
  const bool dense = matrix && stream.inner.is(1) && stream.rows.is(block_.max_columns) &&
                     block_.pitch == block_.max_columns && !block_.is_ragged();
  if (!matrix || dense) {
    const Amount count = v.count(rows, columns), stride = rows && !columns ? stream.rows
                                                          : columns        ? stream.inner
                                                                           : Amount{1};
    tile = load_vector(stream, at, count, matrix ? Amount{1} : stride, rows, columns);
  } else {
    if (!stream.inner.is(1))
      throw pl::InternalError("AscendC emitter: a block of rows whose elements lie apart");
    const DType dtype = stored_as(stream.dtype);
    const std::int64_t size = bytes_of(dtype), row = block_.max_columns * size;
    tile = in_tensor(dtype, block_.max_rows * block_.pitch * size);
    tile.rows = tile.columns = true;
    const std::string to = Context::name(tile.object), blocks = as("uint16_t", block_.rows);
    const std::vector<Touch> touches{{tile.object, true}, {stream.object, false}};
    if (!stream.rows.is_constant() || stream.rows.factor < block_.max_columns) {
      const std::string r = c.names.fresh("r");
      c.line(Pipe::MoveIn,
             "for (int32_t " + r + " = 0; " + r + " < " + block_.rows.text() + "; ++" + r + ") " +
                 pad_in(to + "[" + r + " * " + number(block_.pitch) + "]", step(stream, at, r, stream.rows),
                        dtype, "1", row_bytes(block_, size), "0", "0"),
             touches);
    } else {
      const std::int64_t gap = (stream.rows.factor - block_.max_columns) * size;
      if (row % 32 == 0 && gap % 32 == 0 && !block_.is_ragged())
        c.line(Pipe::MoveIn,
               "AscendC::DataCopy(" + to + ", " + from + ", AscendC::DataCopyParams" +
                   list({blocks, number(row / 32), number(gap / 32), row_padding(block_, size)}) + ");",
               touches);
      else
        c.line(Pipe::MoveIn,
               pad_in(to, from, dtype, blocks, row_bytes(block_, size), row_gap(block_, stream.rows, size),
                      row_padding(block_, size)),
               touches);
    }
    c.takes({{Work::Unit::MoveIn, block_.max_rows * round_up(row, 32)}});
    arrived(tile);
  }
  const bool queued = c.program.objects[tile.object].kind == Object::Kind::In;
  const Tile value_tile =
      from_storage(tile, stream.global && stream.dtype == value.dtype ? value.dtype : held);
  if (queued) {
    const bool shared = next_in_ >= c.tiling.queue_limit;
    if (value_tile.object != tile.object) {
      free(tile);
    } else if (shared) {
      const Tile own = v.copy(tile);
      free(tile);
      return {{.tile = own}, {}};
    } else {
      scopes_.back().in.push_back(tile.object);
    }
  }
  return {{.tile = value_tile}, {}};
}

/// What came from device memory as what lowerings work on.
Tile Nest::from_storage(const Tile& tile, DType dtype) {
  switch (dtype) {
    case DType::BFloat16: return v.cast(tile, DType::Float32, "NONE");
    case DType::Bool: return v.cast(tile, DType::Float16, "NONE");
    case DType::Int8:
    case DType::UInt8: return v.cast(v.cast(tile, DType::Float16, "NONE"), DType::Int32, "RINT");
    case DType::Int16: return v.cast(v.cast(tile, DType::Float32, "NONE"), DType::Int32, "RINT");
    case DType::UInt16: {
      const Tile wide = v.cast(v.cast(tile, DType::Float32, "NONE"), DType::Int32, "RINT");
      return v.shift(false, v.shift(true, wide, "16", true), "16", true);
    }
    default: return tile;
  }
}

Tile Nest::to_storage(const Tile& tile, DType dtype) {
  switch (dtype) {
    case DType::BFloat16: return v.cast(tile, DType::BFloat16, "RINT");
    case DType::Bool: return v.cast(tile, DType::UInt8, "RINT");
    case DType::Int8:
    case DType::UInt8:
      return v.cast(v.cast(v.cast(tile, DType::Float32, "RINT"), DType::Float16, "NONE"), dtype, "RINT");
    case DType::Int16: return v.cast(tile, DType::Int16, "NONE");
    case DType::UInt16:
      return v.cast(v.shift(false, v.shift(true, tile, "16", true), "16", false), DType::Int16, "NONE");
    default: return tile;
  }
}

/// Between the elements of a tile that is no matrix, in device memory.
Amount Nest::vector_stride(const Tile& tile, const Stream& stream) const {
  if (tile.rows && !tile.columns) return stream.rows;
  if (tile.columns && !(tile.rows && !block_.rows.is(1))) return stream.inner;
  return {1};
}

/// One element a block of 32 bytes.
Tile Nest::spread(const Tile& tile) {
  const std::int64_t most = v.capacity(tile.rows, tile.columns), block = per_block(tile.dtype);
  Tile result = v.fresh_bytes(tile.dtype, round_up(most, 8) * 32);
  const Amount count = v.count(tile);
  if (bytes_of(tile.dtype) >= 2 && bytes_of(tile.dtype) <= 4 && most <= 255 * 8) {
    const std::string groups =
        count.is_constant() ? number((count.factor + 7) / 8) : "(" + count.text() + " + 7) / 8";
    c.line(Pipe::Vector,
           "AscendC::Brcb(" + v.text(result) + ", " + v.text(tile) + ", " + groups +
               ", AscendC::BrcbRepeatParams{1, 8});",
           {{result.object, true}, v.reads(tile)});
    c.takes({{Work::Unit::Vector, (most + 7) / 8}});
  } else {
    const std::string i = c.names.fresh("i");
    c.line(Pipe::Scalar,
           "for (int32_t " + i + " = 0; " + i + " < " + count.text() + "; ++" + i + ") " + v.text(result) +
               ".SetValue(" + i + " * " + number(block) + ", " + v.text(tile) + ".GetValue(" + i + "));",
           {{result.object, true}, v.reads(tile)});
    c.takes({{Work::Unit::Scalar, 2 * most}});
  }
  result.rows = tile.rows;
  result.columns = tile.columns;
  return result;
}

void Nest::store(const Tile& tile, const Stream& stream) {
  const DType dtype = tile.dtype;
  const std::int64_t size = bytes_of(dtype);
  const std::string from = v.text(tile), to = address(stream).of(Context::name(stream.object));
  const std::vector<Touch> touches{{.object = stream.object, .writes = true, .store = stream.store},
                                   {tile.object, false}};
  if (stream.adds) c.line(Pipe::None, "AscendC::SetAtomicAdd<" + type_name(dtype) + ">();");
  const bool matrix = tile.rows && tile.columns && !block_.rows.is(1);
  const bool dense = matrix && stream.rows.is(block_.max_columns) && block_.pitch == block_.max_columns &&
                     !block_.is_ragged();
  if (matrix && !dense) {
    const std::int64_t row = block_.max_columns * size,
                       gap = (stream.rows.factor - block_.max_columns) * size;
    const std::string blocks = as("uint16_t", block_.rows);
    if (!stream.inner.is(1))
      throw pl::InternalError("AscendC emitter: a block of rows whose elements lie apart");
    if (!stream.rows.is_constant()) {
      const std::string r = c.names.fresh("r");
      c.line(Pipe::MoveOut,
             "for (int32_t " + r + " = 0; " + r + " < " + block_.rows.text() + "; ++" + r + ") " +
                 pad_out(step(stream, address(stream), r, stream.rows),
                         from + "[" + r + " * " + number(block_.pitch) + "]", "1", row_bytes(block_, size),
                         "0", "0"),
             touches);
      c.takes({{Work::Unit::MoveOut, block_.max_rows * round_up(row, 32)}});
      if (stream.adds) c.line(Pipe::None, "AscendC::SetAtomicNone();");
      return;
    }
    if (stream.rows.factor < block_.max_columns)
      throw pl::InternalError("AscendC emitter: rows of a result that overlap");
    if (row % 32 == 0 && gap % 32 == 0 && !block_.is_ragged())
      c.line(Pipe::MoveOut,
             "AscendC::DataCopy(" + to + ", " + from + ", AscendC::DataCopyParams" +
                 list({blocks, number(row / 32), row_padding(block_, size), number(gap / 32)}) + ");",
             touches);
    else
      c.line(Pipe::MoveOut,
             pad_out(to, from, blocks, row_bytes(block_, size), row_padding(block_, size),
                     row_gap(block_, stream.rows, size)),
             touches);
    c.takes({{Work::Unit::MoveOut, block_.max_rows * round_up(row, 32)}});
  } else if (const Amount stride = vector_stride(tile, stream); !stride.is(1)) {
    // Spread to a block of 32 bytes each (`root` made it so).
    if (stride.is_constant() && stride.factor < 1)
      throw pl::InternalError("AscendC emitter: results that overlap");
    const std::string at_once =
        pad_out(to, from, as("uint16_t", v.count(tile)), number(size), "0", gap_of(stride, size));
    if (stride.is_constant()) {
      c.line(Pipe::MoveOut, at_once, touches);
    } else {
      const std::string i = c.names.fresh("i");
      c.line(Pipe::MoveOut,
             "if (" + stride.text() + " > 0) {\n  " + at_once + "\n} else {\n  for (int32_t " + i + " = 0; " +
                 i + " < " + v.count(tile).text() + "; ++" + i + ") " +
                 pad_out(step(stream, address(stream), i, stride),
                         from + "[" + i + " * " + number(32 / size) + "]", "1", number(size), "0", "0") +
                 "\n}",
             touches);
    }
    c.takes({{Work::Unit::MoveOut, v.capacity(tile.rows, tile.columns) * 32}});
  } else {
    const Amount count = v.count(tile);
    const bool blocks = (count.factor * size) % 32 == 0;
    c.line(Pipe::MoveOut,
           blocks ? "AscendC::DataCopy(" + to + ", " + from + ", " + count.text() + ");"
                  : pad_out(to, from, "1", as("uint32_t", count.times(size)), "0", "0"),
           touches);
    c.takes({{Work::Unit::MoveOut, round_up(v.capacity(tile.rows, tile.columns) * size, 32)}});
  }
  if (stream.adds) c.line(Pipe::None, "AscendC::SetAtomicNone();");
}

}  // namespace trilith::codegen::ascendc
