// runtime/pointer_map.hpp -- where the memory of a recorded orchestration lies when it is replayed.
#pragma once

#include <cstddef>
#include <vector>

namespace pl::detail {

class PointerMap {
 public:
  /// Addresses in [begin, end] move to the same offset behind `to`.
  void add(const void* begin, const void* end, const void* to) {
    ranges_.push_back(
        {static_cast<const char*>(begin), static_cast<const char*>(end), static_cast<const char*>(to)});
  }
  /// The first range counts; what lies in none stays where it is.
  [[nodiscard]] void* operator()(void* pointer) const {
    const char* const at = static_cast<const char*>(pointer);
    for (const Range& range : ranges_)
      if (at >= range.begin && at <= range.end) return const_cast<char*>(range.to + (at - range.begin));
    return pointer;
  }

 private:
  struct Range {
    const char *begin, *end, *to;
  };
  std::vector<Range> ranges_;
};

}  // namespace pl::detail
