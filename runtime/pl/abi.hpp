// runtime/pl/abi.hpp -- kernel ABI v3: how Trilith calls compiled, cached and external kernels.
//
//   extern "C" std::int32_t k(const pl::abi::Args* args, const pl::abi::Services* services);
//
// Returns 0, or the FaultCode it reported through `services->fault`. A kernel object has no undefined symbol
// but memcpy, memmove, memset and memcmp. This header is also what emitted code and hand-written external
// kernels include: it needs <cstdint> alone and stays freestanding.
#pragma once

#include <cstdint>

namespace pl::abi {

inline constexpr std::uint32_t version = 3;

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
  fault_remote = 6,         ///< `Services::remote` failed or the program has stopped; it keeps the reason
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

/// What a kernel asks of the windows that ranks share (pl/remote.hpp says what each means to a user).
enum RemoteOperation : std::int32_t {
  remote_rank,    ///< value: the number of this rank among those that share the window
  remote_size,    ///< value: how many ranks share it
  remote_load,    ///< data = the peer's region of `shape` at `offsets`
  remote_store,   ///< the peer's region = data; mode 1: += data
  remote_put,     ///< the peer's region = region of `other` of this rank at `other_offsets`; mode 1: +=
  remote_get,     ///< region of `other` at `other_offsets` = the peer's region
  remote_notify,  ///< the peer's cell at `offsets` = value (mode 0), or += value (mode 1)
  remote_wait,    ///< until this rank's cell at `offsets` is == value (mode 0) or >= value (mode 1)
  remote_fence,   ///< orders what this rank wrote before; window -1
  // Collectives of all ranks that share the window.
  remote_barrier,
  remote_allreduce,       ///< mode: reduce operation + 4 * algorithm
  remote_broadcast,       ///< peer: the root
  remote_allgather,       ///< row `rank` of the window goes to all
  remote_reduce_scatter,  ///< row `rank` = the sum over all ranks of their row of that number; mode as allreduce
  remote_all_to_all,      ///< row j of rank i and row i of rank j change places
  // Of kernels since emitter version 8.
  remote_all_to_all_v,  ///< the same, of each row as many items as `counts` say
  remote_reduce,        ///< the part of `peer` = the reduction of all; mode as allreduce
  remote_scatter,       ///< row `rank` = that row of `peer`
  remote_gather,        ///< row `rank` goes to `peer`
  remote_send_recv,     ///< the part of rank `to` = that of `peer`
  // Every kernel, since emitter version 7.
  remote_defer_wait,  ///< the kernel's block is not done before this rank's cell at `offsets` is >= value
  // Code for checked runs only. `value` not 0: of so many single elements, each `other_offsets` behind the one before.
  remote_access,  ///< the kernel's own code is about to touch this rank's region of `shape` at `offsets`; mode: AccessMode
};

/// What the kernel's source calls an access to its own part of a window.
enum AccessMode : std::int32_t {
  access_load,
  access_store,
  access_add,  ///< a store that adds
  access_read,
  access_write,
  access_gather_row,
  access_paged_gather,
};

/// A region of a window of int32, one cell for each rank, that a collective uses beside its data.
struct Cells {
  std::int32_t window;  ///< number of the tensor argument
  std::int32_t rank;    ///< axes of it, `offsets` and `shape`
  const std::int64_t* offsets;
  const std::int64_t* shape;
};

/// One such request, valid during the call. Offsets and shape count elements, one per axis of the window; the region
/// of a collective is given, too.
struct Remote {
  RemoteOperation operation;
  std::int32_t window;  ///< number of the tensor argument that is the window
  std::int32_t other;   ///< number of the other tensor argument, or -1
  std::int32_t mode;
  std::int32_t rank;  ///< axes of the window, `offsets` and `shape`
  std::int32_t
      other_rank;  ///< axes of `other` and `other_offsets`; their last axes are those of `shape`, whose
                   ///< first are 1 where `other` has fewer; where it has more, it is 1 element long there
  std::int64_t peer;
  const std::int64_t* offsets;
  const std::int64_t* other_offsets;
  const std::int64_t* shape;
  void* data;  ///< a dense tile of `shape`
  /// Given, or the answer. Collectives: how many leading axes of the window are dropped (extent 1): rows are
  /// counted along the axis behind them.
  std::int64_t value;
  std::uint32_t line;
  std::uint32_t column;
  const char* file;
  // Since version 3.
  std::int64_t to;      ///< remote_send_recv: the rank that receives
  const Cells* counts;  ///< remote_all_to_all_v: items for each rank, afterwards from each rank
  const Cells* signal;  ///< collectives: the user's cells for their signals; null: Trilith's own
};

struct Services;

/// Rounds [first, last) of a loop whose rounds are independent, with services for the calling thread. `frame` is what the
/// rounds share. Returns as a kernel does.
using Rounds = std::int32_t (*)(const void* frame, const Services* services, std::int64_t first,
                                std::int64_t last);

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
  /// Does what `request` says, waiting where it must. 0, or a code that the kernel returns right after. Since
  /// version 2.
  std::int32_t (*remote)(void* context, Remote* request);
  /// The CPU model of the AscendC interface, for code emitted for platform a2a3model; null elsewhere. Since version 3.
  const void* model;
  /// Runs all of [0, count), in parts, on one thread or several; returns when they are done. 0, or the code of the first
  /// round that failed; those behind it may have run or not. Since version 3.
  std::int32_t (*rounds)(void* context, std::int64_t count, const void* frame, Rounds run);
};

using Entry = std::int32_t (*)(const Args* args, const Services* services);

}  // namespace pl::abi
