#include "runtime/windows/call_note.hpp"

#include "pl/error.hpp"
#include "runtime/windows/checker.hpp"
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

std::string text_of(const CollectiveCall& call) {
  const auto rank = [](std::int32_t number) {
    return number == CollectiveCall::unknown_rank ? std::string("of the run") : std::to_string(number);
  };
  std::string result = name_of(static_cast<abi::RemoteOperation>(call.operation));
  if (call.elements != 0)
    result += " of " + std::to_string(call.elements) + " " +
              std::string(trilith::codegen::name_of(static_cast<DType>(call.dtype)));
  if (call.operation == abi::remote_broadcast || call.operation == abi::remote_scatter)
    result += " from root " + rank(call.peer);
  if (call.operation == abi::remote_reduce || call.operation == abi::remote_gather)
    result += " to root " + rank(call.peer);
  if (call.operation == abi::remote_send_recv)
    result += " from rank " + rank(call.peer) + " to rank " + rank(call.mode);
  if (call.operation == abi::remote_allreduce || call.operation == abi::remote_reduce_scatter ||
      call.operation == abi::remote_reduce) {
    static constexpr const char* names[] = {"Sum", "Max", "Min", "Prod"};
    result += std::string(" by ") + names[call.mode % 4];
    if (call.mode / 4 != 0) result += call.mode / 4 == 2 ? " (ring)" : " (mesh)";
  }
  if (call.has_signal) result += " with .signal";
  return result;
}

std::string text_with_place(const CollectiveCall& call) {
  return text_of(call) + " at " + call.where.location().str();
}

void require_same(const CollectiveCall& call, const CollectiveCall& other, const WindowPart& own,
                  const WindowPart& peer, Checker* checker) {
  if (call.same_as(other)) return;
  throw CommError("ranks make different collective calls, of " + own.memory->title() + ": call " +
                      std::to_string(call.number) + " of rank " + std::to_string(own.rank) + " is " +
                      text_with_place(call) + ", of rank " + std::to_string(peer.rank) + " " +
                      text_with_place(other) +
                      "; every rank makes the same calls in the same order, with the same shape and options" +
                      (checker != nullptr ? checker->collectives(*own.memory) : std::string()),
                  call.where.location());
}

void begin_collective(const WindowPart& own, const char* name, const Place& where) {
  if (!own.state->in_collective.exchange(true, std::memory_order_acquire)) return;
  throw CommError(std::string(name) + " of " + own.memory->title() + " while rank " +
                      std::to_string(own.rank) +
                      " is in another collective of that window, in another block or task; give each a "
                      "window of its own, or let one wait for the other",
                  where.location());
}

void require_clear(const std::string& name, std::int64_t member, std::int32_t seen, const Place& where) {
  if (seen == 0 || seen == 1) return;
  throw CommError(name + ": cell " + std::to_string(member) + " of .signal is " + std::to_string(seen) +
                      " before the call; the cells of a collective's signal are its own: use others for "
                      "pld::notify, and do not write them",
                  where.location());
}

}  // namespace pl::detail
