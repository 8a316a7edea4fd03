#include "runtime/windows/signal_cells.hpp"

#include "runtime/measure.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/call_note.hpp"
#include "runtime/windows/meeting.hpp"
#include "runtime/windows/task_watch.hpp"
#include "runtime/windows/wait_monitor.hpp"

#include <atomic>
#include <string>

namespace pl::detail {
namespace {

std::int64_t index_of(const ViewRef& cells) {
  return (static_cast<char*>(cells.data) - cells.window->base) /
         static_cast<std::int64_t>(sizeof(std::int32_t));
}

}  // namespace

void require_cells(const RemoteCall& call, const ViewRef& cells, int ranks, const char* what) {
  const std::string title = std::string(name_of(call.operation)) + ": ." + what + " is ";
  if (cells.window == nullptr || cells.window->member < 0)
    throw CommError(
        title + "no window of this rank; make one with pld::window<std::int32_t>(buffer, {ranks})",
        call.where.location());
  if (cells.dtype != DType::Int32)
    throw DtypeError(title + describe(cells) + "; give a window of std::int32_t", call.where.location());
  std::int64_t count = 1;
  bool dense = true;
  for (int axis = cells.rank; axis-- > 0;) {
    dense &= cells.extents[axis] == 1 || cells.strides[axis] == count;
    count *= cells.extents[axis];
  }
  if (!dense || count < ranks)
    throw ShapeError(title + describe(cells) + (dense ? "" : " strided") + " among " + std::to_string(ranks) +
                         " ranks; give one cell for each rank, side by side",
                     call.where.location());
  if (cells.window->memory->size() != ranks)
    throw CommError(title + "part of " + cells.window->memory->title() + ", which " +
                        std::to_string(cells.window->memory->size()) + " ranks share; the data's has " +
                        std::to_string(ranks) + ": both belong to the same ranks",
                    call.where.location());
}

std::int32_t* cells_at(const ViewRef& cells, int member) {
  return reinterpret_cast<std::int32_t*>(cells.window->memory->part(member).base) + index_of(cells);
}

SignalCells::SignalCells(const RemoteCall& call, const ViewRef& cells) : call_(call), cells_(cells) {
  const int ranks = call.window->window->memory->size();
  require_cells(call, cells, ranks, "signal");
  if ((call.operation != abi::remote_barrier && overlap(cells, *call.window)) ||
      (call.other != nullptr && overlap(cells, *call.other)))
    throw CommError(std::string(name_of(call.operation)) + ": .signal is " + describe(cells) +
                        " in the memory of the data or the counts of the same call; give it cells of its own",
                    call.where.location());
  if (TaskWatch* const watch = thread_state().watch; watch != nullptr && watch->checker() != nullptr)
    watch->checker()->lend_to_collective(watch->thread(), *cells.window,
                                         static_cast<std::int32_t*>(cells.data), index_of(cells), ranks,
                                         name_of(call.operation), call.where);
  const WindowPart& own = *cells.window;
  WindowPart::State& state = *call.window->window->state;
  state.signal = &own;
  state.first_signal_cell = index_of(cells);
  for (int member = 0; member < ranks; ++member)
    await_results(own, own.memory->part(member), call.operation, call.where);
  for (int member = 0; member < ranks; ++member) {
    // A peer that has come first has added its 1.
    const std::int32_t seen =
        std::atomic_ref(static_cast<std::int32_t*>(cells.data)[member]).load(std::memory_order_relaxed);
    require_clear(name_of(call.operation), member, seen, call.where);
  }
}

void SignalCells::step() {
  ++steps_;
  const WindowPart& own = *cells_.window;
  const WindowMemory& memory = *own.memory;
  for (int i = 1; i < memory.size(); ++i) {
    const int member = (own.member + i) % memory.size();
    WaitMonitor::add(memory.part(member), cells_at(cells_, member) + own.member, 1);
  }
  for (int i = 1; i < memory.size(); ++i) {
    const int member = (own.member + i) % memory.size();
    memory.monitor().wait({&own, cells_at(cells_, own.member) + member, index_of(cells_) + member, steps_,
                           true, false, call_.operation, call_.where, nullptr, call_.window->window});
  }
}

void SignalCells::clear() {
  const WindowPart& own = *cells_.window;
  for (int member = 0; member < own.memory->size(); ++member)
    if (member != own.member) WaitMonitor::add(own, cells_at(cells_, own.member) + member, -steps_);
}

}  // namespace pl::detail
