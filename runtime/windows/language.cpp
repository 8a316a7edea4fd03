// The operations of namespace pld as a kernel that runs natively calls them, and collectives on the host.
#include "codegen/reference.hpp"
#include "pl/collective.hpp"
#include "pl/detail/level.hpp"
#include "pl/detail/location.hpp"
#include "runtime/program.hpp"
#include "runtime/windows/remote_call.hpp"

#include <algorithm>
#include <climits>
#include <optional>
#include <string>

namespace pl::detail {
namespace {

void require_kernel(abi::RemoteOperation operation, const std::source_location& where) {
  if (current_level() == Level::Core) return;
  const char* place = current_level() == Level::Host     ? "in a host orchestrator"
                      : current_level() == Level::Device ? "in a device orchestration"
                                                         : "in ordinary C++";
  throw LevelError(
      std::string(name_of(operation)) + " was called " + place +
          "; ranks meet in pl::jit.incore kernels that were dispatched to them (host → device → core)",
      location_of(where));
}

RemoteCall make_call(abi::RemoteOperation operation, const ViewRef& window,
                     const std::source_location& where) {
  require_kernel(operation, where);
  RemoteCall call(operation);
  call.window = &window;
  call.where = Place(where);
  return call;
}

std::int64_t identity(abi::RemoteOperation operation, const ViewRef& window,
                      const std::source_location& where) {
  RemoteCall call = make_call(operation, window, where);
  perform(call);
  return call.value;
}

}  // namespace

int window_rank(const ViewRef& window, const std::source_location& where) {
  return static_cast<int>(identity(abi::remote_rank, window, where));
}

int window_size(const ViewRef& window, const std::source_location& where) {
  return static_cast<int>(identity(abi::remote_size, window, where));
}

void notify(const ViewRef& window, const pld::NotifyOptions& options, const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_notify, window, where);
  call.peer = options.peer.value;
  call.offsets = options.offsets.values();
  call.value = options.value.value;
  call.mode = static_cast<std::int32_t>(options.op);
  perform(call);
}

void wait_signal(const ViewRef& window, const pld::WaitOptions& options, const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_wait, window, where);
  call.offsets = options.offsets.values();
  call.value = options.expected.value;
  call.mode = static_cast<std::int32_t>(options.cmp);
  perform(call);
}

void defer_wait(const ViewRef& window, const pld::DeferWaitOptions& options,
                const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_defer_wait, window, where);
  call.offsets = options.offsets.values();
  call.value = options.expected.value;
  perform(call);
}

Value remote_load(const ViewRef& window, const pld::RemoteLoadOptions& options,
                  const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_load, window, where);
  const auto rank = static_cast<std::size_t>(window.rank);
  const std::span<const std::int64_t> shape =
      options.shape.values().empty() ? std::span(window.extents, rank) : std::span(options.shape.values());
  if (shape.size() != rank)
    throw ShapeError("pld::remote_load with a shape of " + std::to_string(shape.size()) + " extents from " +
                         describe(window) + "; give one for each axis",
                     location_of(where));
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (shape[axis] < 0 || shape[axis] > window.extents[axis])
      throw ShapeError("pld::remote_load of extent " + std::to_string(shape[axis]) + " on axis " +
                           std::to_string(axis) + " of " + describe(window) + "; keep it inside the window",
                       location_of(where));
  Value tile(window.dtype, trilith::codegen::Shape(shape.begin(), shape.end()));
  call.peer = options.peer.value;
  call.offsets = options.offsets.values();
  call.shape = shape;
  call.data = tile.bytes.data();
  perform(call);
  return tile;
}

void remote_store(const Value& tile, const ViewRef& window, const pld::RemoteStoreOptions& options,
                  const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_store, window, where);
  if (tile.dtype != window.dtype)
    throw DtypeError("pld::remote_store of a tile of " + std::string(trilith::codegen::name_of(tile.dtype)) +
                         " into " + describe(window) + "; convert the tile with pl::cast<T>(…)",
                     location_of(where));
  // A tile of lower rank stands at the end of the axes.
  const auto rank = static_cast<std::size_t>(window.rank);
  if (tile.shape.size() > rank)
    throw ShapeError("pld::remote_store of a tile of rank " + std::to_string(tile.shape.size()) + " into " +
                         describe(window) + "; a tile has at most the window's rank",
                     location_of(where));
  trilith::codegen::Shape shape(rank, 1);
  std::copy(tile.shape.begin(), tile.shape.end(),
            shape.end() - static_cast<std::ptrdiff_t>(tile.shape.size()));
  call.peer = options.peer.value;
  call.offsets = options.offsets.values();
  call.shape = shape;
  call.data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(tile.bytes.data()));
  call.mode = options.atomic == Atomic::Add ? 1 : 0;
  perform(call);
}

namespace {

void require_all_or_none(abi::RemoteOperation operation, const Index& to, const Index& from,
                         const Index& shape, const std::source_location& where) {
  if (to.values().empty() == shape.values().empty() && from.values().empty() == shape.values().empty())
    return;
  throw ShapeError(
      std::string(name_of(operation)) +
          ": dst_offsets, src_offsets and shape belong together; give all of them or none, which "
          "means the whole tensor",
      location_of(where));
}

/// As the capture checks them in a compiled kernel, in the same words.
template <class Options>
void require_chunks(const Options& options, const std::source_location& where) {
  if (options.chunk < 0)
    throw ShapeError(
        ".chunk is " + std::to_string(options.chunk) + "; give a number of elements, or 0 for as many as fit",
        location_of(where));
  if (options.pipeline < 1)
    throw ShapeError(
        ".pipeline is " + std::to_string(options.pipeline) + "; give a number of buffers, 1 or more",
        location_of(where));
}

}  // namespace

void put(const ViewRef& window, const pld::PutOptions& options, const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_put, window, where);
  require_all_or_none(abi::remote_put, options.dst_offsets, options.src_offsets, options.shape, where);
  require_chunks(options, where);
  const ViewRef source = options.src.view();
  call.other = &source;
  call.peer = options.peer.value;
  call.offsets = options.dst_offsets.values();
  call.other_offsets = options.src_offsets.values();
  call.shape = options.shape.values();
  call.mode = options.atomic == Atomic::Add ? 1 : 0;
  perform(call);
}

void get(const ViewRef& destination, const ViewRef& window, const pld::GetOptions& options,
         const std::source_location& where) {
  RemoteCall call = make_call(abi::remote_get, window, where);
  require_all_or_none(abi::remote_get, options.dst_offsets, options.src_offsets, options.shape, where);
  require_chunks(options, where);
  call.other = &destination;
  call.peer = options.peer.value;
  call.offsets = options.src_offsets.values();
  call.other_offsets = options.dst_offsets.values();
  call.shape = options.shape.values();
  perform(call);
}

void remote_fence(const std::source_location& where) {
  require_kernel(abi::remote_fence, where);
  RemoteCall call(abi::remote_fence);
  call.where = Place(where);
  perform(call);
}

namespace {

/// A collective of one rank; the views are its own.
void perform_on_rank(const ViewRef& window, const CollectiveRequest& request, const ViewRef* counts,
                     const ViewRef* signal, const std::source_location& where) {
  RemoteCall call(static_cast<abi::RemoteOperation>(request.operation));
  call.window = &window;
  call.other = counts;
  call.signal = signal;
  call.mode = request.mode;
  call.peer = request.peer;
  call.where = Place(where);
  perform(call);
}

}  // namespace

void collective(const ViewRef& window, const CollectiveRequest& request, const std::source_location& where) {
  const auto operation = static_cast<abi::RemoteOperation>(request.operation);
  const ThreadState& thread = thread_state();
  const bool has_signal = request.signal != nullptr && request.signal->given();
  const ViewRef signal = has_signal ? request.signal->view() : ViewRef{};
  if (thread.level != Level::Host) {
    require_kernel(operation, where);
    perform_on_rank(window, request, request.counts, has_signal ? &signal : nullptr, where);
    return;
  }
  if (window.window == nullptr)
    throw CommError(std::string(name_of(operation)) + " on a pld::DistributedTensor without a window",
                    location_of(where));
  if (thread.recorder != nullptr) {
    std::int64_t bytes = static_cast<std::int64_t>(trilith::codegen::size_of(window.dtype));
    for (int axis = 0; axis < window.rank; ++axis) bytes *= window.extents[axis];
    static constexpr const char* algorithms[] = {"auto", "mesh", "ring"};
    RecordedCollective recorded;
    recorded.operation = std::string(name_of(operation)).substr(std::string_view("pld::").size());
    if (operation == abi::remote_allreduce) recorded.algorithm = algorithms[request.mode / 4];
    recorded.window = window.window->memory;
    recorded.bytes = operation == abi::remote_barrier ? 0 : bytes;
    recorded.where = location_of(where);
    recorded.signal = has_signal;
    thread.recorder->collectives.push_back(std::move(recorded));
    return;
  }
  const WindowMemory& memory = *window.window->memory;
  for (int member = 0; member < memory.size(); ++member) {
    const int rank = memory.part(member).rank;
    const auto own = [&](const ViewRef& view) { return RecordedView(on_rank(view, rank, where)); };
    std::optional<RecordedView> own_counts, own_signal;
    if (request.counts != nullptr) own_counts = own(*request.counts);
    if (has_signal) own_signal = own(signal);
    CollectiveRequest plain = request;
    plain.signal = nullptr;
    plain.counts = nullptr;
    thread.run->enqueue_collective(rank, [view = own(window), own_counts, own_signal, plain, where] {
      const ViewRef counts = own_counts ? own_counts->view() : ViewRef{};
      const ViewRef cells = own_signal ? own_signal->view() : ViewRef{};
      perform_on_rank(view.view(), plain, own_counts ? &counts : nullptr, own_signal ? &cells : nullptr,
                      where);
    });
  }
}

namespace {

int mode_of(pld::ReduceOp op, pld::Algorithm algorithm) {
  return static_cast<int>(op) + 4 * static_cast<int>(algorithm);
}

}  // namespace

void allreduce(const ViewRef& window, const pld::AllreduceOptions& options,
               const std::source_location& where) {
  collective(window, {abi::remote_allreduce, mode_of(options.op, options.algorithm), 0, &options.signal},
             where);
}
void broadcast(const ViewRef& window, const pld::BroadcastOptions& options,
               const std::source_location& where) {
  collective(window, {abi::remote_broadcast, 0, options.root.value, &options.signal}, where);
}
void reduce_scatter(const ViewRef& window, const pld::ReduceScatterOptions& options,
                    const std::source_location& where) {
  collective(window,
             {abi::remote_reduce_scatter, mode_of(options.op, pld::Algorithm::Auto), 0, &options.signal},
             where);
}

void reduce(const ViewRef& window, const pld::ReduceOptions& options, const std::source_location& where) {
  collective(
      window,
      {abi::remote_reduce, mode_of(options.op, pld::Algorithm::Auto), options.root.value, &options.signal},
      where);
}
void scatter(const ViewRef& window, const pld::RootOptions& options, const std::source_location& where) {
  collective(window, {abi::remote_scatter, 0, options.root.value, &options.signal}, where);
}
void gather(const ViewRef& window, const pld::RootOptions& options, const std::source_location& where) {
  collective(window, {abi::remote_gather, 0, options.root.value, &options.signal}, where);
}
void send_recv(const ViewRef& window, const pld::SendRecvOptions& options,
               const std::source_location& where) {
  // Outside of int it is out of range as well.
  const auto to = static_cast<int>(std::clamp<std::int64_t>(options.to.value, -1, INT_MAX));
  collective(window, {abi::remote_send_recv, to, options.from.value, &options.signal}, where);
}
void all_to_all_v(const ViewRef& window, const ViewRef& counts, const pld::CollectiveOptions& options,
                  const std::source_location& where) {
  collective(window, {abi::remote_all_to_all_v, 0, 0, &options.signal, &counts}, where);
}
void with_signal(const ViewRef& window, int operation, const pld::CollectiveOptions& options,
                 const std::source_location& where) {
  collective(window, {operation, 0, 0, &options.signal}, where);
}

}  // namespace pl::detail
