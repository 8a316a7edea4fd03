// runtime/mpi/calls.hpp -- what Trilith asks of MPI: libtrilith-mpi.so fills this table.
//
// That library alone sees MPI's header and is opened at the first program on transport mpi: Trilith itself links no MPI.
// All functions are called on one thread, the one that called `start`. Those that can fail return null, or why not
// (valid until the next call).
#pragma once

#include <cstdint>

namespace pl::detail {

/// A box of elements in a window at its target.
struct MpiRegion {
  std::int64_t displacement;  ///< of the first element, in bytes
  int axes;
  const std::int64_t* shape;
  const std::int64_t* strides;  ///< in elements
  std::int64_t element_bytes;
};

struct MpiCalls {
  const char* (*start)(int* rank, int* size);
  /// Every process calls it; afterwards nothing else may be called.
  void (*finish)();
  /// Keeps a copy until it is delivered. Messages from one process to another arrive in order.
  const char* (*send)(int to, const void* data, std::int64_t bytes);
  /// Bytes of the next message and who sent it; -1: there is none. Also lets MPI go on with everything else.
  std::int64_t (*probe)(int* from);
  const char* (*receive)(int from, void* data, std::int64_t bytes);
  /// Every process calls it.
  const char* (*broadcast)(int root, void* data, std::int64_t bytes);
  /// Every process calls it; numbers count from 0.
  const char* (*create_window)(void* base, std::int64_t bytes);
  /// On return `dense` may be changed; the target has the data after `flush`.
  const char* (*put)(int window, int rank, const MpiRegion* to, const void* dense);
  /// On return the data are there.
  const char* (*get)(int window, int rank, const MpiRegion* from, void* dense);
  /// Changes a cell at once for all who do the same; delivered on return. `before`: what it was.
  const char* (*signal)(int window, int rank, std::int64_t displacement, std::int32_t value, bool add,
                        std::int32_t* before);
  const char* (*flush)(int window, int rank);
};

/// What libtrilith-mpi.so exports.
using MpiCallsFunction = const MpiCalls* (*)();
inline constexpr const char* mpi_calls_function = "trilith_mpi_calls";

}  // namespace pl::detail
