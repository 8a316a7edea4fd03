// jit/loader/perf_map.hpp -- /tmp/perf-<pid>.map, where Linux perf looks up names of generated code.
//
// Off by default. The caller serialises. Addresses are reused after code is released: a range is in the file
// once, under the name of the code that is there now.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace trilith::jit {

struct CodeRange {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

void perf_map_add(std::span<const CodeRange> ranges);

}  // namespace trilith::jit
