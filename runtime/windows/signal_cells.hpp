// runtime/windows/signal_cells.hpp -- the user's cells for the signals of a collective.
#pragma once

#include "runtime/windows/remote_call.hpp"

#include <cstdint>

namespace pl::detail {

/// Throws where `cells` is no dense int32 part of a window that as many ranks share, with a cell for each. `what`:
/// "signal", "counts".
void require_cells(const RemoteCall& call, const ViewRef& cells, int ranks, const char* what);
/// The same cells at another member.
[[nodiscard]] std::int32_t* cells_at(const ViewRef& cells, int member);

/// Steps of a collective, each a barrier of all ranks.
class SignalCells {
 public:
  SignalCells(const RemoteCall& call, const ViewRef& cells);
  void step();
  /// Takes this call's steps off the cells again.
  void clear();

 private:
  const RemoteCall& call_;
  const ViewRef& cells_;
  std::int32_t steps_ = 0;
};

}  // namespace pl::detail
