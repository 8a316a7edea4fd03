// Brcb, Gather and Transpose: elements that move.
#include <algorithm>
#include <cstring>

#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/operands.hpp"

namespace trilith::model {
namespace {

using AscendC::model::VectorRequest;

constexpr std::uint64_t block = 32;

void move_element(Memory& memory, std::uint64_t dst, std::uint64_t src, std::uint64_t size) {
  std::memcpy(memory.data(dst), memory.data(src), size);
  std::memcpy(memory.valid(dst), memory.valid(src), size);
}

void check_apart(const Operation& operation, std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b,
                 std::uint64_t b_bytes) {
  if (a < b + b_bytes && b < a + a_bytes) operation.fault("dst and the source overlap");
}

}  // namespace

void broadcast_blocks(Operation& operation, const VectorRequest& request) {
  if (request.repeat < 0 || request.repeat > 255)
    operation.fault(text("repeatTime ", request.repeat, ": it is a uint8_t, 0 to 255; split the work"));
  if (request.repeat == 0) return;
  const auto repeats = static_cast<std::uint64_t>(request.repeat);
  const std::uint64_t size = size_of(request.dst.dtype);
  const auto dst_of = [&](std::uint64_t repeat, std::uint64_t i) {
    return (repeat * static_cast<std::uint64_t>(request.repeat_stride[0]) +
            i * static_cast<std::uint64_t>(request.block_stride[0])) *
           block;
  };
  std::vector<Range> written;
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat)
    for (std::uint64_t i = 0; i < 8; ++i) {
      const std::uint64_t begin = dst_of(repeat, i);
      if (!written.empty() && written.back().end == begin)
        written.back().end = begin + block;
      else
        written.push_back({begin, begin + block});
    }
  use(operation, request.dst, written, true);
  use(operation, request.source[0], repeats * 8 * size, false);
  for (const Range& range : written)
    check_apart(operation, request.dst.address + range.begin, range.end - range.begin,
                request.source[0].address, repeats * 8 * size);
  operation.start();
  Memory& memory = operation.memory(request.dst);
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat)
    for (std::uint64_t i = 0; i < 8; ++i)
      for (std::uint64_t at = 0; at < block; at += size)
        move_element(memory, request.dst.address + dst_of(repeat, i) + at,
                     request.source[0].address + (repeat * 8 + i) * size, size);
}

void gather(Operation& operation, const VectorRequest& request) {
  if (request.count < 0) operation.fault(text("a count of ", request.count));
  if (request.count == 0) return;
  const auto count = static_cast<std::uint64_t>(request.count);
  const std::uint64_t size = size_of(request.dst.dtype);
  const AscendC::model::Span &source = request.source[0], &offsets = request.source[1];
  use(operation, request.dst, count * size, true);
  use(operation, offsets, count * 4, false);
  check_apart(operation, request.dst.address, count * size, offsets.address, count * 4);
  Memory& memory = operation.memory(request.dst);
  std::vector<std::uint64_t> places(count);
  std::vector<Range> read;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = offsets.address + i * 4;
    if (!is_valid(memory, at, 4)) operation.fault(text("offset ", i, " is uninitialised"));
    std::uint32_t offset = 0;
    std::memcpy(&offset, memory.data(at), 4);
    const std::uint64_t from = request.scalar + offset;
    if (from % size != 0)
      operation.fault(text("offset ", i, " is ", from, " bytes, no multiple of the element's ", size));
    places[i] = operation.place(source, from, size, size, false);
    read.push_back({from, from + size});
  }
  std::ranges::sort(read, {}, &Range::begin);
  std::vector<Range> merged;
  for (const Range& range : read) {
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  }
  use(operation, source, merged, false);
  for (const Range& range : merged)
    check_apart(operation, request.dst.address, count * size, source.address + range.begin,
                range.end - range.begin);
  operation.start();
  for (std::uint64_t i = 0; i < count; ++i)
    move_element(memory, request.dst.address + i * size, places[i], size);
}

void transpose(Operation& operation, const VectorRequest& request) {
  constexpr std::uint64_t edge = 16, size = 2, bytes = edge * edge * size;
  use(operation, request.dst, bytes, true);
  use(operation, request.source[0], bytes, false);
  check_apart(operation, request.dst.address, bytes, request.source[0].address, bytes);
  operation.start();
  Memory& memory = operation.memory(request.dst);
  for (std::uint64_t row = 0; row < edge; ++row)
    for (std::uint64_t column = 0; column < edge; ++column)
      move_element(memory, request.dst.address + (column * edge + row) * size,
                   request.source[0].address + (row * edge + column) * size, size);
}

}  // namespace trilith::model
