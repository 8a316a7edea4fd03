// Calls of the operations that move elements and change none.
#include "codegen/xsimd/tile_call.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

namespace {

/// "1, 2, 3" in braces, as an array argument; a rank-0 tile has one axis of extent 1.
std::string braces(const std::vector<std::string>& items, const char* otherwise) {
  if (items.empty()) return std::string("{") + otherwise + "}";
  std::string text = "{";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ", ") + items[i];
  return text + "}";
}

std::string extents(const TileCall& call, const std::vector<Dim>& shape) {
  std::vector<std::string> items;
  for (const Dim& dim : shape) items.push_back(call.extent(dim));
  return braces(items, "1");
}

std::string items(TileCall& call, std::size_t operand) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < call.call().operands[operand].operands.size(); ++k)
    texts.push_back(call.item(operand, k));
  return braces(texts, "0");
}

std::string rank_argument(const TileCall& call, const std::vector<Dim>& shape) {
  return call.dtype() + ", " + std::to_string(std::max<std::size_t>(shape.size(), 1));
}

}  // namespace

void write_tile_slice(TileCall& call) {
  call.write("read_region", rank_argument(call, call.type().shape),
             {call.result(), call.tile(0), extents(call, call.type().shape),
              extents(call, call.type(0).shape), items(call, 1)});
}

void write_assemble(TileCall& call) {
  call.write("copy", call.dtype(), {call.result(), call.tile(0), call.count(call.type().shape)});
  call.write("write_region", rank_argument(call, call.type().shape),
             {call.result(), call.tile(1), extents(call, call.type(1).shape),
              extents(call, call.type().shape), items(call, 2)});
}

void write_concat(TileCall& call) {
  const std::vector<Dim>& shape = call.type().shape;
  const std::size_t axis = call.axis(call.attributes().axis);
  const std::string outer = call.count(shape, 0, axis), row = call.count(shape, axis, shape.size());
  std::string begin = "0";
  for (std::size_t i = 0; i < call.call().operands.size(); ++i) {
    const std::string part = call.count(call.type(i).shape, axis, shape.size());
    call.write("copy_rows", call.dtype(), {call.result(), call.tile(i), outer, row, begin, part});
    begin = begin == "0" ? part : begin + " + " + part;
  }
}

void write_copy(TileCall& call) {
  call.write("copy", call.dtype(),
             {call.result(), "reinterpret_cast<const " + call.dtype() + "*>(" + call.tile(0) + ")",
              call.count(call.type().shape)});
}

void write_pad(TileCall& call) {
  call.write("fill", call.dtype(), {call.result(), call.count(call.type().shape), call.scalar(3)});
  call.write("write_region", rank_argument(call, call.type().shape),
             {call.result(), call.tile(0), extents(call, call.type(0).shape),
              extents(call, call.type().shape), items(call, 1)});
}

void write_expand(TileCall& call) {
  const std::vector<Dim>&to = call.type().shape, &from = call.type(0).shape;
  std::vector<std::string> strides(to.size(), "0");
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    if (!from[axis].is(1)) strides[to.size() - from.size() + axis] = call.count(from, axis + 1, from.size());
  call.write("expand", rank_argument(call, to),
             {call.result(), call.tile(0), extents(call, to), braces(strides, "0")});
}

void write_transpose(TileCall& call) {
  const std::vector<Dim>& shape = call.type(0).shape;
  std::size_t first = call.axis(call.attributes().axis), second = call.axis(call.attributes().axis2);
  if (first > second) std::swap(first, second);
  const std::size_t rank = shape.size();
  if (first == second)  // nothing is exchanged: one long row
    return call.write("transpose", call.dtype(),
                      {call.result(), call.tile(0), "1", "1", "1", "1", call.count(shape)});
  call.write("transpose", call.dtype(),
             {call.result(), call.tile(0), call.count(shape, 0, first), call.extent(shape[first]),
              call.count(shape, first + 1, second), call.extent(shape[second]),
              call.count(shape, second + 1, rank)});
}

}  // namespace trilith::codegen::xsimd
