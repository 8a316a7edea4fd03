// runtime/windows/call_note.hpp -- which collective a rank is in, told to the rank beside it.
//
// In one process the note is WindowPart::State::calls. Between processes that share no memory it lies behind the own
// cells of each part, with the text of its place.
#pragma once

#include "runtime/windows/window_memory.hpp"

#include <array>
#include <cstdint>

namespace pl::detail {

struct CallNote {
  CollectiveCall call;
  std::array<char, 256> file{};  ///< the end of a path that is longer
};

/// Bytes behind the own cells: the two last calls.
inline constexpr std::int64_t call_notes_bytes = 2 * sizeof(CallNote);

/// In front of the first barrier.
void leave_note(const WindowPart& own, const CollectiveCall& call);
/// Behind it: the `number`th call of another rank. `note` keeps it.
[[nodiscard]] const CollectiveCall& call_of(const WindowPart& peer, std::uint32_t number, CallNote& note);

}  // namespace pl::detail
