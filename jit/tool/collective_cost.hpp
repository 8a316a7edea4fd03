// jit/tool/collective_cost.hpp -- what a latency-bandwidth model says of the collectives as runtime/windows/collective.cpp
// makes them of signals, reads and writes.
//
// An operation of one rank on another's memory takes alpha, and its bytes / beta; a rank does one after another, and
// serves one after another. Without any time for what stays on a rank (copies, the reduction itself), and without rivals
// in the network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trilith::tool {

struct CostModel {
  double alpha = 2e-6;  ///< seconds an operation
  double beta = 25e9;   ///< bytes a second
};

struct CollectiveCall {
  std::string operation;           ///< "allreduce"
  std::string algorithm = "auto";  ///< of allreduce: mesh, ring
  double bytes = 0;                ///< of the part of a rank
  bool signal = false;             ///< on cells of the user's
};

/// Those that the model knows, in the order of the page.
[[nodiscard]] const std::vector<std::string>& modelled_collectives();
/// "allreduce, mesh (Auto)": what is really done.
[[nodiscard]] std::string title_of(const CollectiveCall& call);
/// Seconds among `ranks` ranks.
[[nodiscard]] double cost_of(const CollectiveCall& call, std::int64_t ranks, const CostModel& model);
/// The formula of it, for people: n ranks, m bytes, B a barrier.
[[nodiscard]] std::string formula_of(const CollectiveCall& call);

}  // namespace trilith::tool
