#include "runtime/windows/device_collective.hpp"

#include "pl/error.hpp"
#include "runtime/windows/call_note.hpp"
#include "runtime/windows/device_cells.hpp"
#include "runtime/windows/remote_call.hpp"
#include "runtime/windows/task_watch.hpp"

#include <atomic>
#include <string>

namespace pl::detail {
namespace {

std::int32_t rank_or_unknown(std::int64_t rank) {
  return rank == AscendC::model::unknown ? CollectiveCall::unknown_rank : static_cast<std::int32_t>(rank);
}

/// A number of the checker's for the steps of a part; nothing is stored there.
std::int32_t* step_cell(const WindowPart& part) {
  return reinterpret_cast<std::int32_t*>(device_cells(part));
}

CollectiveCall call_of(const DeviceCollective::Call& call, std::uint32_t number) {
  CollectiveCall result;
  result.number = number;
  result.operation = static_cast<std::int16_t>(call.told.operation);
  result.has_signal = call.told.signal != nullptr;
  result.where = call.where;
  switch (call.told.operation) {
    case abi::remote_barrier: return result;
    case abi::remote_send_recv: result.mode = rank_or_unknown(call.told.to); [[fallthrough]];
    case abi::remote_broadcast:
    case abi::remote_scatter:
    case abi::remote_gather: result.peer = rank_or_unknown(call.told.root); break;
    case abi::remote_reduce: result.peer = rank_or_unknown(call.told.root); [[fallthrough]];
    default: result.mode = call.told.reduction; break;
  }
  result.dtype = static_cast<std::int8_t>(call.told.dtype);
  result.elements = call.told.elements;
  return result;
}

}  // namespace

DeviceCollective::DeviceCollective(TaskWatch* watch) : watch_(watch) {}

DeviceCollective::~DeviceCollective() {
  if (own_ != nullptr) leave();
}

Checker* DeviceCollective::checker() const { return watch_ != nullptr ? watch_->checker() : nullptr; }

void DeviceCollective::signals(const Call& call, const WindowPart& cells, const WindowPart& holder,
                               std::int32_t* cell) {
  const int peers = cells.memory->size() - 1;
  if (holder.member == cells.member) {
    if (++left_ == peers && own_ != nullptr) leave();
    return;
  }
  if (own_ == nullptr) enter(call, cells, holder, cell);
  // The first signal of a step stands for all.
  if (told_++ % peers != 0) return;
  const std::uint32_t step = ++own_->state->device_steps;
  if (Checker* const checker = this->checker()) {
    checker->publish(watch_->thread(), -1);
    checker->note_told(watch_->thread(), step_cell(*own_), static_cast<std::int32_t>(step));
  }
}

void DeviceCollective::heard(const WindowPart& cells, const std::int32_t* cell) {
  Checker* const checker = this->checker();
  if (own_ == nullptr || checker == nullptr) return;
  const std::int64_t behind = reinterpret_cast<const char*>(cell) - reinterpret_cast<const char*>(first_);
  const auto member = static_cast<int>(behind / pitch_);
  if (member < 0 || member >= cells.memory->size()) return;
  checker->heard(watch_->thread(), step_cell(own_->memory->part(member)),
                 static_cast<std::int32_t>(own_->state->device_steps));
}

void DeviceCollective::enter(const Call& call, const WindowPart& cells, const WindowPart& holder,
                             const std::int32_t* cell) {
  const WindowPart& own = *call.window.window;
  begin_collective(own, name_of(static_cast<abi::RemoteOperation>(call.told.operation)), call.where);
  own_ = &own;
  told_ = left_ = 0;
  if (call.told.signal == nullptr) {
    first_ = reinterpret_cast<std::int32_t*>(device_cells(own));
    pitch_ = 64;
  } else {
    // The same cells as at the peer, where one stands for this rank.
    pitch_ = sizeof(std::int32_t);
    first_ =
        reinterpret_cast<std::int32_t*>(cells.base + (reinterpret_cast<const char*>(cell) - holder.base)) -
        cells.member;
    require_cells(call, cells);
  }
  // Of two ranks at least one sees the other's call: each says its own before it looks for those of the others.
  const auto count_of = [](const WindowPart& part) {
    return std::atomic_ref<std::uint32_t>(part.state->device_collectives);
  };
  const std::uint32_t number = count_of(own).load(std::memory_order_relaxed) + 1;
  const CollectiveCall said = call_of(call, number);
  own.state->device_calls[number % 2] = said;
  count_of(own).store(number, std::memory_order_seq_cst);
  if (Checker* const checker = this->checker()) {
    checker->note_collective(own, said, text_with_place);
    if (call.told.signal != nullptr)
      checker->lend_to_collective(
          watch_->thread(), cells, first_, (reinterpret_cast<char*>(first_) - cells.base) / pitch_,
          own.memory->size(), name_of(static_cast<abi::RemoteOperation>(call.told.operation)), call.where);
  }
  for (int member = 0; member < own.memory->size(); ++member) {
    const WindowPart& peer = own.memory->part(member);
    const std::uint32_t there = count_of(peer).load(std::memory_order_seq_cst);
    // One that is a call ahead has kept the one before.
    if (member != own.member && static_cast<std::int32_t>(there - number) >= 0)
      require_same(said, peer.state->device_calls[number % 2], own, peer, checker());
  }
}

void DeviceCollective::require_cells(const Call& call, const WindowPart& cells) const {
  const auto name = std::string(name_of(static_cast<abi::RemoteOperation>(call.told.operation)));
  const std::int64_t count = cells.memory->size();
  const char* const begin = reinterpret_cast<const char*>(first_);
  const bool has_data = call.told.operation != abi::remote_barrier && call.told.elements != 0;
  if (has_data && call.told.offset != AscendC::model::unknown) {
    const char* const data = static_cast<const char*>(call.window.data) + call.told.offset;
    const char* const data_end =
        data + call.told.elements * static_cast<std::int64_t>(trilith::codegen::size_of(call.window.dtype));
    if (begin < data_end && data < begin + count * pitch_)
      throw CommError(
          name + ": .signal is " + call.told.signal +
              " in the memory of the data or the counts of the same call; give it cells of its own",
          call.where.location());
  }
  for (std::int64_t member = 0; member < count; ++member)
    require_clear(name, member, std::atomic_ref(first_[member]).load(std::memory_order_relaxed), call.where);
}

void DeviceCollective::leave() {
  own_->state->in_collective.store(false, std::memory_order_release);
  own_ = nullptr;
}

}  // namespace pl::detail
