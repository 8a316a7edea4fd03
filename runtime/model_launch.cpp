#include "runtime/model_launch.hpp"

#include "pl/error.hpp"
#include "pl/log.hpp"
#include "runtime/model/launch.hpp"
#include "runtime/rank_channel.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/device_cells.hpp"
#include "runtime/windows/device_collective.hpp"
#include "runtime/windows/meeting.hpp"
#include "runtime/windows/remote_call.hpp"
#include "runtime/windows/task_watch.hpp"

#include <array>
#include <string>

namespace pl::detail {
namespace {

namespace model = trilith::model;

Place place_of(const model::TextPlace& place) {
  return {place.file != nullptr ? lasting_text(place.file) : "", place.line, place.column};
}

abi::RemoteOperation operation_of(const AscendC::model::WindowCall& call) {
  return static_cast<abi::RemoteOperation>(call.operation);
}

bool is_collective(const AscendC::model::WindowCall* call) { return call != nullptr && call->tensor >= 0; }

/// What moves elements, as the user has written it. Each is a string that lasts.
const char* name_of(const model::WindowUse& use) {
  if (use.call != nullptr) return detail::name_of(operation_of(*use.call));
  if (use.where.operation == abi::remote_access) return use.writes ? "pl::write" : "pl::read";
  if (use.where.operation >= 0)
    return detail::name_of(static_cast<abi::RemoteOperation>(use.where.operation));
  return use.writes ? "pl::store" : "pl::load";
}

/// What a launch tells the engine, and asks of it. Called on threads of the launch, one at a time.
class ModelSink final : public model::FaultSink {
 public:
  ModelSink(std::span<const RecordedView> views, std::exception_ptr& failure)
      : views_(views),
        failure_(failure),
        watch_(thread_state().watch),
        checker_(watch_ != nullptr ? watch_->checker() : nullptr),
        collective_(watch_) {}

  /// A rule of the AscendC interface that emitted code has broken: no user's error.
  void fault(const model::Fault& fault) override {
    const Location where{fault.file, fault.line, fault.column};
    if (fault.of_program) {
      failure_ = std::make_exception_ptr(CommError(fault.message, where));
      return;
    }
    const std::string place =
        fault.kernel + ", line " + std::to_string(fault.text_line) + " of its AscendC (" + fault.core + "): ";
    failure_ = std::make_exception_ptr(InternalError(
        "on the model of AscendC, kernel " + place + fault.message +
            "; the emitted text breaks a rule of the hardware: this is a fault of Trilith, please report it",
        where));
  }

  void print(const std::string& text) override {
    if (failure_) return;
    try {
      pl::detail::print(text);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  bool follows() override { return checker_ != nullptr; }

  bool accesses(const model::WindowUse& use) override {
    using Kind = WindowAccess::Kind;
    return goes_on([&] {
      const std::array<std::int64_t, 1> stride{1}, bytes{static_cast<std::int64_t>(use.end - use.begin)};
      checker_->access(watch_->thread(),
                       !use.writes ? Kind::Read
                       : use.adds  ? Kind::Add
                                   : Kind::Write,
                       name_of(use), place_of(use.where),
                       {reinterpret_cast<const char*>(use.begin), stride, bytes, 1});
    });
  }

  bool orders(const AscendC::model::WindowCall& call) override {
    return goes_on([&] {
      if (operation_of(call) == abi::remote_fence) checker_->publish(watch_->thread(), -1);
    });
  }

  /// Sleeps on the cell, as a wait of the simulator does.
  bool wait(const model::Poll& poll) override {
    const Cell cell = cell_at(poll.address);
    if (cell.own == nullptr) return FaultSink::wait(poll);
    return goes_on([&] {
      const CellWait wait = wait_of(poll, cell);
      if (checker_ != nullptr && is_of_user(poll)) checker_->will_wait(watch_->thread(), wait);
      cell.own->memory->monitor().wait(wait);
    });
  }

  bool waited(const model::Poll& poll) override {
    const Cell cell = cell_at(poll.address);
    if (cell.own == nullptr) return true;
    return goes_on([&] {
      if (is_collective(poll.call)) {
        collective_.heard(*cell.own, cell.address);
      } else if (checker_ != nullptr && is_of_user(poll)) {
        const CellWait wait = wait_of(poll, cell);
        checker_->will_wait(watch_->thread(), wait);
        checker_->waited(watch_->thread(), wait);
      }
    });
  }

  Answer signals(const model::Signal& signal) override {
    const Cell cell = cell_at(signal.address);
    if (cell.own == nullptr) return Answer::Store;
    Answer answer = Answer::Store;
    const bool good = goes_on([&] {
      const Place where = place_of(signal.where);
      if (is_collective(signal.call)) {
        const ViewRef window = views_[static_cast<std::size_t>(signal.call->tensor)].view();
        collective_.signals({*signal.call, window, where}, *cell.own, *cell.holder, cell.address);
      } else if (checker_ != nullptr && operation_of(*signal.call) == abi::remote_notify) {
        checker_->publish(watch_->thread(), cell.holder->rank);
        checker_->change(watch_->thread(), *cell.holder, cell.address, cell.index, !signal.adds, signal.value,
                         detail::name_of(abi::remote_notify), where);
        answer = Answer::Stored;
      }
    });
    return good ? answer : Answer::Stop;
  }

  void signalled(std::uint64_t address, const model::TextPlace& where) override {
    const Cell cell = cell_at(address);
    if (cell.own == nullptr) return;
    if (cell.index >= 0) {
      auto& writers = cell.holder->state->last_writers;
      LastWriter& last = writers[static_cast<std::size_t>(cell.index) % writers.size()];
      const Place place = place_of(where);
      last.rank.store(cell.own->rank, std::memory_order_relaxed);
      last.file.store(place.file, std::memory_order_relaxed);
      last.line.store(place.line, std::memory_order_relaxed);
      last.cell.store(cell.index, std::memory_order_relaxed);
    }
    WaitMonitor::add(*cell.holder, cell.address, 0);  // wakes who waits
  }

 private:
  struct Cell {
    const WindowPart* own =
        nullptr;  ///< of the rank that runs the kernel; null: it is in none of its windows
    const WindowPart* holder = nullptr;  ///< whose cell it is
    std::int32_t* address = nullptr;
    std::int64_t index = -1;  ///< of the user's cell; -1: Trilith's own
  };
  [[nodiscard]] Cell cell_at(std::uint64_t address) const {
    auto* const at = reinterpret_cast<char*>(address);
    for (const RecordedView& view : views_) {
      const WindowPart* const own = view.view().window;
      if (own == nullptr || own->member < 0) continue;
      for (int member = 0; member < own->memory->size(); ++member) {
        const WindowPart& part = own->memory->part(member);
        char* const own_cells = device_cells(part);
        if (own_cells == nullptr) continue;
        auto* const cell = reinterpret_cast<std::int32_t*>(at);
        if (at >= part.base && at < part.base + own->memory->bytes)
          return {own, &part, cell, (at - part.base) / static_cast<std::int64_t>(sizeof *cell)};
        if (at >= own_cells && at < own_cells + 64 * own->memory->size()) return {own, &part, cell, -1};
      }
    }
    return {};
  }

  static bool is_of_user(const model::Poll& poll) {
    return poll.call != nullptr && (operation_of(*poll.call) == abi::remote_wait ||
                                    operation_of(*poll.call) == abi::remote_defer_wait);
  }
  static CellWait wait_of(const model::Poll& poll, const Cell& cell) {
    return {cell.own,
            cell.address,
            cell.index,
            poll.compared ? poll.expected : poll.seen,
            poll.compared && poll.at_least,
            !poll.compared,
            poll.call != nullptr ? operation_of(*poll.call) : abi::remote_wait,
            place_of(poll.where),
            cell.holder};
  }

  /// Nothing may pass through the model's threads.
  template <class Do>
  bool goes_on(const Do& what) {
    try {
      what();
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  const std::span<const RecordedView> views_;
  std::exception_ptr& failure_;
  TaskWatch* const watch_;  ///< of the thread that launches
  Checker* const checker_;
  DeviceCollective collective_;
};

}  // namespace

void give_parts(const ViewRef& window, AscendC::model::WindowParts& parts) {
  const WindowPart* const own = window.window;
  if (own == nullptr || own->member < 0)
    throw CommError(
        "a kernel of the model on a pld::DistributedTensor that belongs to no rank; windows come from "
        "pld::window in a host orchestrator and get their rank by a dispatch");
  const WindowMemory& memory = *own->memory;
  memory.require_alive("a kernel of the model", Location{});
  if (memory.size() > AscendC::model::WindowParts::most_ranks)
    throw CommError("AscendC kernels reach windows of up to " +
                    std::to_string(AscendC::model::WindowParts::most_ranks) + " ranks, and " +
                    std::to_string(memory.size()) + " share " + memory.title() +
                    "; choose the platform \"a2a3sim\", or fewer ranks");
  if (memory.remote() != nullptr)
    throw CommError(
        "on platform \"a2a3model\" a kernel reaches windows by address, which the transport \"mpi\" "
        "does not give: " +
        memory.title() + "; choose the transport \"threads\" or \"processes\", or the platform \"a2a3sim\"");
  const std::int64_t offset = static_cast<char*>(window.data) - own->base;
  parts.rank = static_cast<std::uint32_t>(own->member);
  parts.ranks = static_cast<std::uint32_t>(memory.size());
  for (int member = 0; member < memory.size(); ++member) {
    const WindowPart& part = memory.part(member);
    // Of a collective on the host some rank may still write its part.
    await_results(*own, part, abi::remote_load, Place{});
    parts.memory[member] = reinterpret_cast<std::uint64_t>(part.base + offset);
    parts.cells[member] = reinterpret_cast<std::uint64_t>(device_cells(part));
  }
}

bool run_on_model(const AscendC::model::Launch& launch, std::span<const RecordedView> views,
                  std::exception_ptr& failure) {
  ModelSink sink(views, failure);
  const model::Model on(sink);
  return on.table()->launch(on.table()->context, &launch) == 0;
}

}  // namespace pl::detail
