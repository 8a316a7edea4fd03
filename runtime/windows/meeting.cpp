#include "runtime/windows/meeting.hpp"

#include "runtime/windows/wait_monitor.hpp"

namespace pl::detail {

void await_results(const WindowPart& own, const WindowPart& peer, abi::RemoteOperation operation,
                   const Place& where) {
  const std::uint32_t step = own.state->unsettled.load(std::memory_order_relaxed);
  if (step == 0 || peer.meeting == nullptr || &peer == &own) return;
  const CellWait wait{
      &own, &peer.meeting->steps, -1, static_cast<std::int32_t>(step), true, true, operation, where, &peer};
  if (!is_satisfied(wait, std::atomic_ref(*wait.cell).load(std::memory_order_acquire)))
    own.memory->monitor().wait(wait);
}

}  // namespace pl::detail
