// runtime/pl/collective.hpp -- operations of all ranks that share a window, in kernels and on the host.
//
//   pld::allreduce(window, {.op = pld::ReduceOp::Sum});     // every part becomes the sum of all parts
//
// All ranks of the window must make the same calls in the same order. In a host orchestrator one call stands for
// all ranks and runs behind what was dispatched before. Signals are Trilith's own, or cells of a window of int32
// with at least one cell a rank: `{.signal = cells}`; they are zero again afterwards. Results do not depend on timing:
// reductions go in the order of ranks (mesh) or of the ring. Dtypes of reductions: every number. Memory of a window that
// a collective has returned from may be read and written at once.
#pragma once

#include "pl/abi.hpp"
#include "pl/remote.hpp"

namespace pld {

enum class ReduceOp : std::uint8_t { Sum, Max, Min, Prod };
/// Mesh: each rank reduces a piece of all parts. Ring: parts go round, each link carries 2 (n - 1) / n of the data.
/// Auto: mesh.
enum class Algorithm : std::uint8_t { Auto, Mesh, Ring };

/// Cells of a window of int32 that the same ranks share, one for each: `.signal = cells`. All zero before and after a
/// collective, and used for nothing else in between; left out, Trilith has its own.
class Signal {
 public:
  Signal() = default;
  template <auto... Dims>
  Signal(const DistributedTensor<std::int32_t, Dims...>& cells)  // NOLINT(google-explicit-constructor)
      : cells_(cells.view(), {}), given_(true) {}
  [[nodiscard]] bool given() const { return given_; }
  [[nodiscard]] pl::detail::ViewRef view() const { return cells_.view(); }

 private:
  DistributedTensor<std::int32_t> cells_;
  bool given_ = false;
};

/// Of collectives that have no other options.
struct CollectiveOptions {
  Signal signal = {};
};

struct AllreduceOptions {
  ReduceOp op = ReduceOp::Sum;
  Algorithm algorithm = Algorithm::Auto;
  Signal signal = {};
};
struct BroadcastOptions {
  pl::Extent root = 0;
  Signal signal = {};
};
struct ReduceScatterOptions {
  ReduceOp op = ReduceOp::Sum;
  Signal signal = {};
};
struct ReduceOptions {
  pl::Extent root = 0;
  ReduceOp op = ReduceOp::Sum;
  Signal signal = {};
};
struct RootOptions {
  pl::Extent root = 0;
  Signal signal = {};
};
struct SendRecvOptions {
  pl::Extent from;
  pl::Extent to;
  Signal signal = {};
};

}  // namespace pld

namespace pl::detail {

struct CollectiveRequest {
  int operation;  ///< abi::RemoteOperation
  int mode = 0;
  std::int64_t peer = 0;
  const pld::Signal* signal = nullptr;
  const ViewRef* counts = nullptr;
};
void collective(const ViewRef& window, const CollectiveRequest& request, const std::source_location& where);

void allreduce(const ViewRef& window, const pld::AllreduceOptions& options,
               const std::source_location& where);
void broadcast(const ViewRef& window, const pld::BroadcastOptions& options,
               const std::source_location& where);
void reduce_scatter(const ViewRef& window, const pld::ReduceScatterOptions& options,
                    const std::source_location& where);
void reduce(const ViewRef& window, const pld::ReduceOptions& options, const std::source_location& where);
void scatter(const ViewRef& window, const pld::RootOptions& options, const std::source_location& where);
void gather(const ViewRef& window, const pld::RootOptions& options, const std::source_location& where);
void send_recv(const ViewRef& window, const pld::SendRecvOptions& options, const std::source_location& where);
void all_to_all_v(const ViewRef& window, const ViewRef& counts, const pld::CollectiveOptions& options,
                  const std::source_location& where);
/// Those that have no other options than signals.
void with_signal(const ViewRef& window, int operation, const pld::CollectiveOptions& options,
                 const std::source_location& where);

}  // namespace pl::detail

namespace pld {

/// Returns when all ranks have called it; what each wrote before is visible to all.
template <class T, auto... Dims>
void barrier(const DistributedTensor<T, Dims...>& window, const CollectiveOptions& options = {},
             std::source_location where = std::source_location::current()) {
  pl::detail::with_signal(window.view(), pl::abi::remote_barrier, options, where);
}
/// Every rank's part becomes the reduction of all parts, element by element.
template <class T, auto... Dims>
void allreduce(const DistributedTensor<T, Dims...>& window, const AllreduceOptions& options = {},
               std::source_location where = std::source_location::current()) {
  pl::detail::allreduce(window.view(), options, where);
}
/// Every part becomes a copy of the root's.
template <class T, auto... Dims>
void broadcast(const DistributedTensor<T, Dims...>& window, const BroadcastOptions& options = {},
               std::source_location where = std::source_location::current()) {
  pl::detail::broadcast(window.view(), options, where);
}
/// Parts of nranks rows: afterwards row r is, everywhere, rank r's own row r.
template <class T, auto... Dims>
void allgather(const DistributedTensor<T, Dims...>& window, const CollectiveOptions& options = {},
               std::source_location where = std::source_location::current()) {
  pl::detail::with_signal(window.view(), pl::abi::remote_allgather, options, where);
}
/// Parts of nranks rows: row r of rank r becomes the reduction of all ranks' row r. The other rows are left
/// unspecified.
template <class T, auto... Dims>
void reduce_scatter(const DistributedTensor<T, Dims...>& window, const ReduceScatterOptions& options = {},
                    std::source_location where = std::source_location::current()) {
  pl::detail::reduce_scatter(window.view(), options, where);
}
/// Parts of nranks rows: afterwards row i of rank r is what was row r of rank i.
template <class T, auto... Dims>
void all_to_all(const DistributedTensor<T, Dims...>& window, const CollectiveOptions& options = {},
                std::source_location where = std::source_location::current()) {
  pl::detail::with_signal(window.view(), pl::abi::remote_all_to_all, options, where);
}

/// The root's part becomes the reduction of all parts; the others stay as they are.
template <class T, auto... Dims>
void reduce(const DistributedTensor<T, Dims...>& window, const ReduceOptions& options = {},
            std::source_location where = std::source_location::current()) {
  pl::detail::reduce(window.view(), options, where);
}
/// Parts of nranks rows: row r of rank r becomes the root's row r. The other rows stay as they are.
template <class T, auto... Dims>
void scatter(const DistributedTensor<T, Dims...>& window, const RootOptions& options = {},
             std::source_location where = std::source_location::current()) {
  pl::detail::scatter(window.view(), options, where);
}
/// Parts of nranks rows: at the root, row r becomes rank r's own row r. The other parts stay as they are.
template <class T, auto... Dims>
void gather(const DistributedTensor<T, Dims...>& window, const RootOptions& options = {},
            std::source_location where = std::source_location::current()) {
  pl::detail::gather(window.view(), options, where);
}
/// The part of rank `to` becomes that of rank `from`. Every rank calls it, with the same two.
template <class T, auto... Dims>
void send_recv(const DistributedTensor<T, Dims...>& window, const SendRecvOptions& options,
               std::source_location where = std::source_location::current()) {
  pl::detail::send_recv(window.view(), options, where);
}
/// Parts of {nranks, most items, …}, and a window of one count for each rank. Before: row r holds the items for rank r,
/// counts[r] of them. After: row i holds those that rank i had for this one, counts[i] of them. What lies behind the
/// items of a row is unspecified. A count below 0 or above the room of a row is a CommError.
template <class T, auto... Dims, auto... Counts>
void all_to_all_v(const DistributedTensor<T, Dims...>& window,
                  const DistributedTensor<std::int32_t, Counts...>& counts,
                  const CollectiveOptions& options = {},
                  std::source_location where = std::source_location::current()) {
  pl::detail::all_to_all_v(window.view(), counts.view(), options, where);
}

}  // namespace pld
