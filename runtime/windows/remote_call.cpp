#include "runtime/windows/remote_call.hpp"

#include "codegen/message.hpp"
#include "codegen/reference.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/meeting.hpp"
#include "runtime/windows/remote_memory.hpp"
#include "runtime/windows/remote_transfer.hpp"
#include "runtime/windows/task_watch.hpp"
#include "runtime/windows/traced_call.hpp"
#include "runtime/windows/wait_monitor.hpp"
#include "runtime/written_regions.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <string>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;

constexpr std::array<std::int64_t, max_rank> zeros{};

/// A list of the call, or zeros where it was left out; throws where it has another length than the view.
std::span<const std::int64_t> offsets_or_zeros(std::span<const std::int64_t> given, const ViewRef& view,
                                               const RemoteCall& call) {
  const auto rank = static_cast<std::size_t>(view.rank);
  if (given.empty()) return {zeros.data(), rank};
  if (given.size() != rank)
    throw ShapeError(std::string(name_of(call.operation)) + " with " + std::to_string(given.size()) +
                         " offsets for " + describe(view) + "; give one for each axis",
                     call.where.location());
  return given;
}

/// Throws ShapeError where the region is not inside; gives the address of its first element in bytes.
std::int64_t start_of(const ViewRef& view, std::span<const std::int64_t> offsets,
                      std::span<const std::int64_t> shape, const RemoteCall& call) {
  std::int64_t start = 0;
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    const std::int64_t extent = view.extents[axis];
    if (offsets[axis] < 0 || shape[axis] < 0 || offsets[axis] > extent - shape[axis])
      throw ShapeError(
          codegen::message::region(name_of(call.operation), axis, offsets[axis], shape[axis], extent),
          call.where.location());
    start += offsets[axis] * view.strides[axis];
  }
  return start * static_cast<std::int64_t>(codegen::size_of(view.dtype));
}

const WindowPart& own_part(const RemoteCall& call) {
  const WindowPart* part = call.window->window;
  if (part == nullptr || part->member < 0)
    throw CommError(std::string(name_of(call.operation)) +
                        " on a pld::DistributedTensor that belongs to no rank; windows come from "
                        "pld::window in a host orchestrator and get their rank by a dispatch",
                    call.where.location());
  part->memory->require_alive(name_of(call.operation), call.where);
  return *part;
}

const WindowPart& peer_part(const RemoteCall& call) {
  const WindowPart& own = own_part(call);
  const int size = own.memory->size();
  if (call.peer < 0 || call.peer >= size)
    throw CommError(codegen::message::peer_outside(name_of(call.operation), std::to_string(call.peer),
                                                   std::to_string(size), std::to_string(size - 1)),
                    call.where.location());
  const WindowPart& peer = own.memory->part(static_cast<int>(call.peer));
  await_results(own, peer, call.operation, call.where);
  return peer;
}

/// Where the view's first element lies in the peer's part.
char* at_peer(const RemoteCall& call, const WindowPart& peer) {
  return peer.base + (static_cast<char*>(call.window->data) - own_part(call).base);
}

std::span<const std::int64_t> strides_of(const ViewRef& view) {
  return {view.strides, static_cast<std::size_t>(view.rank)};
}

void note(TaskWatch& watch, WindowAccess::Kind kind, const Side& side, std::span<const std::int64_t> shape,
          const RemoteCall& call) {
  if (Checker* const checker = watch.checker())
    checker->access(
        watch.thread(), kind, name_of(call.operation), call.where,
        {side.data, side.strides, shape, static_cast<std::int64_t>(codegen::size_of(call.window->dtype))});
}

/// A write to a peer, which a seed may do later; the data are taken now.
void transfer_to_peer(const WindowPart& peer, const Side& to, const Side& from,
                      std::span<const std::int64_t> shape, bool add, const RemoteCall& call) {
  const DType dtype = call.window->dtype;
  TaskWatch* const watch = thread_state().watch;
  if (watch == nullptr) return transfer_to(peer, to, from, shape, dtype, add, call.where);
  note(*watch, add ? WindowAccess::Kind::Add : WindowAccess::Kind::Write, to, shape, call);
  if (!watch->schedule().active() || &peer == call.window->window)
    return transfer_to(peer, to, from, shape, dtype, add, call.where);
  struct Write {
    RemoteCall call;
    std::vector<std::int64_t> shape, strides;
    std::array<std::int64_t, max_rank> dense;
    std::vector<char> bytes;
  };
  auto write = std::make_shared<Write>(Write{call,
                                             {shape.begin(), shape.end()},
                                             {to.strides.begin(), to.strides.end()},
                                             dense_strides(shape, std::source_location{}),
                                             {}});
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  write->bytes.resize(static_cast<std::size_t>(elements) * codegen::size_of(dtype));
  const Side held{write->bytes.data(), {write->dense.data(), shape.size()}};
  transfer(held, from, shape, dtype, false, call.where);
  watch->schedule().hold(peer.rank, [write, data = to.data, held, dtype, add] {
    transfer({data, write->strides}, held, write->shape, dtype, add, write->call.where);
  });
}

/// The bytes from the first to behind the last element.
std::pair<const char*, const char*> range_of(const Side& side, std::span<const std::int64_t> shape,
                                             DType dtype) {
  const char *begin = side.data, *end = side.data + codegen::size_of(dtype);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t reach =
        (shape[axis] - 1) * side.strides[axis] * static_cast<std::int64_t>(codegen::size_of(dtype));
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

/// A copy of the elements that are read, where the region that is written may overlap them.
class Apart {
 public:
  Apart(const WindowPart& peer, const Side& to, const Side& from, std::span<const std::int64_t> shape,
        const RemoteCall& call)
      : from_(from) {
    if (peer.far != nullptr || std::ranges::find(shape, 0) != shape.end()) return;
    const DType dtype = call.window->dtype;
    const auto [to_begin, to_end] = range_of(to, shape, dtype);
    const auto [begin, end] = range_of(from, shape, dtype);
    if (to_end <= begin || end <= to_begin) return;
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) elements *= extent;
    bytes_.resize(static_cast<std::size_t>(elements) * codegen::size_of(dtype));
    dense_ = dense_strides(shape, std::source_location{});
    const Side held{bytes_.data(), {dense_.data(), shape.size()}};
    transfer(held, from, shape, dtype, false, call.where);
    from_ = held;
  }
  [[nodiscard]] const Side& from() const { return from_; }

 private:
  Side from_;
  std::vector<char> bytes_;
  std::array<std::int64_t, max_rank> dense_;
};

/// Its own writes to the peer are there when a task reads from it.
void before_read(const WindowPart& peer, const Side& remote, std::span<const std::int64_t> shape,
                 const RemoteCall& call) {
  TaskWatch* const watch = thread_state().watch;
  if (watch == nullptr) return;
  watch->schedule().deliver(peer.rank);
  note(*watch, WindowAccess::Kind::Read, remote, shape, call);
}

void load_or_store(RemoteCall& call) {
  const WindowPart& peer = peer_part(call);
  const ViewRef& window = *call.window;
  const auto offsets = offsets_or_zeros(call.offsets, window, call);
  const std::int64_t start = start_of(window, offsets, call.shape, call);
  const auto dense = dense_strides(call.shape, std::source_location{});
  const Side remote{at_peer(call, peer) + start, strides_of(window)};
  const Side tile{static_cast<char*>(call.data), {dense.data(), call.shape.size()}};
  // The tile may lie in a window, too: compiled code does not copy what is only loaded or only stored.
  if (call.operation == abi::remote_load) {
    before_read(peer, remote, call.shape, call);
    if (call.data == nullptr) return;
    transfer_from(peer, tile, Apart(peer, tile, remote, call.shape, call).from(), call.shape, window.dtype);
  } else {
    transfer_to_peer(peer, remote, Apart(peer, remote, tile, call.shape, call).from(), call.shape,
                     call.mode == 1, call);
  }
}

void put_or_get(RemoteCall& call) {
  const WindowPart& peer = peer_part(call);
  const ViewRef &window = *call.window, &local = *call.other;
  if (window.dtype != local.dtype)
    throw DtypeError(std::string(name_of(call.operation)) + " between " + describe(window) + " and " +
                         describe(local) + "; both must have one dtype",
                     call.where.location());
  // Where ranks differ the last axes are common; the others are of extent 1 (x[i] of a kernel's parameter).
  const auto window_rank = static_cast<std::size_t>(window.rank),
             local_rank = static_cast<std::size_t>(local.rank);
  const std::size_t common = std::min(window_rank, local_rank);
  std::array<std::int64_t, max_rank> shapes[2];
  const auto extend = [&](std::span<const std::int64_t> given, std::size_t rank, auto& into) {
    into.fill(1);
    for (std::size_t i = 0; i < std::min(given.size(), rank); ++i)
      into[rank - 1 - i] = given[given.size() - 1 - i];
    return std::span<const std::int64_t>(into.data(), rank);
  };
  const std::span<const std::int64_t> given =
      call.shape.empty() ? std::span(local.extents, local_rank) : call.shape;
  if (!call.shape.empty() && given.size() != window_rank)
    throw ShapeError(std::string(name_of(call.operation)) + " with a shape of " +
                         std::to_string(given.size()) + " extents for " + describe(window) +
                         "; give one for each axis",
                     call.where.location());
  const auto shape = extend(given, window_rank, shapes[0]);
  const auto local_shape = extend(given, local_rank, shapes[1]);
  for (std::size_t i = 0; i + common < given.size(); ++i)
    if (given[i] != 1)
      throw ShapeError(std::string(name_of(call.operation)) + " between " + describe(window) + " and " +
                           describe(local) + "; both must have one rank: take a part with x[i]",
                       call.where.location());
  const auto offsets = offsets_or_zeros(call.offsets, window, call);
  const auto local_offsets = offsets_or_zeros(call.other_offsets, local, call);
  const Side remote{at_peer(call, peer) + start_of(window, offsets, shape, call),
                    strides_of(window).last(common)};
  const Side own{static_cast<char*>(local.data) + start_of(local, local_offsets, local_shape, call),
                 strides_of(local).last(common)};
  const auto both = shape.last(common);
  TaskWatch* const watch = thread_state().watch;
  if (call.operation == abi::remote_put) {
    if (watch != nullptr) note(*watch, WindowAccess::Kind::Read, own, both, call);
    transfer_to_peer(peer, remote, Apart(peer, remote, own, both, call).from(), both, call.mode == 1, call);
  } else {
    before_read(peer, remote, both, call);
    note_written(local);
    if (watch != nullptr) note(*watch, WindowAccess::Kind::Write, own, both, call);
    transfer_from(peer, own, Apart(peer, own, remote, both, call).from(), both, window.dtype);
  }
}

std::int32_t as_cell(std::int64_t value, const RemoteCall& call) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    throw CommError(std::string(name_of(call.operation)) + ": the value " + std::to_string(value) +
                        " does not fit a signal cell, which is an int32",
                    call.where.location());
  return static_cast<std::int32_t>(value);
}

/// The number of the cell in elements from the start of the part.
std::int64_t cell_of(RemoteCall& call) {
  const ViewRef& window = *call.window;
  if (window.dtype != DType::Int32)
    throw DtypeError(std::string(name_of(call.operation)) + " on " + describe(window) +
                         "; signal cells are int32: use a window of std::int32_t",
                     call.where.location());
  static constexpr std::array<std::int64_t, max_rank> ones{1, 1, 1, 1, 1, 1, 1, 1};
  const auto offsets = offsets_or_zeros(call.offsets, window, call);
  const std::int64_t start = start_of(window, offsets, {ones.data(), offsets.size()}, call);
  return (static_cast<char*>(window.data) - own_part(call).base + start) /
         static_cast<std::int64_t>(sizeof(std::int32_t));
}

void notify_peer(RemoteCall& call) {
  const WindowPart& peer = peer_part(call);
  const std::int64_t index = cell_of(call);
  const std::int32_t value = as_cell(call.value, call);
  LastWriter& last =
      peer.state->last_writers[static_cast<std::size_t>(index) % peer.state->last_writers.size()];
  last.rank.store(own_part(call).rank, std::memory_order_relaxed);
  last.file.store(call.where.file, std::memory_order_relaxed);
  last.line.store(call.where.line, std::memory_order_relaxed);
  if (peer.memory->remote() != nullptr)
    last.time.store(std::chrono::system_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  last.cell.store(index, std::memory_order_relaxed);
  auto* cell = reinterpret_cast<std::int32_t*>(peer.base) + index;
  if (TaskWatch* const watch = thread_state().watch) {
    watch->schedule().deliver(peer.rank);
    if (Checker* const checker = watch->checker()) {
      checker->publish(watch->thread(), peer.rank);
      checker->change(watch->thread(), peer, cell, index, call.mode == 0, value, name_of(call.operation),
                      call.where);
      return;
    }
  }
  if (call.mode == 0)
    WaitMonitor::set(peer, cell, value);
  else
    WaitMonitor::add(peer, cell, value);
}

CellWait wait_of(RemoteCall& call) {
  const WindowPart& own = own_part(call);
  const std::int64_t index = cell_of(call);
  return {&own,
          reinterpret_cast<std::int32_t*>(own.base) + index,
          index,
          as_cell(call.value, call),
          call.mode == 1 || call.operation == abi::remote_defer_wait,
          false,
          call.operation,
          call.where};
}

void wait_for(const CellWait& wait) {
  TaskWatch* const watch = thread_state().watch;
  Checker* const checker = watch != nullptr ? watch->checker() : nullptr;
  if (watch != nullptr) watch->flush();
  if (checker != nullptr) checker->will_wait(watch->thread(), wait);
  wait.part->memory->monitor().wait(wait);
  if (checker != nullptr) checker->waited(watch->thread(), wait);
}

/// Once for each cell, however often the kernel has asked.
void defer(const CellWait& wait) {
  std::vector<CellWait>& waits = *thread_state().deferred_waits;
  const auto earlier = std::ranges::find(waits, wait.cell, &CellWait::cell);
  if (earlier == waits.end())
    waits.push_back(wait);
  else if (earlier->expected < wait.expected)
    *earlier = wait;
}

/// `fences`: nothing else will order them against later reads of this task.
void order_all_writes(bool fences) {
  TaskWatch* const watch = thread_state().watch;
  // Before the fence, or the processor may still hold back what a seed has held back.
  if (watch != nullptr) watch->schedule().deliver(-1);
  if (fences) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (RemoteMemory* const remote = RemoteMemory::in_use()) [[unlikely]]
    remote->fence();
  if (watch == nullptr) return;
  if (Checker* const checker = watch->checker()) checker->publish(watch->thread(), -1);
}

/// A collective of the part of the window that the call names: a slice, or x[i], whose dropped axes are of extent 1.
void run_collective(RemoteCall& call) {
  (void)own_part(call);
  if (call.shape.empty()) {
    perform_collective(call);
    return;
  }
  ViewRef part = region_of(*call.window, call.offsets, call.shape, call);
  part.extents += call.value;
  part.strides += call.value;
  part.rank -= static_cast<int>(call.value);
  RemoteCall whole = call;
  whole.window = &part;
  perform_collective(whole);
}

}  // namespace

const char* name_of(abi::RemoteOperation operation) {
  switch (operation) {
    case abi::remote_rank: return "pld::rank";
    case abi::remote_size: return "pld::nranks";
    case abi::remote_load: return "pld::remote_load";
    case abi::remote_store: return "pld::remote_store";
    case abi::remote_put: return "pld::put";
    case abi::remote_get: return "pld::get";
    case abi::remote_notify: return "pld::notify";
    case abi::remote_wait: return "pld::wait";
    case abi::remote_defer_wait: return "pld::defer_wait";
    case abi::remote_fence: return "pld::fence";
    case abi::remote_barrier: return "pld::barrier";
    case abi::remote_allreduce: return "pld::allreduce";
    case abi::remote_broadcast: return "pld::broadcast";
    case abi::remote_allgather: return "pld::allgather";
    case abi::remote_reduce_scatter: return "pld::reduce_scatter";
    case abi::remote_all_to_all: return "pld::all_to_all";
    case abi::remote_all_to_all_v: return "pld::all_to_all_v";
    case abi::remote_reduce: return "pld::reduce";
    case abi::remote_scatter: return "pld::scatter";
    case abi::remote_gather: return "pld::gather";
    case abi::remote_send_recv: return "pld::send_recv";
    case abi::remote_access: return "an access";
  }
  return "an unknown operation of pld";
}

ViewRef region_of(const ViewRef& whole, std::span<const std::int64_t> offsets,
                  std::span<const std::int64_t> shape, const RemoteCall& call) {
  ViewRef part = whole;
  part.data =
      static_cast<char*>(part.data) + start_of(part, offsets_or_zeros(offsets, part, call), shape, call);
  part.extents = shape.data();
  return part;
}

LeaveOut& leave_out_for_tests() {
  static LeaveOut leave_out = nullptr;
  return leave_out;
}

void DeferredWaits::wait() {
  for (const CellWait& wait : waits_) wait_for(wait);
}

void note_own_access(const ViewRef& window, const abi::Remote& request) {
  using Kind = WindowAccess::Kind;
  static constexpr struct {
    Kind kind;
    const char* what;
  } accesses[] = {{Kind::Read, "pl::load"},        {Kind::Write, "pl::store"}, {Kind::Add, "pl::store"},
                  {Kind::Read, "pl::read"},        {Kind::Write, "pl::write"}, {Kind::Read, "pl::gather_row"},
                  {Kind::Read, "pl::paged_gather"}};
  const auto& access = accesses[request.mode];
  const auto rank = static_cast<std::size_t>(request.rank);
  const Place where(request.file, request.line, request.column);
  if (request.value == 0)
    note_access(access.kind, access.what, window, {request.offsets, rank}, {request.shape, rank}, where);
  else
    note_elements(access.kind, access.what, window, {request.offsets, rank}, {request.other_offsets, rank},
                  request.value, where);
}

void perform(RemoteCall& call) {
  std::optional<TracedCall> traced;
  if (TracedThread* const thread = thread_state().traced) [[unlikely]]
    traced.emplace(*thread, call);
  if (TaskWatch* const watch = thread_state().watch) [[unlikely]] {
    watch->flush();
    if (const LeaveOut leave_out = leave_out_for_tests(); leave_out != nullptr && leave_out(call)) return;
    if (call.operation != abi::remote_rank && call.operation != abi::remote_size) watch->schedule().pause();
  }
  switch (call.operation) {
    case abi::remote_rank: call.value = own_part(call).member; return;
    case abi::remote_size: call.value = own_part(call).memory->size(); return;
    case abi::remote_load:
    case abi::remote_store: load_or_store(call); return;
    case abi::remote_put:
    case abi::remote_get: put_or_get(call); return;
    case abi::remote_notify: notify_peer(call); return;
    case abi::remote_wait: wait_for(wait_of(call)); return;
    case abi::remote_defer_wait: defer(wait_of(call)); return;
    case abi::remote_fence: order_all_writes(true); return;
    default:
      // Its signals do.
      order_all_writes(false);
      run_collective(call);
      return;
  }
}

}  // namespace pl::detail
