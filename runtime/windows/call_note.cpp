#include "runtime/windows/call_note.hpp"

#include "runtime/windows/remote_transfer.hpp"

#include <algorithm>
#include <cstring>

namespace pl::detail {
namespace {

char* place_of(const WindowPart& part, std::uint32_t number) {
  const std::int64_t cells =
      (WindowMemory::own_cells * static_cast<std::int64_t>(sizeof(std::int32_t)) + 63) / 64 * 64;
  return reinterpret_cast<char*>(part.own_cells) + cells + (number % 2) * sizeof(CallNote);
}

}  // namespace

void leave_note(const WindowPart& own, const CollectiveCall& call) {
  if (own.memory->remote() == nullptr) return;
  CallNote note;
  note.call = call;
  const std::size_t length = std::strlen(call.where.file), kept = std::min(length, note.file.size() - 1);
  std::memcpy(note.file.data(), call.where.file + length - kept, kept);
  std::memcpy(place_of(own, call.number), &note, sizeof note);
}

const CollectiveCall& call_of(const WindowPart& peer, std::uint32_t number, CallNote& note) {
  if (peer.far == nullptr) return peer.state->calls[number % 2];
  read_bytes(peer, place_of(peer, number), &note, sizeof note);
  note.call.where.file = note.file.data();
  return note.call;
}

}  // namespace pl::detail
