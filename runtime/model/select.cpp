// Compare, CompareScalar and Select: masks of one bit an element, from the low bits of the first byte on.
#include <cstring>

#include "codegen/ascendc/model/types.h"
#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/numbers.hpp"
#include "runtime/model/operands.hpp"

namespace trilith::model {
namespace {

using AscendC::CMPMODE;
using AscendC::SELMODE;
using AscendC::model::Dtype;
using AscendC::model::Lanes;
using AscendC::model::VectorOp;
using AscendC::model::VectorRequest;

template <class T>
bool holds(CMPMODE mode, T a, T b) {
  switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return a > b;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return a >= b;
    case CMPMODE::NE: break;
  }
  return a != b;
}

bool compared(const VectorRequest& request, const std::byte* a, const std::byte* b) {
  const auto mode = static_cast<CMPMODE>(request.mode);
  switch (request.source[0].dtype) {
    case Dtype::F16: return holds<float>(mode, element<pl::half>(a, 0), element<pl::half>(b, 0));
    case Dtype::F32: return holds(mode, element<float>(a, 0), element<float>(b, 0));
    default: return holds(mode, element<std::int32_t>(a, 0), element<std::int32_t>(b, 0));
  }
}

/// The walk of a request as if its result were elements of its sources, so that Form B steps through those.
VectorRequest with_elements(const VectorRequest& request, int sources) {
  VectorRequest elements = request;
  elements.sources = static_cast<std::uint8_t>(sources);
  elements.dst.dtype = request.source[0].dtype;
  return elements;
}

std::vector<Range> bytes_of(std::uint64_t bits) { return {{0, (bits + 7) / 8}}; }

}  // namespace

void compare(Operation& operation, const VectorRequest& request) {
  const VectorRequest elements = with_elements(request, request.sources);
  const Walk walk = walk_of(elements);
  check_form(operation, elements, walk);
  if (request.source[0].dtype == Dtype::I32 && static_cast<CMPMODE>(request.mode) != CMPMODE::EQ)
    operation.fault("int32_t compares with CMPMODE::EQ only");
  if (request.lanes == Lanes::Counter && static_cast<std::uint64_t>(request.count) * walk.size[1] % 256 != 0)
    operation.fault(text(request.count, " elements are no multiple of 256 bytes"));
  if (request.lanes == Lanes::Bits ||
      (request.lanes == Lanes::First && request.count != static_cast<std::int64_t>(walk.lanes_per_repeat)))
    operation.fault("the mask of Form B must name the whole repeat: it is not looked at");
  const std::vector<Strip> strips = strips_of(elements, walk, true);
  if (strips.empty()) return;
  const std::uint64_t lanes = strips.back().lane + strips.back().lanes;
  use(operation, request.dst, bytes_of(lanes), true);
  for (int i = 0; i < request.sources; ++i)
    use(operation, request.source[i], ranges_of(strips, i + 1, walk.size[static_cast<std::size_t>(i) + 1], 0),
        false);
  for (int i = 0; i < request.sources; ++i)
    for (const Range& range : ranges_of(strips, i + 1, walk.size[1], request.source[i].address))
      if (range.begin < request.dst.address + lanes / 8 && request.dst.address < range.end)
        operation.fault(text("dst and source ", i, " overlap"));
  operation.start();
  Memory& memory = operation.memory(request.dst);
  std::byte scalar[8];
  std::memcpy(scalar, &request.scalar, sizeof scalar);
  for (const Strip& strip : strips)
    for (std::uint64_t lane = 0; lane < strip.lanes; ++lane) {
      const std::uint64_t a = request.source[0].address + strip.offset[1] + lane * walk.size[1];
      const std::uint64_t b = request.source[1].address + strip.offset[2] + lane * walk.size[1];
      const bool two = request.op == VectorOp::Compare;
      const bool result = compared(request, memory.data(a), two ? memory.data(b) : scalar);
      const bool valid = is_valid(memory, a, walk.size[1]) && (!two || is_valid(memory, b, walk.size[1]));
      const std::uint64_t bit = strip.lane + lane, byte = request.dst.address + bit / 8;
      const auto mask = static_cast<std::uint8_t>(1u << bit % 8);
      auto bits = static_cast<std::uint8_t>(*memory.data(byte));
      bits = static_cast<std::uint8_t>(result ? bits | mask : bits & ~mask);
      *memory.data(byte) = static_cast<std::byte>(bits);
      std::uint8_t& marks = *memory.valid(byte);
      marks = static_cast<std::uint8_t>(valid ? marks | mask : marks & ~mask);
    }
}

void select(Operation& operation, const VectorRequest& request) {
  const bool two = request.op == VectorOp::Select;
  const auto mode = static_cast<SELMODE>(request.mode);
  if (two == (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE))
    operation.fault(two ? "VSEL_TENSOR_SCALAR_MODE takes a scalar"
                        : "a scalar needs VSEL_TENSOR_SCALAR_MODE");
  const VectorRequest elements = with_elements(request, two ? 2 : 1);
  const AscendC::model::Span& mask = request.source[two ? 2 : 1];
  const Walk walk = walk_of(elements);
  check_form(operation, elements, walk);
  const std::vector<Strip> strips = strips_of(elements, walk, true);
  if (strips.empty()) return;
  std::uint64_t bits = strips.back().lane + strips.back().lanes;
  if (mode == SELMODE::VSEL_CMPMASK_SPR) bits = std::min(bits, walk.lanes_per_repeat);
  use(operation, request.dst, ranges_of(strips, 0, walk.size[0], 0), true);
  for (int i = 0; i < elements.sources; ++i)
    use(operation, request.source[i], ranges_of(strips, i + 1, walk.size[static_cast<std::size_t>(i) + 1], 0),
        false);
  use(operation, mask, bytes_of(bits), false);
  for (const Range& range : ranges_of(strips, 0, walk.size[0], request.dst.address))
    if (range.begin < mask.address + (bits + 7) / 8 && mask.address < range.end)
      operation.fault("dst and the mask overlap");
  check_overlap(operation, elements, walk, strips);
  operation.start();
  Memory& memory = operation.memory(request.dst);
  for (const Strip& strip : strips)
    for (std::uint64_t lane = 0; lane < strip.lanes; ++lane) {
      std::uint64_t bit = strip.lane + lane;
      if (mode == SELMODE::VSEL_CMPMASK_SPR) bit %= walk.lanes_per_repeat;
      const std::uint64_t byte = mask.address + bit / 8;
      const auto chosen = (static_cast<unsigned>(*memory.data(byte)) >> bit % 8 & 1u) != 0;
      const bool known = (*memory.valid(byte) >> bit % 8 & 1u) != 0;
      const std::uint64_t dst = request.dst.address + strip.offset[0] + lane * walk.size[0];
      const std::uint64_t a = request.source[0].address + strip.offset[1] + lane * walk.size[0];
      const std::uint64_t b = request.source[1].address + strip.offset[2] + lane * walk.size[0];
      if (chosen || two) {
        const std::uint64_t from = chosen ? a : b;
        const bool valid = known && is_valid(memory, from, walk.size[0]);
        std::memmove(memory.data(dst), memory.data(from), walk.size[0]);
        set_valid(memory, dst, walk.size[0], valid);
      } else {
        std::memcpy(memory.data(dst), &request.scalar, walk.size[0]);
        set_valid(memory, dst, walk.size[0], known);
      }
    }
}

}  // namespace trilith::model
