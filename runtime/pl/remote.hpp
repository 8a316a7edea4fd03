// runtime/pl/remote.hpp -- what ranks do to each other: one-sided memory and signals, in in-core kernels.
//
//   auto ring = pl::jit.incore([](pl::Tensor<float, N> x, pl::Out<pl::Tensor<float, N>> y,
//                                 pld::DistributedTensor<float, N> data, pld::DistributedTensor<std::int32_t, 1> signal) {
//     const int next = (pld::rank(data) + 1) % pld::nranks(data);
//     pld::remote_store(pl::load(x), data, {.peer = next});
//     pld::notify(signal, {.peer = next});
//     pld::wait(signal, {.expected = 1});
//     y = pl::store(pl::load(data), y);
//   });
//
// Memory model: a rank's remote writes to a peer are visible there before a later `notify` of the same task to that
// peer; what was written before a notify is visible after the `wait` that saw it. Nothing else is ordered; `fence`
// orders this task's remote writes among each other. Offsets count elements; left out, they are zero. A peer, offset
// or shape out of range is a CommError or ShapeError at the line of the call, and nothing is touched.
// Signals do not reset themselves: a second round waits for a higher value, or uses another cell.
#pragma once

#include "pl/distributed_tensor.hpp"
#include "pl/scalar.hpp"
#include "pl/tile.hpp"

#include <cstdint>
#include <source_location>

namespace pld {

enum class NotifyOp : std::uint8_t { Set, AtomicAdd };
enum class WaitCmp : std::uint8_t { Eq, Ge };

struct NotifyOptions {
  pl::Extent peer;
  pl::Index offsets = {};  ///< of the cell, in the peer's part
  pl::Extent value = 1;
  NotifyOp op = NotifyOp::AtomicAdd;
};
struct WaitOptions {
  pl::Index offsets = {};  ///< of the cell, in this rank's own part
  pl::Extent expected = 1;
  WaitCmp cmp = WaitCmp::Ge;
};
struct DeferWaitOptions {
  pl::Index offsets = {};  ///< of the cell, in this rank's own part
  pl::Extent expected = 1;
};
struct RemoteLoadOptions {
  pl::Extent peer;
  pl::Index offsets = {};
  pl::Index shape = {};  ///< left out: the whole part
};
struct RemoteStoreOptions {
  pl::Extent peer;
  pl::Index offsets = {};
  pl::Atomic atomic = pl::Atomic::None;
};

/// Any tensor, as a member of options: what `put` sends.
class AnyTensor {
 public:
  template <class T, auto... Dims>
  AnyTensor(const pl::Tensor<T, Dims...>& tensor)  // NOLINT(google-explicit-constructor): stands for it
      : tensor_(tensor.view(), {}) {}
  template <class T, auto... Dims>
  AnyTensor(const DistributedTensor<T, Dims...>& tensor)  // NOLINT(google-explicit-constructor)
      : tensor_(tensor.view(), {}) {}
  [[nodiscard]] pl::detail::ViewRef view() const { return tensor_.view(); }

 private:
  DistributedTensor<void> tensor_;
};

struct PutOptions {
  pl::Extent peer;
  AnyTensor src;               ///< of this rank: a tensor, or its part of a window; same dtype and rank
  pl::Index dst_offsets = {};  ///< in the peer's part
  pl::Index src_offsets = {};
  pl::Index shape = {};  ///< offsets and shape: all given or none; none: all of src, at 0
  pl::Atomic atomic = pl::Atomic::None;
  int chunk = 0;     ///< elements that a core moves at a time through its own memory; 0: as many as fit
  int pipeline = 2;  ///< buffers there that chunks alternate between. Simulated devices move all at once
};
struct GetOptions {
  pl::Extent peer;
  pl::Index src_offsets = {};  ///< in the peer's part
  pl::Index dst_offsets = {};
  pl::Index shape = {};  ///< none: all of dst, at 0
  int chunk = 0;         ///< as of a put
  int pipeline = 2;
};

/// Who this rank is among those that share a window.
class CommCtx {
 public:
  explicit CommCtx(const pl::detail::ViewRef& window) : window_(window, {}) {}
  [[nodiscard]] pl::detail::ViewRef view() const { return window_.view(); }

 private:
  DistributedTensor<void> window_;
};

}  // namespace pld

namespace pl::detail {

[[nodiscard]] int window_rank(const ViewRef& window, const std::source_location& where);
[[nodiscard]] int window_size(const ViewRef& window, const std::source_location& where);
void notify(const ViewRef& window, const pld::NotifyOptions& options, const std::source_location& where);
void wait_signal(const ViewRef& window, const pld::WaitOptions& options, const std::source_location& where);
void defer_wait(const ViewRef& window, const pld::DeferWaitOptions& options,
                const std::source_location& where);
[[nodiscard]] Value remote_load(const ViewRef& window, const pld::RemoteLoadOptions& options,
                                const std::source_location& where);
void remote_store(const Value& tile, const ViewRef& window, const pld::RemoteStoreOptions& options,
                  const std::source_location& where);
void put(const ViewRef& window, const pld::PutOptions& options, const std::source_location& where);
void get(const ViewRef& destination, const ViewRef& window, const pld::GetOptions& options,
         const std::source_location& where);
void remote_fence(const std::source_location& where);

}  // namespace pl::detail

namespace pld {

/// The ranks that share `window`.
template <class T, auto... Dims>
[[nodiscard]] CommCtx get_comm_ctx(const DistributedTensor<T, Dims...>& window) {
  return CommCtx(window.view());
}
/// The number of this rank in it, 0 to nranks - 1.
[[nodiscard]] inline int rank(const CommCtx& ctx,
                              std::source_location where = std::source_location::current()) {
  return pl::detail::window_rank(ctx.view(), where);
}
template <class T, auto... Dims>
[[nodiscard]] int rank(const DistributedTensor<T, Dims...>& window,
                       std::source_location where = std::source_location::current()) {
  return pl::detail::window_rank(window.view(), where);
}
/// How many ranks there are in it.
[[nodiscard]] inline int nranks(const CommCtx& ctx,
                                std::source_location where = std::source_location::current()) {
  return pl::detail::window_size(ctx.view(), where);
}
template <class T, auto... Dims>
[[nodiscard]] int nranks(const DistributedTensor<T, Dims...>& window,
                         std::source_location where = std::source_location::current()) {
  return pl::detail::window_size(window.view(), where);
}

/// Sets, or adds to, a cell of the peer's part: `notify(signal, {.peer = p, .offsets = {i}, .value = 1})`. What
/// this task wrote to that peer before is visible there first.
template <auto... Dims>
void notify(const DistributedTensor<std::int32_t, Dims...>& signal, const NotifyOptions& options,
            std::source_location where = std::source_location::current()) {
  pl::detail::notify(signal.view(), options, where);
}
/// Until this rank's own cell is equal to, or at least, `expected`. Blocks without using a core.
template <auto... Dims>
void wait(const DistributedTensor<std::int32_t, Dims...>& signal, const WaitOptions& options = {},
          std::source_location where = std::source_location::current()) {
  pl::detail::wait_signal(signal.view(), options, where);
}
/// Goes on at once; this task is done, and what depends on it starts, when this rank's own cell is at least `expected`,
/// too. It holds no core of the device meanwhile. In a loop: the last value expected of each cell decides.
template <auto... Dims>
void defer_wait(const DistributedTensor<std::int32_t, Dims...>& signal, const DeferWaitOptions& options = {},
                std::source_location where = std::source_location::current()) {
  pl::detail::defer_wait(signal.view(), options, where);
}
/// A region of the peer's part as a tile.
template <class T, auto... Dims>
[[nodiscard]] pl::Tile<T> remote_load(const DistributedTensor<T, Dims...>& window,
                                      const RemoteLoadOptions& options,
                                      std::source_location where = std::source_location::current()) {
  return pl::Tile<T>(pl::detail::remote_load(window.view(), options, where));
}
/// Writes a tile to the peer's part, or adds it element by element.
template <class T, auto... Dims>
void remote_store(const pl::Tile<T>& tile, const DistributedTensor<T, Dims...>& window,
                  const RemoteStoreOptions& options,
                  std::source_location where = std::source_location::current()) {
  pl::detail::remote_store(tile.value(), window.view(), options, where);
}
/// Copies a region of memory to the peer's part: `put(window, {.peer = p, .src = x})`.
template <class T, auto... Dims>
void put(const DistributedTensor<T, Dims...>& window, const PutOptions& options,
         std::source_location where = std::source_location::current()) {
  pl::detail::put(window.view(), options, where);
}
/// Copies a region of the peer's part into `destination`, an Out or InOut tensor or this rank's part of a window.
template <class Y, class T, auto... Dims>
void get(const Y& destination, const DistributedTensor<T, Dims...>& window, const GetOptions& options,
         std::source_location where = std::source_location::current()) {
  static_assert(pl::detail::IsWritable<Y>::value,
                "pld::get: the destination is a pl::Out, a pl::InOut or a window");
  pl::detail::get(destination.view(), window.view(), options, where);
}
/// Orders the remote writes of this task before it against those behind it.
inline void fence(std::source_location where = std::source_location::current()) {
  pl::detail::remote_fence(where);
}

}  // namespace pld
