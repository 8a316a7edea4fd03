// DataCopy and DataCopyPad: which way a copy takes and on which pipe, its rows, and what they must be aligned to.
#include <cstring>

#include "codegen/half.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

using AscendC::model::AtomicMode;
using AscendC::model::CopyKind;
using AscendC::model::CopyRequest;
using AscendC::model::Dtype;

constexpr std::uint64_t block = 32;
constexpr std::int64_t most_blocks = 4095, most_bytes = 2'097'151;

/// A contiguous piece of a copy: offsets in bytes from the start of both tensors.
struct Row {
  std::uint64_t dst, src, bytes;
};

/// Which pipe copies from one memory to the other.
std::uint8_t pipe_of(Core& core, const char* name, const CopyRequest& request) {
  const Space from = space_of(request.src.position), to = space_of(request.dst.position);
  const bool chip_only = request.kind != CopyKind::Nd2Nz && request.kind != CopyKind::Pad;
  if (from == Space::Gm && to == Space::Ub && request.kind != CopyKind::Nd2Nz) return PIPE_MTE2;
  if (from == Space::Gm && to == Space::L1 && request.kind != CopyKind::Pad) return PIPE_MTE2;
  if (from == Space::Ub && to == Space::Gm && request.kind != CopyKind::Nd2Nz) return PIPE_MTE3;
  if (from == Space::Ub && to == Space::Ub && chip_only) return PIPE_V;
  if (from == Space::L1 && to == Space::BiasTable && chip_only) return PIPE_MTE1;
  if (from == Space::L1 && to == Space::FixpipeBuffer && chip_only) return PIPE_FIX;
  core.fault(request.line,
             text(name, ": there is no path from ", position_name(request.src.position), " to ",
                  position_name(request.dst.position), request.kind == CopyKind::Nd2Nz ? " as NZ" : ""));
}

void check_limits(const Operation& operation, const CopyRequest& request) {
  const auto limit = [&](const char* what, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most) operation.fault(text(what, " is ", value, ": 1 to ", most));
  };
  if (request.kind == CopyKind::Blocks || request.kind == CopyKind::Pad) {
    limit("blockCount", request.blocks, most_blocks);
    limit("blockLen", request.length, request.kind == CopyKind::Pad ? most_bytes : 65535);
  }
  if (request.kind == CopyKind::Nd2Nz) {
    limit("nValue", request.rows, 16384);
    limit("dValue", request.columns, 65535);
    limit("ndNum", request.matrices, 4095);
    limit("dstNzC0Stride", request.dst_column, 16384);
    limit("dstNzNStride", request.dst_row, 16384);
    if (request.src_row < request.columns)
      operation.fault(text("srcDValue ", request.src_row, " is less than dValue ", request.columns));
  }
}

/// The pieces of a copy, in bytes.
std::vector<Row> rows_of(const Operation& operation, const CopyRequest& request, std::uint64_t size,
                         bool to_chip) {
  std::vector<Row> rows;
  const auto append = [&](Row row) {
    if (!rows.empty() && rows.back().dst + rows.back().bytes == row.dst &&
        rows.back().src + rows.back().bytes == row.src)
      rows.back().bytes += row.bytes;
    else
      rows.push_back(row);
  };
  const auto count = static_cast<std::uint64_t>(request.blocks),
             length = static_cast<std::uint64_t>(request.length);
  const auto src_stride = static_cast<std::uint64_t>(request.src_stride),
             dst_stride = static_cast<std::uint64_t>(request.dst_stride);
  switch (request.kind) {
    case CopyKind::Count: {
      if (request.count < 0) operation.fault(text("a count of ", request.count));
      const std::uint64_t bytes = static_cast<std::uint64_t>(request.count) * size;
      if (bytes % block != 0)
        operation.fault(text(request.count, " elements are ", bytes,
                             " bytes, no multiple of 32: the rest is silently not copied; DataCopyPad"));
      if (bytes != 0) append({0, 0, bytes});
      break;
    }
    case CopyKind::Blocks:
      for (std::uint64_t i = 0; i < count; ++i)
        append({i * (length + dst_stride) * block, i * (length + src_stride) * block, length * block});
      break;
    case CopyKind::Pad: {
      const std::uint64_t left = to_chip ? static_cast<std::uint64_t>(request.left) * size : 0;
      const std::uint64_t right = to_chip ? static_cast<std::uint64_t>(request.right) * size : 0;
      if (left > block || right > block)
        operation.fault(
            text("padding of ", request.left, " and ", request.right, " elements is more than 32 bytes"));
      const std::uint64_t on_chip = (left + length + right + block - 1) / block * block;
      for (std::uint64_t i = 0; i < count; ++i) {
        if (to_chip)
          rows.push_back({i * (on_chip + dst_stride * block) + left, i * (length + src_stride), length});
        else
          append({i * (length + dst_stride), i * (on_chip + src_stride * block), length});
      }
      break;
    }
    case CopyKind::Nd2Nz: {
      const std::uint64_t in_block = block / size, columns = static_cast<std::uint64_t>(request.columns);
      for (std::int64_t matrix = 0; matrix < request.matrices; ++matrix)
        for (std::uint64_t column = 0; column < columns; column += in_block)
          for (std::int64_t row = 0; row < request.rows; ++row)
            rows.push_back(
                {static_cast<std::uint64_t>(matrix * request.dst_matrix_stride) * size +
                     (column / in_block * static_cast<std::uint64_t>(request.dst_column) +
                      static_cast<std::uint64_t>(row * request.dst_row)) *
                         block,
                 (static_cast<std::uint64_t>(matrix * request.src_matrix_stride + row * request.src_row) +
                  column) *
                     size,
                 std::min(in_block, columns - column) * size});
      break;
    }
  }
  return rows;
}

/// Appends a range, as one with the last where they touch.
void add_range(std::vector<Range>& ranges, Range range) {
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

void check_scratch(const Operation& operation, Range range) {
  GlobalMemory& gm = operation.core().run().gm();
  if (!gm.find(range.begin, range.end - range.begin)->scratch) return;
  if (const auto byte = gm.accesses().unwritten(range))
    operation.fault(text("reads GM that nothing has written: ", gm.describe(*byte)));
}

void load_rows(Operation& operation, const CopyRequest& request, const std::vector<Row>& rows,
               std::uint64_t size) {
  Memory& memory = operation.memory(request.dst);
  const auto left = static_cast<std::uint64_t>(request.left) * size,
             right = static_cast<std::uint64_t>(request.right) * size;
  const auto whole = [&](const Row& row) {  // the blocks that a row fills
    const std::uint64_t begin = row.dst - left;
    return Range{begin, begin + (left + row.bytes + right + block - 1) / block * block};
  };
  std::vector<Range> written, read;
  for (const Row& row : rows) {
    const Range blocks = whole(row);
    const std::uint64_t at =
        operation.place(request.dst, blocks.begin, blocks.end - blocks.begin, block, true);
    add_range(written, {at, at + (blocks.end - blocks.begin)});
    const std::uint64_t from =
        operation.global(request.src, static_cast<std::int64_t>(row.src), row.bytes, false);
    add_range(read, {from, from + row.bytes});
  }
  for (const Range& range : read) check_scratch(operation, range);
  for (const Range& range : read) operation.reads_global(range);
  for (const Range& range : written) operation.writes(memory, range);
  operation.start();
  for (const Row& row : rows) {
    const Range blocks = whole(row);
    // What no element and no padding fills is unspecified.
    memory.poison({request.dst.address + blocks.begin, request.dst.address + blocks.end});
    const std::uint64_t at = request.dst.address + row.dst;
    std::memcpy(memory.data(at), reinterpret_cast<const std::byte*>(request.src.address + row.src),
                row.bytes);
    memory.mark_valid({at, at + row.bytes});
    if (!request.padded) continue;
    const auto pad = [&](std::uint64_t begin, std::uint64_t bytes) {
      for (std::uint64_t i = 0; i < bytes; i += size)
        std::memcpy(memory.data(begin + i), &request.value, size);
      memory.mark_valid({begin, begin + bytes});
    };
    pad(at - left, left);
    pad(at + row.bytes, right);
  }
}

/// A store of 4 bytes to a cell of a window; false: the store comes now.
bool changes_signal(const Operation& operation, const CopyRequest& request, Memory& from, const Row& row) {
  const AtomicMode mode = operation.core().atomic.mode;
  if (mode != AtomicMode::None && (mode != AtomicMode::Add || request.dst.dtype != Dtype::I32)) return false;
  std::int32_t value = 0;
  std::memcpy(&value, from.data(request.src.address + row.src), sizeof value);
  return operation.core().run().signals(operation.core(), request.dst.address + row.dst, value,
                                        mode == AtomicMode::Add, request.line);
}

void store_rows(Operation& operation, const CopyRequest& request, const std::vector<Row>& rows) {
  Memory& memory = operation.memory(request.src);
  std::vector<Range> written, read;
  for (const Row& row : rows) {
    const std::uint64_t from = operation.place(request.src, row.src, row.bytes, 1, false);
    if (request.src.address % block != 0)
      operation.fault(text("reads from byte ", request.src.address, " of UB, which is not a multiple of 32"));
    add_range(read, {from, from + row.bytes});
    const std::uint64_t to =
        operation.global(request.dst, static_cast<std::int64_t>(row.dst), row.bytes, true);
    add_range(written, {to, to + row.bytes});
    if (!memory.all_valid({from, from + row.bytes})) {
      std::uint64_t at = 0;
      while (*memory.valid(from + at) == 0xff) ++at;
      operation.fault(text("stores to GM what nothing has written: byte ", row.src + at, " of the tensor in ",
                           position_name(request.src.position),
                           " is uninitialised, or computed from such a byte"));
    }
  }
  for (const Range& range : read) operation.reads(memory, range);
  for (const Range& range : written) operation.writes_global(range);
  operation.start(atomic_kind(operation, request.dst.dtype));
  for (const Row& row : rows) {
    const bool may_signal = row.bytes == sizeof(std::int32_t);
    if (!may_signal || !changes_signal(operation, request, memory, row))
      store_global(operation, request.dst.address + row.dst, memory.data(request.src.address + row.src),
                   row.bytes, request.dst.dtype);
    if (may_signal)
      operation.core().run().signalled(operation.core(), request.dst.address + row.dst, request.line);
  }
}

void move_rows(Operation& operation, const CopyRequest& request, const std::vector<Row>& rows) {
  Memory &from = operation.memory(request.src), &to = operation.memory(request.dst);
  bool anything = rows.empty();
  for (const Row& row : rows) {
    const std::uint64_t src = operation.place(request.src, row.src, row.bytes, block, false);
    const std::uint64_t dst = operation.place(request.dst, row.dst, row.bytes, block, true);
    if (&from == &to && src < dst + row.bytes && dst < src + row.bytes)
      operation.fault("source and destination overlap");
    anything = anything || from.any_valid({src, src + row.bytes});
    operation.reads(from, {src, src + row.bytes});
    operation.writes(to, {dst, dst + row.bytes});
  }
  if (!anything) operation.fault("copies memory that nothing has written");
  operation.start();
  for (const Row& row : rows) {
    std::memcpy(to.data(request.dst.address + row.dst), from.data(request.src.address + row.src), row.bytes);
    std::memcpy(to.valid(request.dst.address + row.dst), from.valid(request.src.address + row.src),
                row.bytes);
  }
}

template <class T>
T combined(AtomicMode mode, T old, T value) {
  if (mode == AtomicMode::Max) return old < value ? value : old;
  if (mode == AtomicMode::Min) return value < old ? value : old;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                          static_cast<std::make_unsigned_t<T>>(value));
  else
    return static_cast<T>(old + value);
}

template <class T>
void combine(AtomicMode mode, std::byte* to, const std::byte* data, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(T)) {
    // Other launches add to the same window at the same time: a compare-and-exchange, where the place allows it.
    T value, old;
    std::memcpy(&value, data + at, sizeof(T));
    std::memcpy(&old, to + at, sizeof(T));
    if (reinterpret_cast<std::uintptr_t>(to + at) % sizeof(T) != 0) {
      const T result = combined(mode, old, value);
      std::memcpy(to + at, &result, sizeof(T));
      continue;
    }
    auto* const place = reinterpret_cast<T*>(to + at);
    T result;
    do result = combined(mode, old, value);
    while (!__atomic_compare_exchange(place, &old, &result, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  }
}

}  // namespace

std::uint8_t atomic_kind(const Operation& operation, Dtype dtype) {
  const Core::Atomic& atomic = operation.core().atomic;
  if (atomic.mode == AtomicMode::None) return 0;
  if (atomic.dtype != dtype)
    operation.fault(
        text("a store of ", name_of(dtype), " while atomic stores are of ", name_of(atomic.dtype)));
  return static_cast<std::uint8_t>(static_cast<unsigned>(atomic.mode) * 16 + static_cast<unsigned>(dtype));
}

void store_global(const Operation& operation, std::uint64_t address, const std::byte* data,
                  std::uint64_t bytes, Dtype dtype) {
  auto* const to = reinterpret_cast<std::byte*>(address);
  const AtomicMode mode = operation.core().atomic.mode;
  if (mode == AtomicMode::None) {
    // A cell of a window is seen whole by those who wait for it.
    if (bytes == 4 && address % 4 == 0) {
      std::uint32_t word = 0;
      std::memcpy(&word, data, 4);
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(to), word, __ATOMIC_RELEASE);
    } else {
      std::memcpy(to, data, bytes);
    }
    return;
  }
  switch (dtype) {
    case Dtype::F32: return combine<float>(mode, to, data, bytes);
    case Dtype::F16: return combine<pl::half>(mode, to, data, bytes);
    case Dtype::BF16: return combine<pl::bfloat16>(mode, to, data, bytes);
    case Dtype::I32: return combine<std::int32_t>(mode, to, data, bytes);
    case Dtype::I16: return combine<std::int16_t>(mode, to, data, bytes);
    case Dtype::I8: return combine<std::int8_t>(mode, to, data, bytes);
    default: operation.fault(text("there are no atomic stores of ", name_of(dtype)));
  }
}

void copy(Core& core, const CopyRequest& request) {
  const char* const name = request.kind == CopyKind::Pad ? "DataCopyPad" : "DataCopy";
  Operation operation(core, pipe_of(core, name, request), name, request.line);
  check_limits(operation, request);
  const bool to_chip = request.dst.position != 0, from_chip = request.src.position != 0;
  const std::vector<Row> rows = rows_of(operation, request, size_of(request.dst.dtype), to_chip);
  if (rows.empty()) return;
  if (to_chip && from_chip)
    move_rows(operation, request, rows);
  else if (to_chip)
    load_rows(operation, request, rows, size_of(request.dst.dtype));
  else
    store_rows(operation, request, rows);
}

}  // namespace trilith::model
