// runtime/pl/detail/graph_cache.hpp -- recorded orchestrations of one pl::Graph.
//
// Private: included by pl/orchestrator.hpp.
#pragma once

#include "pl/detail/parameter.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace pl::detail {

class GraphCache;
[[nodiscard]] std::shared_ptr<GraphCache> make_graph_cache();

struct GraphCounts {
  std::uint64_t recordings = 0;
  std::uint64_t replays = 0;
};
[[nodiscard]] GraphCounts counts_of(const GraphCache& cache);

/// At device level: records `body` where nothing fits these arguments, and replays what was recorded. `body`
/// runs the orchestration with the arguments it is given.
void run_graph(GraphCache& cache, std::span<const ParameterInfo> parameters, const Argument* arguments,
               const std::function<void(const Argument*)>& body);

}  // namespace pl::detail
