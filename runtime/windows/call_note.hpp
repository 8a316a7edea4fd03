// runtime/windows/call_note.hpp -- which collective a rank is in, told to the others, and what is wrong about it.
//
// In one process the note is WindowPart::State::calls. Between processes that share no memory it lies behind the own
// cells of each part, with the text of its place.
#pragma once

#include "runtime/windows/window_memory.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace pl::detail {

class Checker;

struct CallNote {
  CollectiveCall call;
  std::array<char, 256> file{};  ///< the end of a path that is longer
};

/// Bytes behind the own cells: the two last calls.
inline constexpr std::int64_t call_notes_bytes = 2 * sizeof(CallNote);

/// "pld::allreduce of 64 float by Sum with .signal": which call it is, without its place.
[[nodiscard]] std::string text_of(const CollectiveCall& call);
/// The same, and " at file:line:column".
[[nodiscard]] std::string text_with_place(const CollectiveCall& call);
/// The one that a rank is in, or was in last.
[[nodiscard]] const CollectiveCall& last_call(const WindowPart& part);

/// In front of the first barrier.
void leave_note(const WindowPart& own, const CollectiveCall& call);
/// Behind it: the `number`th call of another rank. `note` keeps it.
[[nodiscard]] const CollectiveCall& call_of(const WindowPart& peer, std::uint32_t number, CallNote& note);

/// Throws where the call of another rank is not that of this one. `checker`: knows all calls, or null.
void require_same(const CollectiveCall& call, const CollectiveCall& other, const WindowPart& own,
                  const WindowPart& peer, Checker* checker);
/// The rank of the part is in the collective until its `in_collective` is false again. Throws where it is in another one.
void begin_collective(const WindowPart& own, const char* name, const Place& where);
/// A cell of a collective's .signal before the call: a peer that has come first has added its 1. Else throws.
void require_clear(const std::string& name, std::int64_t member, std::int32_t seen, const Place& where);

}  // namespace pl::detail
