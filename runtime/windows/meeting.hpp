// runtime/windows/meeting.hpp -- where ranks that share memory, and are few, see each other in a collective.
//
// Each rank writes a place of its own and reads the places of the others, so a step that all of them take together is
// one write and one look at each peer. A barrier of messages (collective.cpp) takes log2(n) of them one after the
// other, but no rank has to look at all others: many ranks use that one.
#pragma once

#include "pl/abi.hpp"
#include "runtime/windows/window_memory.hpp"

#include <array>
#include <cstdint>

namespace pl::detail {

/// What a rank shows of a collective: which one it is in and, where they are few, its elements, for the others to read
/// here. The first line of the cache has the call and the first 16 bytes: a call of so few bytes takes one of the
/// messages that processors send each other.
struct alignas(64) Shown {
  std::int32_t number;  ///< a signal cell: that of the call, written last
  CollectiveCall call;
  std::array<char, 4096 - 48> data;
};
static_assert(sizeof(Shown) == 4096);

/// One for each member. All zero at first, and without physical pages until it is used.
struct MeetingPlace {
  static constexpr std::size_t most_ranks = 16;
  alignas(64) std::int32_t steps;  ///< a signal cell: the steps that this rank has done
  /// By the call's number: a rank that shows its next call but one knows from the next that nobody reads this one.
  std::array<Shown, 2> shown;
};

/// Collectives of few elements return when the own part is complete. In front of anything that reaches into a peer's
/// part: returns when that one is, too.
void await_results(const WindowPart& own, const WindowPart& peer, abi::RemoteOperation operation,
                   const Place& where);

}  // namespace pl::detail
