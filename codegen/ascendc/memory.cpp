// Places of tiles in the unified buffer. A tile lives from the first line that touches it to the last; what is
// declared outside a loop and touched in it lives through all of the loop. Greedy in the order of birth, at the lowest
// free offset; a result takes the place of an operand that ends at the same line where the line allows it.
#include "codegen/ascendc/program.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::ascendc {
namespace {

struct Range {
  ObjectId object = -1;
  int declared = 0, first = -1, last = -1;
};

std::vector<Range> live_ranges(const Program& program) {
  std::vector<Range> ranges;
  std::vector<int> range_of(program.objects.size(), -1);
  struct Loop {
    int begin;
    std::vector<int> outer;  // ranges from outside that the loop touches
  };
  std::vector<Loop> open;
  std::vector<bool> is_loop;
  for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
    const Node& node = program.nodes[i];
    if (node.kind == Node::Kind::Declare) {
      range_of[node.object] = static_cast<int>(ranges.size());
      ranges.push_back({node.object, i, -1, -1});
    }
    if (node.kind == Node::Kind::Open || node.kind == Node::Kind::Branch) {
      is_loop.push_back(node.kind == Node::Kind::Open);
      if (is_loop.back()) open.push_back({i, {}});
    }
    for (const Touch& touch : node.touches) {
      const int number = range_of[touch.object];
      if (number < 0) continue;
      Range& range = ranges[number];
      if (range.first < 0) range.first = i;
      range.last = i;
      for (Loop& loop : open)
        if (range.declared < loop.begin) loop.outer.push_back(number);
    }
    if (node.kind == Node::Kind::Close) {
      if (is_loop.back()) {
        for (const int number : open.back().outer) {
          ranges[number].first = std::min(ranges[number].first, open.back().begin);
          ranges[number].last = std::max(ranges[number].last, i);
        }
        open.pop_back();
      }
      is_loop.pop_back();
    }
  }
  std::erase_if(ranges, [](const Range& range) { return range.first < 0; });
  std::ranges::sort(ranges, [](const Range& a, const Range& b) {
    return std::pair(a.first, a.declared) < std::pair(b.first, b.declared);
  });
  return ranges;
}

}  // namespace

std::int64_t plan_memory(Program& program) {
  const std::vector<Range> ranges = live_ranges(program);
  std::int64_t total = 0;
  std::vector<const Range*> placed;
  const auto end_of = [&](const Range& range) {
    return program.objects[range.object].offset + program.objects[range.object].bytes;
  };
  for (const Range& range : ranges) {
    Object& object = program.objects[range.object];
    object.bytes = round_up(std::max<std::int64_t>(object.bytes, 32), 32);
    std::erase_if(placed, [&](const Range* other) { return other->last < range.first; });
    const auto is_free = [&](std::int64_t offset, const Range* except) {
      return std::ranges::none_of(placed, [&](const Range* other) {
        return other != except && program.objects[other->object].offset < offset + object.bytes &&
               offset < end_of(*other);
      });
    };
    const Node& birth = program.nodes[range.first];
    std::int64_t offset = -1;
    if (birth.in_place && birth.touches.front().object == range.object && birth.touches.front().writes)
      for (const Range* other : placed) {
        const bool operand = std::ranges::any_of(birth.touches, [&](const Touch& touch) {
          return touch.object == other->object && !touch.writes;
        });
        if (operand && other->last == range.first && program.objects[other->object].bytes == object.bytes &&
            is_free(program.objects[other->object].offset, other)) {
          offset = program.objects[other->object].offset;
          break;
        }
      }
    if (offset < 0) {
      std::ranges::sort(placed, {},
                        [&](const Range* other) { return program.objects[other->object].offset; });
      offset = 0;
      for (const Range* other : placed) {
        if (program.objects[other->object].offset >= offset + object.bytes) break;
        offset = std::max(offset, end_of(*other));
      }
    }
    object.offset = offset;
    total = std::max(total, offset + object.bytes);
    placed.push_back(&range);
  }
  return total;
}

}  // namespace trilith::codegen::ascendc
