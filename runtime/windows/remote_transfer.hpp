// runtime/windows/remote_transfer.hpp -- moves elements between this rank's memory and a part of a window, wherever
// that part lies.
#pragma once

#include "codegen/dtype.hpp"
#include "pl/error.hpp"
#include "runtime/windows/window_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace pl::detail {

/// One side of a transfer.
struct Side {
  char* data;
  std::span<const std::int64_t> strides;
};

/// In the memory of this process.
void transfer(const Side& to, const Side& from, std::span<const std::int64_t> shape,
              trilith::codegen::DType dtype, bool add, const Place& where);
/// To a peer's part, or from it.
void transfer_to(const WindowPart& peer, const Side& to, const Side& from,
                 std::span<const std::int64_t> shape, trilith::codegen::DType dtype, bool add,
                 const Place& where);
void transfer_from(const WindowPart& peer, const Side& to, const Side& from,
                   std::span<const std::int64_t> shape, trilith::codegen::DType dtype);

/// Bytes at an address of the part.
void read_bytes(const WindowPart& part, const char* at, void* to, std::size_t bytes);
void write_bytes(const WindowPart& part, char* at, const void* from, std::size_t bytes);

}  // namespace pl::detail
