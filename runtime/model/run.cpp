#include "runtime/model/run.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/model/functions.hpp"

namespace trilith::model {

struct Run::Task {
  Task(Run& run, std::uint32_t number, bool cube, std::int64_t block, std::int64_t sub_block)
      : core(run, number, cube, block, sub_block) {}

  Core core;
  Worker* worker = nullptr;  ///< while it is under way
  bool ended = false, spins = false;
  std::function<bool()> ready;  ///< what it waits for; empty: nothing
  std::uint32_t line = 0;
  std::string waits_for;
  std::uint64_t spin_address = 0, spin_progress = 0, spin_count = 0;
  bool polls = false;  ///< it spins on a cell that others write, and has seen it once
};

struct Run::Worker {
  std::condition_variable turn;
  Task* task = nullptr;  ///< null: idle
  bool goes = false, ends = false;
  std::thread thread;
};

Run::Run(const AscendC::model::Launch& launch, FaultSink& sink)
    : launch_(launch), sink_(sink), gm_(launch), follows_(sink.follows()) {}

Run::~Run() {
  for (const auto& worker : workers_) {
    {
      const std::lock_guard lock(mutex_);
      worker->ends = true;
    }
    worker->turn.notify_one();
    worker->thread.join();
  }
}

std::string Run::place(std::uint32_t text_line) const {
  std::string place = text("line ", text_line);
  if (launch_.lines != nullptr && text_line >= 1 && text_line <= launch_.line_count) {
    const AscendC::model::SourceLine& source = launch_.lines[text_line - 1];
    if (source.file != nullptr) place += text(" (", source.file, ":", source.line, ")");
  }
  return place;
}

bool Run::has_place(std::uint32_t text_line) const {
  return launch_.lines != nullptr && text_line >= 1 && text_line <= launch_.line_count &&
         launch_.lines[text_line - 1].file != nullptr;
}

TextPlace Run::place_of(const Core& core, std::uint32_t text_line) const {
  const std::uint32_t at = has_place(text_line) ? text_line : core.last_place;
  if (!has_place(at)) return {text_line, nullptr, 0, 0};
  const AscendC::model::SourceLine& source = launch_.lines[at - 1];
  return {at, source.file, source.line, source.column, source.operation};
}

const AscendC::model::WindowCall* Run::call_at(const Core& core, std::uint32_t text_line) const {
  // A line of a function stands for the call behind the last place that the core has passed, which is a barrier.
  const bool in_function = !has_place(text_line);
  const std::uint32_t at = in_function ? core.last_place : text_line;
  const AscendC::model::WindowCall* found = nullptr;
  for (std::int64_t i = 0; i < launch_.call_count; ++i) {
    const AscendC::model::WindowCall& call = launch_.calls[i];
    const bool fits = in_function ? at < call.last_line : call.first_line <= at && at <= call.last_line;
    if (fits && (found == nullptr || call.last_line < found->last_line)) found = &call;
  }
  return found;
}

void Run::go_on(bool goes_on) {
  if (goes_on) return;
  stopping_ = true;
  throw Stop{};
}

void Run::use(const Core& core, std::uint32_t line, Range range, bool writes, std::uint8_t atomic) {
  if (!follows_) return;
  const AscendC::model::WindowCall* const call = has_place(line) ? nullptr : call_at(core, line);
  go_on(sink_.accesses({range.begin, range.end, writes, atomic != 0, place_of(core, line), call}));
}

void Run::fenced(const Core& core, std::uint32_t line) {
  if (!follows_ || !has_place(line)) return;
  const AscendC::model::WindowCall* const call = call_at(core, line);
  if (call != nullptr) go_on(sink_.orders(*call));
}

Poll Run::poll_of(const Core& core) const {
  const Core::Cell& cell = core.last_cell;
  return {cell.address,
          cell.value,
          cell.compared,
          cell.at_least,
          cell.expected,
          place_of(core, cell.line),
          call_at(core, cell.line)};
}

void Run::compared(Core& core, std::int64_t number, bool at_least) {
  Core::Cell& cell = core.last_cell;
  if (!gm_.is_signal(cell.address, sizeof(std::int32_t))) return;
  cell.compared = true;
  cell.at_least = at_least;
  cell.expected = static_cast<std::int32_t>(number);
  if (at_least ? cell.value < number : cell.value != number) return;
  if (const Poll poll = poll_of(core); poll.call != nullptr) go_on(sink_.waited(poll));
}

bool Run::signals(const Core& core, std::uint64_t address, std::int32_t value, bool adds,
                  std::uint32_t line) {
  const AscendC::model::WindowCall* const call = call_at(core, line);
  if (call == nullptr || !gm_.is_signal(address, sizeof value)) return false;
  const FaultSink::Answer answer = sink_.signals({address, value, adds, place_of(core, line), call});
  go_on(answer != FaultSink::Answer::Stop);
  return answer == FaultSink::Answer::Stored;
}

void Run::signalled(const Core& core, std::uint64_t address, std::uint32_t text_line) {
  if (gm_.is_signal(address, sizeof(std::int32_t))) sink_.signalled(address, place_of(core, text_line));
}

bool Run::is_own(std::uint32_t core) const {
  return !member_ || (core >= member_->first_core() && core < member_->first_core() + tasks_.size());
}

void Run::race(const Core& core, std::uint32_t line, const std::string& message) {
  const bool first = !fault_;
  fault(core, line, "race between ranks: " + message);
  fault_->of_program = fault_->of_program || first;
  throw Stop{};
}

void Run::fault(const Core& core, std::uint32_t line, const std::string& message) {
  if (fault_) return;
  const TextPlace where = place_of(core, line);
  fault_ = Fault{launch_.name != nullptr ? launch_.name : "",
                 core.name(),
                 line,
                 where.file != nullptr ? where.file : "",
                 where.line,
                 where.column,
                 message};
  stopping_ = true;
}

bool Run::execute() {
  using AscendC::model::Cores;
  const auto cores = static_cast<std::uint32_t>(launch_.blocks * (launch_.cores == Cores::Mixed ? 3 : 1));
  if (std::any_of(launch_.regions, launch_.regions + launch_.region_count,
                  [](const AscendC::model::Region& region) { return region.window; }))
    member_.emplace(WindowOrder::of_process(), launch_, cores);
  std::uint32_t number = 0;
  for (std::int64_t block = 0; block < launch_.blocks; ++block) {
    if (launch_.cores != Cores::Vector)
      tasks_.push_back(std::make_unique<Task>(*this, number++, true, block, 0));
    if (launch_.cores == Cores::Vector)
      tasks_.push_back(std::make_unique<Task>(*this, number++, false, block, 0));
    if (launch_.cores == Cores::Mixed)
      for (std::int64_t sub = 0; sub < 2; ++sub)
        tasks_.push_back(std::make_unique<Task>(*this, number++, false, 2 * block + sub, sub));
  }
  while (true) {
    Task* const next = next_task();
    if (next == nullptr) break;
    if (next->polls && !stopping_) wait_for_window(*next);
    resume(*next);
  }
  if (!stopping_)
    for (const auto& [key, flag] : flags_)
      if (flag.count != 0) {
        fault(tasks_[key.first]->core, flag.line,
              text("the kernel ends with flag ", key.second, " between cores set ", flag.count,
                   " times more than it was waited for; CrossCoreWaitFlag"));
        break;
      }
  if (!stopping_) check_gatherings();
  if (member_)
    for (const auto& task : tasks_) {
      task->core.barrier(PIPE_ALL, 0);
      member_->end(task->core.last_operation(), task->core.clock(PIPE_S));
    }
  if (fault_) sink_.fault(*fault_);
  return !stopping_;
}

/// Nothing but cores that spin can go on, `task` among them.
void Run::wait_for_window(Task& task) {
  const auto spins = [](const auto& other) {
    return other->worker != nullptr && !other->ended && other->spins;
  };
  const Core::Cell& cell = task.core.last_cell;
  if (std::ranges::count_if(tasks_, spins) > 1 || cell.address != task.spin_address) {
    if (task.spin_count > 100) std::this_thread::sleep_for(std::chrono::microseconds(20));
    return;
  }
  if (!sink_.wait(poll_of(task.core))) stopping_ = true;
}

void Run::check_gatherings() {
  for (const auto& [key, gathering] : gatherings_)
    for (const auto& [core, clocks] : gathering.arrived)
      if (!clocks.empty()) {
        fault(tasks_[core]->core, gathering.line,
              text("the kernel ends with flag ", std::get<2>(key),
                   " set by some of the cores that must set it and not by all: it was never raised"));
        return;
      }
}

Run::Task* Run::next_task() {
  const std::int64_t resident_limit = launch_.cores == AscendC::model::Cores::Cube    ? cube_cores
                                      : launch_.cores == AscendC::model::Cores::Mixed ? 3 * cube_cores
                                                                                      : 2 * cube_cores;
  const auto under_way = [&](const Task& task) { return task.worker != nullptr && !task.ended; };
  Task* spinning = nullptr;
  bool waits = false;
  for (std::size_t i = 1; i <= started_; ++i) {
    Task& task = *tasks_[(last_ + i) % started_];
    if (!under_way(task)) continue;
    if (stopping_) return &task;
    if (task.ready && !task.ready()) {
      waits = true;
      continue;
    }
    if (!task.spins) return &task;
    if (spinning == nullptr) spinning = &task;
  }
  if (stopping_) return nullptr;
  if (started_ < tasks_.size() && static_cast<std::int64_t>(running_) < resident_limit) {
    start_task();
    return tasks_[started_ - 1].get();
  }
  if (spinning != nullptr) return spinning;
  if (!waits) return nullptr;
  deadlock();
  return next_task();
}

void Run::deadlock() {
  const Task* first = nullptr;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < started_; ++i) {
    const Task& task = *tasks_[i];
    if (task.worker == nullptr || task.ended) continue;
    if (first == nullptr) first = &task;
    ++waiting;
  }
  std::string message =
      text("deadlock: ", waiting, " cores wait and none goes on; this one ", first->waits_for);
  if (started_ < tasks_.size())
    message += text(
        "; ", tasks_.size() - started_,
        " cores' blocks have not begun: blocks that wait for each other must not be more than the cores");
  fault(first->core, first->line, message);
}

void Run::start_task() {
  Task& task = *tasks_[started_++];
  ++running_;
  const auto idle =
      std::ranges::find_if(workers_, [](const auto& worker) { return worker->task == nullptr; });
  if (idle != workers_.end()) {
    task.worker = idle->get();
    task.worker->task = &task;
    return;
  }
  workers_.push_back(std::make_unique<Worker>());
  Worker& worker = *workers_.back();
  worker.task = &task;
  task.worker = &worker;
  worker.thread = std::thread([this, &worker] { work(worker); });
}

void Run::resume(Task& task) {
  last_ = task.core.number();
  std::unique_lock lock(mutex_);
  core_runs_ = true;
  task.worker->goes = true;
  task.worker->turn.notify_one();
  returned_.wait(lock, [&] { return !core_runs_; });
  if (!task.ended) return;
  task.worker->task = nullptr;
  task.worker = nullptr;
  --running_;
}

void Run::work(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    worker.turn.wait(lock, [&] { return worker.goes || worker.ends; });
    if (worker.ends) return;
    worker.goes = false;
    Task& task = *worker.task;
    lock.unlock();
    if (!stopping_) run_core(task);
    lock.lock();
    task.ended = true;
    core_runs_ = false;
    returned_.notify_one();
  }
}

void Run::run_core(Task& task) {
  current_core() = &task.core;
  // A fault comes back here over the kernel's frames, which own nothing: their classes have no destructors.
  if (setjmp(task.core.exit) == 0) {
    launch_.kernel(launch_.arguments);
    try {
      end_core(task.core);
    } catch (const Stop&) {
    }
  }
  current_core() = nullptr;
  task.core.release();
}

void Run::end_core(Core& core) {
  tell_printed(core);
  core.queues().check_end();
  if (core.atomic.mode != AscendC::model::AtomicMode::None)
    core.fault(core.atomic.line, "the kernel ends with atomic stores on; SetAtomicNone");
  for (const auto& [address, line] : core.cache)
    if (line.dirty != 0)
      core.fault(line.line, text("the kernel ends with a scalar store to GM at ", gm_.describe(address),
                                 " in the core's cache only; DataCacheCleanAndInvalid"));
}

/// Gives the turn back until the core is resumed.
void Run::park(Task& task) {
  std::unique_lock lock(mutex_);
  core_runs_ = false;
  returned_.notify_one();
  task.worker->turn.wait(lock, [&] { return task.worker->goes; });
  task.worker->goes = false;
}

Run::Task& Run::task_of(const Core& core) { return *tasks_[core.number()]; }

void Run::wait(Core& core, std::uint32_t line, std::string what, std::function<bool()> ready) {
  Task& task = task_of(core);
  if (ready()) return;
  task.line = line;
  task.waits_for = std::move(what);
  task.ready = std::move(ready);
  park(task);
  task.ready = nullptr;
  if (stopping_) throw Stop{};
}

void Run::spin(Core& core, std::uint32_t line, std::uint64_t address, bool external) {
  constexpr std::uint64_t hopeless = 100'000;
  Task& task = task_of(core);
  // The same place again, while this core's pipes have started nothing and no core has stored anything.
  const std::uint64_t progress = gm_.stores + core.started_by_pipes();
  if (task.spin_address != address || task.spin_progress != progress) task.spin_count = 0;
  task.spin_address = address;
  task.spin_progress = progress;
  ++task.spin_count;
  if (sink_.stopped()) stopping_ = true;
  if (!external && task.spin_count > hopeless)
    core.fault(line, "deadlock: the core looks at GM again and again, and nothing in this launch changes it");
  task.polls = external && task.spin_count > 1;
  task.line = line;
  // Alone, it need not ask for its next turn.
  if (task.polls || running_ > 1 || started_ < tasks_.size()) {
    task.spins = true;
    park(task);
    task.spins = task.polls = false;
  }
  if (stopping_) throw Stop{};
}

}  // namespace trilith::model
