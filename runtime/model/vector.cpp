// The vector unit: which file does which operation, and the operations that go element by element.
#include <algorithm>
#include <cstring>

#include "runtime/model/elements.hpp"
#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/operands.hpp"

namespace trilith::model {
namespace {

using AscendC::model::Span;
using AscendC::model::VectorOp;
using AscendC::model::VectorRequest;

bool accumulates(VectorOp op) {
  return op == VectorOp::FusedMulAdd || op == VectorOp::MulAddDst || op == VectorOp::Axpy;
}
bool is_bitwise(VectorOp op) { return op == VectorOp::And || op == VectorOp::Or || op == VectorOp::Not; }

/// What is initialised of a strip's result: what is so in all that it was computed from.
void mark(Memory& memory, const VectorRequest& request, const Walk& walk, const Strip& strip) {
  const std::uint64_t dst = request.dst.address + strip.offset[0], bytes = strip.lanes * walk.size[0];
  bool all = !accumulates(request.op) || is_valid(memory, dst, bytes);
  for (int i = 0; i < request.sources; ++i) {
    const auto at = static_cast<std::size_t>(i) + 1;
    all = all && is_valid(memory, request.source[i].address + strip.offset[at], strip.lanes * walk.size[at]);
  }
  if (all) {
    set_valid(memory, dst, bytes, true);
    return;
  }
  for (std::uint64_t lane = 0; lane < strip.lanes; ++lane) {
    const std::uint64_t to = dst + lane * walk.size[0];
    if (is_bitwise(request.op) || request.op == VectorOp::Copy) {  // bit by bit
      for (std::uint64_t byte = 0; byte < walk.size[0]; ++byte) {
        std::uint8_t bits = 0xff;
        for (int i = 0; i < request.sources; ++i)
          bits &= *memory.valid(request.source[i].address + strip.offset[static_cast<std::size_t>(i) + 1] +
                                lane * walk.size[0] + byte);
        *memory.valid(to + byte) = bits;
      }
      continue;
    }
    bool valid = !accumulates(request.op) || is_valid(memory, to, walk.size[0]);
    for (int i = 0; i < request.sources; ++i) {
      const auto at = static_cast<std::size_t>(i) + 1;
      valid = valid && is_valid(memory, request.source[i].address + strip.offset[at] + lane * walk.size[at],
                                walk.size[at]);
    }
    set_valid(memory, to, walk.size[0], valid);
  }
}

void check_shift(const Operation& operation, const VectorRequest& request, std::uint64_t size) {
  if (request.op != VectorOp::ShiftLeft && request.op != VectorOp::ShiftRight) return;
  const std::uint64_t bits = size * 8;
  // A negative amount is a great one.
  if (request.scalar > bits)
    operation.fault(text("a shift of more than ", bits, " bits, or of a negative number of them"));
}

}  // namespace

void use(Operation& operation, const Span& tensor, const std::vector<Range>& offsets, bool writes,
         std::uint64_t alignment) {
  if (offsets.empty()) return;
  Memory& memory = operation.memory(tensor);
  if (memory.space() != Space::Ub) operation.fault(text("an operand in ", facts(memory.space()).name));
  if (tensor.address % alignment != 0)
    operation.fault(text(writes ? "dst" : "a source", " starts at byte ", tensor.address,
                         " of UB, which is not a multiple of ", alignment));
  bool anything = writes;
  for (const Range& range : offsets) {
    const std::uint64_t at = operation.place(tensor, range.begin, range.end - range.begin, 1, writes);
    const Range placed{at, at + (range.end - range.begin)};
    if (writes)
      operation.writes(memory, placed);
    else
      operation.reads(memory, placed);
    anything = anything || memory.any_valid(placed);
  }
  if (!anything) operation.fault(text("reads UB from byte ", tensor.address, ", which nothing has written"));
}

void use(Operation& operation, const Span& tensor, std::uint64_t bytes, bool writes,
         std::uint64_t alignment) {
  use(operation, tensor, std::vector<Range>{{0, bytes}}, writes, alignment);
}

bool is_valid(Memory& memory, std::uint64_t at, std::uint64_t bytes) {
  return memory.all_valid({at, at + bytes});
}

void set_valid(Memory& memory, std::uint64_t at, std::uint64_t bytes, bool valid) {
  std::memset(memory.valid(at), valid ? 0xff : 0, bytes);
}

void elementwise(Operation& operation, const VectorRequest& request) {
  const Walk walk = walk_of(request);
  check_form(operation, request, walk);
  check_shift(operation, request, walk.size[0]);
  const AscendC::model::Dtype source = request.sources != 0 ? request.source[0].dtype : request.dst.dtype;
  const Elements compute = request.op == VectorOp::Cast ? cast_of(request.dst.dtype, source, request.mode)
                                                        : elements_of(request.op, request.dst.dtype, source);
  if (compute == nullptr)
    operation.fault(request.op == VectorOp::Cast ? text("from ", name_of(source), " to ",
                                                        name_of(request.dst.dtype), " has no such RoundMode")
                                                 : text("is not for ", name_of(request.dst.dtype)));
  const std::vector<Strip> strips = strips_of(request, walk, true);
  if (strips.empty()) return;
  use(operation, request.dst, ranges_of(strips, 0, walk.size[0], 0), true);
  if (accumulates(request.op)) use(operation, request.dst, ranges_of(strips, 0, walk.size[0], 0), false);
  for (int i = 0; i < request.sources; ++i)
    use(operation, request.source[i], ranges_of(strips, i + 1, walk.size[static_cast<std::size_t>(i) + 1], 0),
        false);
  check_overlap(operation, request, walk, strips);
  operation.start();
  Memory& memory = operation.memory(request.dst);
  for (const Strip& strip : strips) {
    mark(memory, request, walk, strip);
    const std::byte* const a =
        request.sources > 0 ? memory.data(request.source[0].address + strip.offset[1]) : nullptr;
    const std::byte* const b =
        request.sources > 1 ? memory.data(request.source[1].address + strip.offset[2]) : nullptr;
    compute(memory.data(request.dst.address + strip.offset[0]), a, b, strip.lanes, request.scalar);
  }
}

void vector(Core& core, const VectorRequest& request) {
  Operation operation(core, PIPE_V, name_of(request.op), request.line);
  switch (request.op) {
    case VectorOp::Compare:
    case VectorOp::CompareScalar: return compare(operation, request);
    case VectorOp::Select:
    case VectorOp::SelectScalar: return select(operation, request);
    case VectorOp::WholeReduceSum:
    case VectorOp::WholeReduceMax:
    case VectorOp::WholeReduceMin:
    case VectorOp::BlockReduceSum:
    case VectorOp::BlockReduceMax:
    case VectorOp::BlockReduceMin:
    case VectorOp::PairReduceSum: return reduce_repeats(operation, request);
    case VectorOp::ReduceSum:
    case VectorOp::ReduceMax:
    case VectorOp::ReduceMin: return reduce_range(operation, request);
    case VectorOp::Brcb: return broadcast_blocks(operation, request);
    case VectorOp::Gather: return gather(operation, request);
    case VectorOp::Transpose: return transpose(operation, request);
    default: return elementwise(operation, request);
  }
}

}  // namespace trilith::model
