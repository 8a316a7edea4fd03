// runtime/windows/remote_call.hpp -- one request of a kernel to its windows, compiled or native, and who answers it.
#pragma once

#include "codegen/value.hpp"
#include "pl/abi.hpp"
#include "pl/tensor.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/reduce_lines.hpp"
#include "runtime/windows/wait_monitor.hpp"
#include "runtime/windows/window_memory.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace pl::detail {

/// As abi::Remote, with views for the numbers of tensor arguments.
struct RemoteCall {
  explicit RemoteCall(abi::RemoteOperation operation_) : operation(operation_) {}
  abi::RemoteOperation operation;
  const ViewRef* window = nullptr;
  const ViewRef* other = nullptr;
  const ViewRef* signal = nullptr;  ///< of a collective: the user's cells
  std::int32_t mode = 0;
  std::int64_t peer = 0;
  std::span<const std::int64_t> offsets, other_offsets, shape;
  void* data = nullptr;
  std::int64_t value = 0;  ///< given, or the answer; of a collective: the leading axes that the view dropped
  Place where;
  // Of a reduction: `mode` is its operation + 4 * pld::Algorithm.
  [[nodiscard]] ReduceOperation reduction() const { return static_cast<ReduceOperation>(mode % 4); }
  [[nodiscard]] bool reduces_by_ring() const { return mode / 4 == 2; }
};

/// Does it, waiting where it must. Throws CommError, ShapeError, DtypeError at the request's place, or Stopped.
void perform(RemoteCall& call);

/// The part of `whole` that a request names, with `shape` as its extents. Throws ShapeError where it is not inside.
[[nodiscard]] ViewRef region_of(const ViewRef& whole, std::span<const std::int64_t> offsets,
                                std::span<const std::int64_t> shape, const RemoteCall& call);

/// What code for a checked run is about to load from its own part or to store there, as the native operations say it of
/// themselves.
void note_own_access(const ViewRef& window, const abi::Remote& request);

/// For tests: an operation of a checked run that must not happen, as if it were not in the program; null: none.
using LeaveOut = bool (*)(const RemoteCall& call);
[[nodiscard]] LeaveOut& leave_out_for_tests();

/// The waits that a kernel's block leaves for its end: the block runs while this is in scope on its thread.
class DeferredWaits {
 public:
  DeferredWaits() { thread_state().deferred_waits = &waits_; }
  ~DeferredWaits() { thread_state().deferred_waits = nullptr; }
  DeferredWaits(const DeferredWaits&) = delete;
  DeferredWaits& operator=(const DeferredWaits&) = delete;
  /// Returns when all cells have their values; throws as `perform`.
  void wait();

 private:
  std::vector<CellWait> waits_;
};

/// The collectives of `perform`.
void perform_collective(const RemoteCall& call);

/// "pld::notify", …
[[nodiscard]] const char* name_of(abi::RemoteOperation operation);

}  // namespace pl::detail
