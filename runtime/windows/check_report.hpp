// runtime/windows/check_report.hpp -- the words of what the checker finds.
#pragma once

#include "runtime/windows/signal_cell.hpp"

#include <string>
#include <vector>

namespace pl::detail::report {

/// Two accesses that nothing orders.
[[nodiscard]] std::string race(const WindowPart& part, const WindowAccess& earlier,
                               const WindowAccess& later);
/// A cell that is used as signal and written as data; one of the two accesses is the signal.
[[nodiscard]] std::string misuse(const WindowPart& part, const WindowAccess& signal,
                                 const WindowAccess& store);
/// A cell that is the .signal of a collective, and what uses it by hand.
[[nodiscard]] std::string by_hand(const WindowPart& part, const WindowAccess& collective,
                                  const WindowAccess& use);
[[nodiscard]] std::string fault(const WindowPart& part, std::int64_t cell, const SignalCell::Fault& fault);
[[nodiscard]] std::string unsignalled(const WindowPart& part, const WindowAccess& write);
/// `calls`: of each member of the window in their order.
[[nodiscard]] std::string collectives(const WindowMemory& window,
                                      const std::vector<std::vector<std::string>>& calls);

}  // namespace pl::detail::report
