#include "runtime/model/strips.hpp"

#include <algorithm>
#include <map>

#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"

namespace trilith::model {
namespace {

using AscendC::model::Dtype;
using AscendC::model::Lanes;
using AscendC::model::VectorOp;
using AscendC::model::VectorRequest;

constexpr std::uint64_t block = 32;
constexpr std::int64_t most_repeats = 255;

const AscendC::model::Span& operand(const VectorRequest& request, int index) {
  return index == 0 ? request.dst : request.source[index - 1];
}

std::uint64_t offset_of(const VectorRequest& request, const Walk& walk, int index, std::uint64_t repeat,
                        std::uint64_t lane) {
  const std::uint64_t size = walk.size[static_cast<std::size_t>(index)], in_block = block / size;
  return repeat * static_cast<std::uint64_t>(request.repeat_stride[index]) * block +
         lane / in_block * static_cast<std::uint64_t>(request.block_stride[index]) * block +
         lane % in_block * size;
}

/// The same start, and steps that keep the operands together: every element is written where it was read.
bool together(const VectorRequest& request, const Walk& walk, int source) {
  if (request.dst.address != request.source[source].address) return false;
  if (walk.size[0] > walk.size[static_cast<std::size_t>(source) + 1]) return false;
  if (request.lanes == Lanes::Counter) return true;
  return request.block_stride[0] == request.block_stride[source + 1] &&
         (request.repeat_stride[0] == request.repeat_stride[source + 1] || request.repeat == 1) &&
         walk.size[0] == walk.size[static_cast<std::size_t>(source) + 1];
}

/// The one overlap across repeats that is documented: dst accumulates over src1 in place.
bool accumulates(const VectorRequest& request, int source) {
  const bool sums = request.op == VectorOp::Add || request.op == VectorOp::Sub ||
                    request.op == VectorOp::Mul || request.op == VectorOp::Max || request.op == VectorOp::Min;
  const bool dtype =
      request.dst.dtype == Dtype::F16 || request.dst.dtype == Dtype::F32 || request.dst.dtype == Dtype::I32;
  return sums && dtype && source == 1 && request.dst.address == request.source[1].address &&
         request.repeat_stride[0] == 0 && request.repeat_stride[2] == 0 &&
         request.block_stride[0] == request.block_stride[2];
}

/// Two sorted lists of ranges.
bool overlap(const std::vector<Range>& a, const std::vector<Range>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].begin < b[j].end && b[j].begin < a[i].end) return true;
    ++(a[i].end < b[j].end ? i : j);
  }
  return false;
}

}  // namespace

const char* name_of(VectorOp op) {
  static constexpr std::array<const char*, 49> names{"Add",
                                                     "Sub",
                                                     "Mul",
                                                     "Div",
                                                     "Max",
                                                     "Min",
                                                     "And",
                                                     "Or",
                                                     "AddRelu",
                                                     "SubRelu",
                                                     "FusedMulAdd",
                                                     "MulAddDst",
                                                     "Not",
                                                     "Exp",
                                                     "Ln",
                                                     "Abs",
                                                     "Sqrt",
                                                     "Rsqrt",
                                                     "Reciprocal",
                                                     "Relu",
                                                     "Adds",
                                                     "Muls",
                                                     "Maxs",
                                                     "Mins",
                                                     "LeakyRelu",
                                                     "Axpy",
                                                     "ShiftLeft",
                                                     "ShiftRight",
                                                     "Duplicate",
                                                     "CreateVecIndex",
                                                     "Cast",
                                                     "Copy",
                                                     "Compare",
                                                     "CompareScalar",
                                                     "Select",
                                                     "Select",
                                                     "WholeReduceSum",
                                                     "WholeReduceMax",
                                                     "WholeReduceMin",
                                                     "BlockReduceSum",
                                                     "BlockReduceMax",
                                                     "BlockReduceMin",
                                                     "PairReduceSum",
                                                     "ReduceSum",
                                                     "ReduceMax",
                                                     "ReduceMin",
                                                     "Brcb",
                                                     "Gather",
                                                     "Transpose"};
  return names[static_cast<std::size_t>(op)];
}

Walk walk_of(const VectorRequest& request) {
  Walk walk{1 + request.sources, {}, 256};
  std::uint64_t widest = 1;
  for (int i = 0; i < walk.operands; ++i) {
    walk.size[static_cast<std::size_t>(i)] = size_of(operand(request, i).dtype);
    widest = std::max(widest, walk.size[static_cast<std::size_t>(i)]);
  }
  walk.lanes_per_repeat = 256 / widest;
  return walk;
}

void check_form(const Operation& operation, const VectorRequest& request, const Walk& walk) {
  if (request.lanes == Lanes::Counter) {
    if (request.count < 0) operation.fault(text("a count of ", request.count));
    return;
  }
  if (request.repeat < 0 || request.repeat > most_repeats)
    operation.fault(
        text("repeatTime ", request.repeat, ": it is a uint8_t, 0 to ", most_repeats, "; split the work"));
  if (request.lanes == Lanes::First &&
      (request.count < 1 || request.count > static_cast<std::int64_t>(walk.lanes_per_repeat)))
    operation.fault(text("mask ", request.count, ": 1 to ", walk.lanes_per_repeat, " elements of a repeat"));
  if (request.lanes == Lanes::Bits) {
    const bool beyond = walk.lanes_per_repeat <= 64 && request.mask[1] != 0;
    if (beyond || (request.mask[0] == 0 && request.mask[1] == 0) ||
        (walk.lanes_per_repeat < 64 && request.mask[0] >> walk.lanes_per_repeat != 0))
      operation.fault(beyond ? text("the mask names lanes beyond the ", walk.lanes_per_repeat, " of a repeat")
                             : std::string("the mask is empty, or names lanes beyond a repeat"));
  }
  for (int i = 0; i < walk.operands; ++i) {
    const bool dst_stands = i == 0 && request.block_stride[0] == 0;
    if (dst_stands) operation.fault("dstBlkStride 0 is undefined: blocks would be written over each other");
    if (request.block_stride[i] < 0 || request.repeat_stride[i] < 0) operation.fault("a negative stride");
  }
}

bool works(const VectorRequest& request, std::uint64_t lane) {
  switch (request.lanes) {
    case Lanes::Counter: return true;
    case Lanes::First: return lane < static_cast<std::uint64_t>(request.count);
    case Lanes::Bits: break;
  }
  return (request.mask[lane / 64] >> lane % 64 & 1) != 0;
}

std::vector<Strip> strips_of(const VectorRequest& request, const Walk& walk, bool join) {
  std::vector<Strip> strips;
  if (request.lanes == Lanes::Counter) {
    if (request.count != 0) strips.push_back({{}, static_cast<std::uint64_t>(request.count), 0, 0});
    return strips;
  }
  std::uint64_t group = 32;  // lanes that no operand's blocks cut
  for (int i = 0; i < walk.operands; ++i)
    group = std::min(group, block / walk.size[static_cast<std::size_t>(i)]);
  const auto append = [&](const Strip& strip) {
    if (!strips.empty() && (join || strips.back().repeat == strip.repeat)) {
      Strip& last = strips.back();
      bool touches = last.lane + last.lanes == strip.lane;
      for (int i = 0; i < walk.operands; ++i) {
        const auto at = static_cast<std::size_t>(i);
        touches = touches && last.offset[at] + last.lanes * walk.size[at] == strip.offset[at];
      }
      if (touches) {
        last.lanes += strip.lanes;
        return;
      }
    }
    strips.push_back(strip);
  };
  for (std::uint64_t repeat = 0; repeat < static_cast<std::uint64_t>(request.repeat); ++repeat)
    for (std::uint64_t first = 0; first < walk.lanes_per_repeat; first += group)
      for (std::uint64_t lane = first; lane < first + group; ++lane) {
        if (!works(request, lane)) continue;
        std::uint64_t end = lane + 1;
        while (end < first + group && works(request, end)) ++end;
        Strip strip{{}, end - lane, repeat * walk.lanes_per_repeat + lane, repeat};
        for (int i = 0; i < walk.operands; ++i)
          strip.offset[static_cast<std::size_t>(i)] = offset_of(request, walk, i, repeat, lane);
        append(strip);
        lane = end;
      }
  return strips;
}

std::vector<Range> ranges_of(const std::vector<Strip>& strips, int operand, std::uint64_t size,
                             std::uint64_t base) {
  std::vector<Range> ranges;
  ranges.reserve(strips.size());
  for (const Strip& strip : strips) {
    const std::uint64_t begin = base + strip.offset[static_cast<std::size_t>(operand)],
                        end = begin + strip.lanes * size;
    if (!ranges.empty() && ranges.back().end == begin)
      ranges.back().end = end;
    else if (ranges.empty() || ranges.back().begin != begin || ranges.back().end != end)
      ranges.push_back({begin, end});
  }
  if (ranges.size() < 2) return ranges;
  std::ranges::sort(ranges, {}, &Range::begin);
  std::vector<Range> merged{ranges.front()};
  for (const Range& range : ranges) {
    if (range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  }
  return merged;
}

void check_overlap(const Operation& operation, const VectorRequest& request, const Walk& walk,
                   const std::vector<Strip>& strips) {
  const std::vector<Range> written = ranges_of(strips, 0, walk.size[0], request.dst.address);
  for (int source = 0; source < request.sources; ++source) {
    const auto index = static_cast<std::size_t>(source) + 1;
    if (together(request, walk, source)) continue;
    const std::vector<Range> read =
        ranges_of(strips, source + 1, walk.size[index], request.source[source].address);
    if (!overlap(written, read) || accumulates(request, source)) continue;
    if (request.lanes == Lanes::Counter || walk.size[0] != walk.size[index])
      operation.fault(text("dst and source ", source, " overlap and do not start together"));
    // Block by block: a source may not read what an earlier repeat wrote, nor what its own repeat writes elsewhere.
    std::map<std::uint64_t, std::uint64_t> writer;  // of an element: its lane
    const std::vector<Strip> pieces = strips_of(request, walk, false);
    std::size_t next = 0;
    while (next < pieces.size()) {
      std::size_t end = next;
      while (end < pieces.size() && pieces[end].repeat == pieces[next].repeat) ++end;
      std::map<std::uint64_t, std::uint64_t> own;  // address to lane
      for (std::size_t i = next; i < end; ++i)
        for (std::uint64_t lane = 0; lane < pieces[i].lanes; ++lane)
          own[request.dst.address + pieces[i].offset[0] + lane * walk.size[0]] = pieces[i].lane + lane;
      for (std::size_t i = next; i < end; ++i)
        for (std::uint64_t lane = 0; lane < pieces[i].lanes; ++lane) {
          const std::uint64_t at =
              request.source[source].address + pieces[i].offset[index] + lane * walk.size[index];
          const auto mine = own.find(at);
          if (writer.contains(at))
            operation.fault(text("source ", source, " of repeat ", pieces[i].repeat,
                                 " reads what an earlier repeat wrote: dst and source overlap"));
          if (mine != own.end() && mine->second != pieces[i].lane + lane)
            operation.fault(text("dst and source ", source, " overlap and are not the same elements"));
        }
      for (const auto& [address, lane] : own) writer[address] = lane;
      next = end;
    }
  }
}

}  // namespace trilith::model
