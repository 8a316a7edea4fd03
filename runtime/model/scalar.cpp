// Scalar access: GetValue and SetValue on pipe S, in UB at once, in GM through a cache of 64-byte lines for each core that
// nobody keeps coherent.
#include <cstring>

#include "runtime/model/functions.hpp"
#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

using AscendC::model::Region;
using AscendC::model::Span;

std::uint64_t bits_at(const std::byte* place, std::uint64_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, place, size);
  return bits;
}

/// An aligned scalar in GM, whole, as others that run see it.
std::uint64_t load_scalar(std::uint64_t address, std::uint64_t size) {
  switch (size) {
    case 1: return __atomic_load_n(reinterpret_cast<const std::uint8_t*>(address), __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n(reinterpret_cast<const std::uint16_t*>(address), __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address), __ATOMIC_ACQUIRE);
    default: return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_ACQUIRE);
  }
}
void store_scalar(std::uint64_t address, std::uint64_t size, std::uint64_t value) {
  switch (size) {
    case 1:
      return __atomic_store_n(reinterpret_cast<std::uint8_t*>(address), static_cast<std::uint8_t>(value),
                              __ATOMIC_RELEASE);
    case 2:
      return __atomic_store_n(reinterpret_cast<std::uint16_t*>(address), static_cast<std::uint16_t>(value),
                              __ATOMIC_RELEASE);
    case 4:
      return __atomic_store_n(reinterpret_cast<std::uint32_t*>(address), static_cast<std::uint32_t>(value),
                              __ATOMIC_RELEASE);
    default: return __atomic_store_n(reinterpret_cast<std::uint64_t*>(address), value, __ATOMIC_RELEASE);
  }
}

void check_aligned(const Operation& operation, std::uint64_t address, std::uint64_t size) {
  if (address % size != 0)
    operation.fault(text("a scalar of ", size, " bytes of GM at an address that is no multiple of that"));
}

/// The part of a cache line that belongs to the tensors of the launch.
Range within(const Region& region, std::uint64_t line) {
  const auto begin = reinterpret_cast<std::uint64_t>(region.base),
             end = begin + static_cast<std::uint64_t>(region.bytes);
  return {std::max(begin, line), std::min(end, line + cache_line)};
}

Core::Line& cached(Core& core, std::uint64_t line, const Region& region) {
  const auto [entry, is_new] = core.cache.try_emplace(line);
  if (is_new) {
    const Range range = within(region, line);
    for (std::uint64_t at = range.begin; at < range.end;) {
      // A cell is fetched whole.
      const std::uint64_t size = at % 4 == 0 && at + 4 <= range.end ? 4 : 1;
      const std::uint64_t bits = load_scalar(at, size);
      std::memcpy(&entry->second.bytes[at - line], &bits, size);
      at += size;
    }
    entry->second.fetched = core.clock(PIPE_S);
  }
  return entry->second;
}

void check_index(const Operation& operation, std::int64_t index) {
  if (index < 0) operation.fault(text("index ", index));
}

/// Writes the changed bytes of a line back; the rest of it is written by the hardware too, as it was when fetched.
void clean(Core& core, std::uint64_t address, Core::Line& line, std::uint32_t text_line) {
  if (line.dirty == 0) return;
  GlobalMemory& gm = core.run().gm();
  gm.dirty.erase(address);
  Operation operation(core, PIPE_S, "DataCacheCleanAndInvalid", text_line);
  for (std::uint64_t at = 0; at < cache_line; ++at)
    if ((line.dirty >> at & 1) != 0) {
      const Region& region = *gm.find(address + at, 1);
      const Range whole = within(region, address);
      if (const auto lost = gm.accesses().conflict(whole, false, operation.stamp(), line.fetched);
          lost && !region.window && (lost->earlier.core != core.id() || lost->earlier.pipe != PIPE_S))
        operation.fault(text("writes a line of 64 bytes back that ", lost->earlier.name, " of ",
                             core.run().place(lost->earlier.line),
                             " has changed since it was fetched; two writers need lines of their own"));
      std::uint64_t end = at;
      while (end < cache_line && (line.dirty >> end & 1) != 0) ++end;
      operation.writes_global({address + at, address + end});
      at = end;
    }
  operation.start();
  for (std::uint64_t at = 0; at < cache_line; ++at) {
    if ((line.dirty >> at & 1) == 0) continue;
    if (at % 4 == 0 && (line.dirty >> at & 15) == 15) {  // a cell is written whole
      std::uint32_t word = 0;
      std::memcpy(&word, &line.bytes[at], 4);
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(address + at), word, __ATOMIC_RELEASE);
      core.run().signalled(core, address + at, text_line);
      at += 3;
    } else {
      __atomic_store_n(reinterpret_cast<unsigned char*>(address + at),
                       static_cast<unsigned char>(line.bytes[at]), __ATOMIC_RELEASE);
    }
  }
  line.dirty = 0;
}

std::uint64_t get_global(Core& core, const Span& tensor, std::int64_t index, std::uint32_t text_line) {
  Operation operation(core, PIPE_S, "GetValue", text_line);
  check_index(operation, index);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t address =
      operation.global(tensor, index * static_cast<std::int64_t>(size), size, false);
  check_aligned(operation, address, size);
  GlobalMemory& gm = core.run().gm();
  const Region& region = *gm.find(address, size);
  const std::uint64_t start = address / cache_line * cache_line;
  Core::Line& line = cached(core, start, region);
  if (region.scratch && line.dirty == 0)
    if (const auto byte = gm.accesses().unwritten({address, address + size}))
      operation.fault(text("reads GM that nothing has written: ", gm.describe(*byte)));
  if (region.window && ++line.reads > 100'000)
    operation.fault(
        "the core reads the same cached line of a window again and again; DataCacheCleanAndInvalid in the "
        "loop");
  // Ordered now, but not when the line was fetched: the core reads what stood there before.
  const Range range{address, address + size};
  if (const auto stale = gm.accesses().conflict(range, false, operation.stamp(), line.fetched);
      stale && core.clock(PIPE_S).knows(stale->earlier) && !region.window &&
      (stale->earlier.core != core.id() || stale->earlier.pipe != PIPE_S))
    operation.fault(text("reads a line of 64 bytes that the core's cache has held since before ",
                         stale->earlier.name, " of ", core.run().place(stale->earlier.line),
                         " wrote it; DataCacheCleanAndInvalid first"));
  operation.reads_global(range);
  operation.start();
  const std::uint64_t bits = bits_at(&line.bytes[address - start], size);
  if (region.window) core.last_cell = {address, static_cast<std::int32_t>(bits), text_line};
  return bits;
}

void set_global(Core& core, const Span& tensor, std::int64_t index, std::uint64_t value,
                std::uint32_t text_line) {
  Operation operation(core, PIPE_S, "SetValue", text_line);
  check_index(operation, index);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t address = operation.global(tensor, index * static_cast<std::int64_t>(size), size, true);
  check_aligned(operation, address, size);
  GlobalMemory& gm = core.run().gm();
  const std::uint64_t start = address / cache_line * cache_line;
  const auto other = gm.dirty.find(start);
  if (other != gm.dirty.end() && other->second.core != core.number())
    operation.fault(text("two cores write one line of 64 bytes of GM by scalar stores, the other at ",
                         core.run().place(other->second.line)));
  Core::Line& line = cached(core, start, *gm.find(address, size));
  std::memcpy(&line.bytes[address - start], &value, size);
  line.dirty |= ((std::uint64_t{1} << size) - 1) << (address - start);
  line.line = text_line;
  gm.dirty[start] = {core.number(), text_line};
}

}  // namespace

std::uint64_t get_scalar(Core& core, const Span& tensor, std::int64_t index, std::uint32_t text_line) {
  if (tensor.position == 0 && tensor.address != 0) return get_global(core, tensor, index, text_line);
  Operation operation(core, PIPE_S, "GetValue", text_line);
  check_index(operation, index);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t at =
      operation.place(tensor, static_cast<std::uint64_t>(index) * size, size, size, false);
  Memory& memory = operation.memory(tensor);
  if (memory.space() != Space::Ub) operation.fault(text("scalars do not reach ", facts(memory.space()).name));
  operation.reads(memory, {at, at + size});
  operation.start();
  if (!memory.all_valid({at, at + size}))
    operation.fault(text("reads element ", index, ", which is uninitialised, or computed from such a value"));
  return bits_at(memory.data(at), size);
}

void set_scalar(Core& core, const Span& tensor, std::int64_t index, std::uint64_t value,
                std::uint32_t text_line) {
  if (tensor.position == 0 && tensor.address != 0) return set_global(core, tensor, index, value, text_line);
  Operation operation(core, PIPE_S, "SetValue", text_line);
  check_index(operation, index);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t at =
      operation.place(tensor, static_cast<std::uint64_t>(index) * size, size, size, true);
  Memory& memory = operation.memory(tensor);
  if (memory.space() != Space::Ub) operation.fault(text("scalars do not reach ", facts(memory.space()).name));
  operation.writes(memory, {at, at + size});
  operation.start();
  std::memcpy(memory.data(at), &value, size);
  memory.mark_valid({at, at + size});
}

std::uint64_t get_uncached(Core& core, const Span& tensor, std::uint32_t text_line) {
  Operation operation(core, PIPE_S, "ReadGmByPassDCache", text_line);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t address = operation.global(tensor, 0, size, false);
  check_aligned(operation, address, size);
  const bool window = core.run().gm().find(address, size)->window;
  core.run().spin(core, text_line, address, window);
  operation.reads_global({address, address + size});
  operation.start();
  return load_scalar(address, size);
}

void set_uncached(Core& core, const Span& tensor, std::uint64_t value, std::uint32_t text_line) {
  Operation operation(core, PIPE_S, "WriteGmByPassDCache", text_line);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t address = operation.global(tensor, 0, size, true);
  check_aligned(operation, address, size);
  operation.writes_global({address, address + size});
  operation.start();
  store_scalar(address, size, value);
  core.run().signalled(core, address, text_line);
}

void clean_cache(Core& core, const Span& tensor, bool whole, std::uint32_t text_line) {
  if (whole) {
    for (auto& [address, line] : core.cache) clean(core, address, line, text_line);
    core.cache.clear();
    core.run().spin(core, text_line, 0, false);
    return;
  }
  Operation operation(core, PIPE_S, "DataCacheCleanAndInvalid", text_line);
  const std::uint64_t size = size_of(tensor.dtype);
  const std::uint64_t address = operation.global(tensor, 0, size, false);
  const bool window = core.run().gm().find(address, size)->window;
  if (const auto line = core.cache.find(address / cache_line * cache_line); line != core.cache.end()) {
    clean(core, line->first, line->second, text_line);
    core.cache.erase(line);
  }
  core.run().spin(core, text_line, address, window);
}

}  // namespace trilith::model
