// Reductions. Sums are a binary tree inside a repeat and in order across repeats, rounded at every step; the greatest and
// least take the first of equals, and a NaN before any number.
#include <algorithm>
#include <cstring>
#include <utility>

#include "codegen/ascendc/model/types.h"
#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/numbers.hpp"
#include "runtime/model/operands.hpp"

namespace trilith::model {
namespace {

using AscendC::ReduceOrder;
using AscendC::model::Lanes;
using AscendC::model::VectorOp;
using AscendC::model::VectorRequest;

enum class Kind : std::uint8_t { Sum, Max, Min };

Kind kind_of(VectorOp op) {
  switch (op) {
    case VectorOp::WholeReduceMax:
    case VectorOp::BlockReduceMax:
    case VectorOp::ReduceMax: return Kind::Max;
    case VectorOp::WholeReduceMin:
    case VectorOp::BlockReduceMin:
    case VectorOp::ReduceMin: return Kind::Min;
    default: return Kind::Sum;
  }
}

/// One element with what is known of it.
template <class T>
struct Item {
  T value{};
  std::uint64_t index = 0;
  bool works = false;  ///< not masked off
  bool valid = true;
};

template <class T>
Item<T> joined(Kind kind, Item<T> a, Item<T> b) {
  if (!b.works) return a;
  if (!a.works) return b;
  Item<T> result = a;
  const auto x = static_cast<Wide<T>>(a.value), y = static_cast<Wide<T>>(b.value);
  if (kind == Kind::Sum)
    result.value = static_cast<T>(x + y);
  else if (x == x && (y != y || (kind == Kind::Max ? x < y : y < x)))
    result = b;
  result.valid = a.valid && b.valid;
  return result;
}

/// Neighbours first, then neighbours of those.
template <class T>
Item<T> reduced(Kind kind, std::vector<Item<T>> items) {
  while (items.size() > 1) {
    std::vector<Item<T>> next;
    for (std::size_t i = 0; i < items.size(); i += 2)
      next.push_back(i + 1 < items.size() ? joined(kind, items[i], items[i + 1]) : items[i]);
    items = std::move(next);
  }
  return items.front();
}

/// The results of a repeat: how many elements each takes, and in what order value and index stand.
struct Layout {
  std::uint64_t group;     ///< lanes that become one result
  std::uint64_t results;   ///< of a repeat
  std::uint64_t elements;  ///< of dst for each result
  bool index_first, has_value, has_index;
};

Layout layout_of(const VectorRequest& request, std::uint64_t lanes, std::uint64_t size) {
  switch (request.op) {
    case VectorOp::WholeReduceMax:
    case VectorOp::WholeReduceMin: {
      const auto order = static_cast<ReduceOrder>(request.mode);
      const bool value = order != ReduceOrder::ORDER_ONLY_INDEX,
                 index = order != ReduceOrder::ORDER_ONLY_VALUE;
      return {
          lanes, 1,    std::uint64_t{value} + std::uint64_t{index}, order == ReduceOrder::ORDER_INDEX_VALUE,
          value, index};
    }
    case VectorOp::BlockReduceSum:
    case VectorOp::BlockReduceMax:
    case VectorOp::BlockReduceMin: return {32 / size, 8, 1, false, true, false};
    case VectorOp::PairReduceSum: return {2, lanes / 2, 1, false, true, false};
    default: return {lanes, 1, 1, false, true, false};
  }
}

template <class T>
void store_result(Memory& memory, std::uint64_t at, const Layout& layout, const Item<T>& item) {
  const auto put = [&](std::uint64_t place, T value) {
    set_element(memory.data(place), 0, value);
    set_valid(memory, place, sizeof(T), item.valid);
  };
  // An index is kept as the bits of an integer as wide as the value.
  const T index = element<T>(reinterpret_cast<const std::byte*>(&item.index), 0);
  if (layout.has_value) put(at + (layout.index_first ? sizeof(T) : 0), item.value);
  if (layout.has_index) put(at + (layout.has_value && !layout.index_first ? sizeof(T) : 0), index);
}

template <class T>
void reduce_repeats_of(Operation& operation, const VectorRequest& request) {
  // dst is no operand of the walk: its steps count results.
  VectorRequest sources = request;
  sources.block_stride[0] = 1;
  const Walk walk = walk_of(sources);
  check_form(operation, sources, walk);
  const Layout layout = layout_of(request, walk.lanes_per_repeat, sizeof(T));
  const std::vector<Strip> strips = strips_of(sources, walk, true);
  if (strips.empty()) return;
  const auto repeats = static_cast<std::uint64_t>(request.repeat);
  const std::uint64_t result = layout.elements * sizeof(T), per_repeat = layout.results * result;
  std::vector<Range> written;
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
    const std::uint64_t begin = repeat * static_cast<std::uint64_t>(request.repeat_stride[0]) * per_repeat;
    if (!written.empty() && written.back().end == begin)
      written.back().end = begin + per_repeat;
    else
      written.push_back({begin, begin + per_repeat});
  }
  if (repeats > 1 && request.repeat_stride[0] == 0)
    operation.fault("dstRepStride 0: results would be written over each other");
  const std::vector<Range> read = ranges_of(strips, 1, sizeof(T), 0);
  use(operation, request.dst, written, true,
      layout.results == 1 ? sizeof(T) : std::min<std::uint64_t>(per_repeat, 32));
  use(operation, request.source[0], read, false);
  for (const Range& to : written)
    for (const Range& from : read) {
      const bool same = repeats == 1 && request.dst.address == request.source[0].address;
      if (!same && request.dst.address + to.begin < request.source[0].address + from.end &&
          request.source[0].address + from.begin < request.dst.address + to.end)
        operation.fault("dst and the source overlap");
    }
  operation.start();
  Memory& memory = operation.memory(request.dst);
  const Kind kind = kind_of(request.op);
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<Item<T>> items(walk.lanes_per_repeat);
    for (std::uint64_t lane = 0; lane < items.size(); ++lane) {
      items[lane].index = lane;
      items[lane].works = works(request, lane);
      if (!items[lane].works) continue;
      const std::uint64_t in_block = 32 / sizeof(T);
      const std::uint64_t at = request.source[0].address +
                               (repeat * static_cast<std::uint64_t>(request.repeat_stride[1]) +
                                lane / in_block * static_cast<std::uint64_t>(request.block_stride[1])) *
                                   32 +
                               lane % in_block * sizeof(T);
      items[lane].value = element<T>(memory.data(at), 0);
      items[lane].valid = is_valid(memory, at, sizeof(T));
    }
    for (std::uint64_t group = 0; group < layout.results; ++group) {
      const auto first = items.begin() + static_cast<std::ptrdiff_t>(group * layout.group);
      Item<T> item =
          reduced(kind, std::vector<Item<T>>(first, first + static_cast<std::ptrdiff_t>(layout.group)));
      const std::uint64_t at = request.dst.address +
                               repeat * static_cast<std::uint64_t>(request.repeat_stride[0]) * per_repeat +
                               group * result;
      if (!item.works) {
        // Nothing of the group works. A sum is 0; the greatest and least of nothing are unspecified.
        item.valid = kind == Kind::Sum;
        item.value = T{};
      }
      store_result(memory, at, layout, item);
    }
  }
}

/// Elements of `work` that a reduction of a range needs.
std::uint64_t work_needed(std::uint64_t count, std::uint64_t size, bool pairs, bool index) {
  const std::uint64_t lanes = 256 / size, in_block = 32 / size;
  const auto rounded = [&](std::uint64_t elements) {
    return (elements + in_block - 1) / in_block * in_block;
  };
  std::uint64_t left = (count + lanes - 1) / lanes;
  if (!pairs) return rounded(left);
  std::uint64_t needed = rounded(2 * left);
  while (index && left > 1) {
    left = (2 * left + lanes - 1) / lanes;
    needed += rounded(2 * left);
  }
  return needed;
}

template <class T>
void reduce_range_of(Operation& operation, const VectorRequest& request) {
  if (request.count < 1) operation.fault(text("a count of ", request.count));
  const auto count = static_cast<std::uint64_t>(request.count);
  const Kind kind = kind_of(request.op);
  const bool index = request.mode != 0;
  const std::uint64_t work = work_needed(count, sizeof(T), kind != Kind::Sum, index) * sizeof(T);
  if (request.source[1].bytes < work)
    operation.fault(text("the work tensor has ", request.source[1].bytes, " bytes and needs ", work));
  use(operation, request.dst, (index ? 2 : 1) * sizeof(T), true, sizeof(T));
  use(operation, request.source[0], count * sizeof(T), false);
  use(operation, request.source[1], work, true);
  const auto apart = [](const AscendC::model::Span& a, std::uint64_t a_bytes, const AscendC::model::Span& b,
                        std::uint64_t b_bytes) {
    return a.address + a_bytes <= b.address || b.address + b_bytes <= a.address;
  };
  if (!apart(request.source[0], count * sizeof(T), request.source[1], work))
    operation.fault("the source and the work tensor overlap");
  operation.start();
  Memory& memory = operation.memory(request.dst);
  const std::uint64_t lanes = 256 / sizeof(T);
  Item<T> total;
  for (std::uint64_t first = 0; first < count; first += lanes) {
    std::vector<Item<T>> items(std::min(lanes, count - first));
    for (std::uint64_t i = 0; i < items.size(); ++i) {
      const std::uint64_t at = request.source[0].address + (first + i) * sizeof(T);
      items[i] = {element<T>(memory.data(at), 0), first + i, true, is_valid(memory, at, sizeof(T))};
    }
    total = joined(kind, total, reduced(kind, std::move(items)));
  }
  set_valid(memory, request.source[1].address, work, false);
  store_result(memory, request.dst.address, {1, 1, 1, false, true, index}, total);
}

}  // namespace

void reduce_repeats(Operation& operation, const VectorRequest& request) {
  if (request.lanes == Lanes::Counter) operation.fault("has no form with a count alone");
  visit_float(request.dst.dtype, [&]<class T>() { reduce_repeats_of<T>(operation, request); });
}

void reduce_range(Operation& operation, const VectorRequest& request) {
  visit_float(request.dst.dtype, [&]<class T>() { reduce_range_of<T>(operation, request); });
}

}  // namespace trilith::model
