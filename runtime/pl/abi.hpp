// runtime/pl/abi.hpp -- kernel ABI v1: how Trilith calls compiled, cached and external kernels.
//
//   extern "C" std::int32_t k(const pl::abi::Args* args, const pl::abi::Services* services);
//
// Returns 0, or the FaultCode it reported through `services->fault`. A kernel object has no undefined symbol
// but memcpy, memmove, memset and memcmp. This header is also what emitted code and hand-written external
// kernels include: it needs <cstdint> alone and stays freestanding.
#pragma once

#include <cstdint>

namespace pl::abi {

inline constexpr std::uint32_t version = 1;

/// A tensor argument. Extents and strides count elements, one per axis, outermost first.
/// Zero and negative strides are allowed for inputs only.
struct Tensor {
  void* data;
  const std::int64_t* extents;
  const std::int64_t* strides;
};

/// Tensors in the order of the kernel's tensor parameters; scalars in the order of its scalar parameters
/// followed by its captures, each in an 8-byte slot whose first bytes are the value (little end first).
struct Args {
  const Tensor* tensors;
  const std::uint64_t* scalars;
  std::int64_t block_index;  ///< of `pl::spmd`: 0
  std::int64_t block_count;  ///< 1
};

enum FaultCode : std::int32_t {
  fault_none = 0,
  fault_range = 1,          ///< a load or store outside its tensor
  fault_shape = 2,          ///< two run-time extents that must agree do not
  fault_out_of_memory = 3,  ///< no scratch memory
  fault_index = 4,          ///< an element outside its array; an index of a gather, read, ... out of range
  fault_step = 5,           ///< a loop whose step is 0
};

/// What a kernel reports: the user's source place and the numbers that did not fit.
struct Fault {
  FaultCode code;
  std::uint32_t line;
  std::uint32_t column;
  const char* file;
  const char* what;  ///< what was checked: the operation and the axis ("load 0")
  std::int64_t given;
  std::int64_t expected;
  std::int64_t length;  ///< fault_range: of the region that begins at `given`
};

/// Host services. `size` grows with the version: a kernel never reads past what it was built for.
struct Services {
  std::uint32_t version;
  std::uint32_t size;
  void* context;
  /// Records the fault; the kernel returns its code right after.
  void (*fault)(void* context, const Fault* fault);
  /// Scratch memory of at least `bytes`, aligned to 64, valid until the kernel returns; null: none left.
  /// Each call gives a new block.
  void* (*scratch)(void* context, std::uint64_t bytes);
  /// `pl::print`: a dense row-major tile (a scalar where `extents` is null) of Trilith dtype number `dtype`.
  void (*print)(void* context, const char* name, std::int32_t dtype, std::int32_t rank,
                const std::int64_t* extents, const void* data);
};

using Entry = std::int32_t (*)(const Args* args, const Services* services);

}  // namespace pl::abi
