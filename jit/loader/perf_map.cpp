// jit/loader/perf_map.cpp -- appends while it can, rewrites when an address is used again.
#include "jit/loader/perf_map.hpp"

#include <unistd.h>
#include <cstdio>
#include <map>

namespace trilith::jit {
namespace {

struct Listed {
  std::uint64_t size;
  std::string name;
};

/// Everything that is in the file, by address. Released code stays listed, since a profile taken earlier may
/// still be resolved against it, until its addresses are used again.
std::map<std::uint64_t, Listed>& listed() {
  static auto* const ranges = new std::map<std::uint64_t, Listed>;
  return *ranges;
}

pid_t listed_pid = 0;

std::string path() { return "/tmp/perf-" + std::to_string(getpid()) + ".map"; }

void write_line(std::FILE* file, std::uint64_t address, const Listed& range) {
  std::fprintf(file, "%llx %llx %s\n", static_cast<unsigned long long>(address),
               static_cast<unsigned long long>(range.size), range.name.c_str());
}

/// Drops ranges that overlap [address, address + size); true when the file must be written anew.
bool drop_overlapping(std::uint64_t address, std::uint64_t size) {
  bool dropped = false;
  auto& ranges = listed();
  auto at = ranges.upper_bound(address);
  if (at != ranges.begin()) --at;
  while (at != ranges.end() && at->first < address + size) {
    if (at->first + at->second.size > address) {
      at = ranges.erase(at);
      dropped = true;
    } else {
      ++at;
    }
  }
  return dropped;
}

}  // namespace

void perf_map_add(std::span<const CodeRange> added) {
  // A forked child starts a file of its own, with what it inherited.
  bool rewrite = listed_pid != getpid();
  listed_pid = getpid();
  for (const CodeRange& range : added) rewrite |= drop_overlapping(range.address, range.size);
  for (const CodeRange& range : added) listed()[range.address] = {range.size, range.name};
  std::FILE* file = std::fopen(path().c_str(), rewrite ? "w" : "a");
  if (file == nullptr) return;
  if (rewrite) {
    for (const auto& [address, range] : listed()) write_line(file, address, range);
  } else {
    for (const CodeRange& range : added) write_line(file, range.address, listed()[range.address]);
  }
  std::fclose(file);
}

}  // namespace trilith::jit
