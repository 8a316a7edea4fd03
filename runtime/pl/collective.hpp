// runtime/pl/collective.hpp -- operations of all ranks that share a window, in kernels and on the host.
//
//   pld::allreduce(window, {.op = pld::ReduceOp::Sum});     // every part becomes the sum of all parts
//
// All ranks of the window must make the same calls in the same order. In a host orchestrator one call stands for
// all ranks and runs behind what was dispatched before. Signals are Trilith's own. Results do not depend on timing:
// reductions go in the order of ranks (mesh) or of the ring. Dtypes of reductions: every number. Memory of a window that
// a collective has returned from may be read and written at once.
#pragma once

#include "pl/remote.hpp"

namespace pld {

enum class ReduceOp : std::uint8_t { Sum, Max, Min, Prod };
/// Mesh: each rank reduces a piece of all parts. Ring: parts go round, each link carries 2 (n - 1) / n of the data.
/// Auto: mesh.
enum class Algorithm : std::uint8_t { Auto, Mesh, Ring };

struct AllreduceOptions {
  ReduceOp op = ReduceOp::Sum;
  Algorithm algorithm = Algorithm::Auto;
};
struct BroadcastOptions {
  pl::Extent root = 0;
};
struct ReduceScatterOptions {
  ReduceOp op = ReduceOp::Sum;
};

}  // namespace pld

namespace pl::detail {

struct CollectiveRequest {
  int operation;  ///< abi::RemoteOperation
  int mode = 0;
  std::int64_t peer = 0;
};
void collective(const ViewRef& window, const CollectiveRequest& request, const std::source_location& where);

void barrier(const ViewRef& window, const std::source_location& where);
void allreduce(const ViewRef& window, const pld::AllreduceOptions& options,
               const std::source_location& where);
void broadcast(const ViewRef& window, const pld::BroadcastOptions& options,
               const std::source_location& where);
void allgather(const ViewRef& window, const std::source_location& where);
void reduce_scatter(const ViewRef& window, const pld::ReduceScatterOptions& options,
                    const std::source_location& where);
void all_to_all(const ViewRef& window, const std::source_location& where);

}  // namespace pl::detail

namespace pld {

/// Returns when all ranks have called it; what each wrote before is visible to all.
template <class T, auto... Dims>
void barrier(const DistributedTensor<T, Dims...>& window,
             std::source_location where = std::source_location::current()) {
  pl::detail::barrier(window.view(), where);
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
void allgather(const DistributedTensor<T, Dims...>& window,
               std::source_location where = std::source_location::current()) {
  pl::detail::allgather(window.view(), where);
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
void all_to_all(const DistributedTensor<T, Dims...>& window,
                std::source_location where = std::source_location::current()) {
  pl::detail::all_to_all(window.view(), where);
}

}  // namespace pld
