#include "runtime/windows/call_note.hpp"

#include "runtime/windows/meeting.hpp"
#include "runtime/windows/remote_call.hpp"
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

std::string text_of(const CollectiveCall& call) {
  std::string result = name_of(static_cast<abi::RemoteOperation>(call.operation));
  if (call.elements != 0)
    result += " of " + std::to_string(call.elements) + " " +
              std::string(trilith::codegen::name_of(static_cast<DType>(call.dtype)));
  if (call.operation == abi::remote_broadcast || call.operation == abi::remote_scatter)
    result += " from root " + std::to_string(call.peer);
  if (call.operation == abi::remote_reduce || call.operation == abi::remote_gather)
    result += " to root " + std::to_string(call.peer);
  if (call.operation == abi::remote_send_recv)
    result += " from rank " + std::to_string(call.peer) + " to rank " + std::to_string(call.mode);
  if (call.operation == abi::remote_allreduce || call.operation == abi::remote_reduce_scatter ||
      call.operation == abi::remote_reduce) {
    static constexpr const char* names[] = {"Sum", "Max", "Min", "Prod"};
    result += std::string(" by ") + names[call.mode % 4];
    if (call.mode / 4 != 0) result += call.mode / 4 == 2 ? " (ring)" : " (mesh)";
  }
  if (call.has_signal) result += " with .signal";
  return result;
}

const CollectiveCall& last_call(const WindowPart& part) {
  const std::uint32_t number = part.state->collectives;
  return part.meeting != nullptr ? part.meeting->shown[number % 2].call : part.state->calls[number % 2];
}

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
