#include "runtime/task_graph.hpp"

#include "pl/error.hpp"
#include "runtime/core_pool.hpp"
#include "runtime/failure_note.hpp"
#include "runtime/written_regions.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace pl::detail {
namespace {

std::atomic<std::uint64_t> next_graph_id{1};

// A loop that submits faster than the cores work must not fill the memory with waiting tasks.
constexpr std::size_t most_unfinished = 4096;

constexpr std::size_t buffer_alignment = 64;

}  // namespace

void throw_if_task_must_stop() {
  const ThreadState& thread = thread_state();
  if (thread.inside != nullptr && thread.inside->must_stop()) throw Stopped{};
}

TaskGraph::TaskGraph(Settings settings)
    : id_(next_graph_id.fetch_add(1, std::memory_order_relaxed)), settings_(std::move(settings)) {
  const Lock lock(mutex_);
  for (int core = settings_.cores; core-- > 0;) free_cores_.push_back(core);
  order_.seed(settings_.seed);
}

TaskGraph::~TaskGraph() {
  for (const Buffer& buffer : buffers_) {
    if (settings_.regions != nullptr) settings_.regions->forget(buffer.data);
    std::free(buffer.data);
  }
}

void* TaskGraph::allocate(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes + buffer_alignment - 1, buffer_alignment) /
                           buffer_alignment * buffer_alignment;
  buffers_.reserve(buffers_.size() + 1);
  void* data = std::aligned_alloc(buffer_alignment, size);
  if (data == nullptr) throw std::bad_alloc();
  buffers_.push_back({data, size});
  if (settings_.regions != nullptr) settings_.regions->leave_out(data, size);
  return data;
}

void TaskGraph::find_predecessors(const TaskRequest& request) {
  // Who follows the tasks must know of every edge.
  const auto done = [this](TaskNumber number) {
    return recording_ == nullptr && settings_.hooks == nullptr && is_done(number);
  };
  predecessors_ = request.after;
  for (const Region& region : request.waits_for) index_.conflicts(region, done, predecessors_);
  std::sort(predecessors_.begin(), predecessors_.end());
  predecessors_.erase(std::unique(predecessors_.begin(), predecessors_.end()), predecessors_.end());
}

TaskNumber TaskGraph::submit(TaskRequest request) {
  find_predecessors(request);
  TaskNumber number = 0;
  if (recording_ != nullptr) {
    number = recording_->size();
    recording_->push_back({std::move(request.work), predecessors_, request.blocks, request.own_thread});
  } else {
    if (settings_.regions != nullptr)
      for (const Region& region : request.touches) settings_.regions->add(region.view.view(), region.writes);
    stay_below(most_unfinished);
    int helpers = 0;
    {
      const Lock lock(mutex_);
      if (stopped_) throw Stopped{};
      while (!tasks_.empty() && tasks_.front().done.load(std::memory_order_acquire)) {
        tasks_.pop_front();
        ++first_;
      }
      number = first_ + tasks_.size();
      if (settings_.hooks != nullptr) settings_.hooks->submitted(number, predecessors_);
      Task& task = tasks_.emplace_back();
      task.number = number;
      task.work = std::move(request.work);
      task.blocks = request.blocks;
      task.own_thread = request.own_thread;
      if (settings_.observer != nullptr) task.submitted = Clock::now();
      link(task, predecessors_);
      helpers = helpers_wanted();
    }
    start_helpers(helpers);
    if (index_.size() > forget_at_ && settings_.hooks == nullptr) {
      index_.forget([this](TaskNumber task) { return is_done(task); });
      forget_at_ = std::max<std::size_t>(1024, 2 * index_.size());
    }
  }
  for (const Region& region : request.touches) index_.add(number, region);
  return number;
}

void TaskGraph::replay(const RecordedSteps& steps, const PointerMap& to) {
  std::vector<std::unique_ptr<TaskWork>> works;
  works.reserve(steps.size());
  for (const RecordedStep& step : steps) works.push_back(step.work->moved(to));
  if (settings_.regions != nullptr)
    for (const auto& work : works) work->note_regions(*settings_.regions);
  int helpers = 0;
  {
    const Lock lock(mutex_);
    if (stopped_) throw Stopped{};
    const TaskNumber base = first_ + tasks_.size();
    std::vector<TaskNumber> after;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Task& task = tasks_.emplace_back();
      task.number = base + i;
      task.work = std::move(works[i]);
      task.blocks = steps[i].blocks;
      task.own_thread = steps[i].own_thread;
      if (settings_.observer != nullptr) task.submitted = Clock::now();
      after.clear();
      for (const TaskNumber number : steps[i].after) after.push_back(base + number);
      if (settings_.hooks != nullptr) settings_.hooks->submitted(task.number, after);
      link(task, after);
    }
    helpers = helpers_wanted();
  }
  start_helpers(helpers);
}

void TaskGraph::link(Task& task, std::span<const TaskNumber> predecessors) {
  ++unfinished_;
  for (const TaskNumber number : predecessors) {
    if (is_done(number)) continue;
    tasks_[number - first_].successors.push_back(&task);
    ++task.waiting_for;
  }
  if (task.waiting_for == 0) make_ready(task);
}

void TaskGraph::make_ready(Task& task) {
  if (task.blocks == 0)
    finish_task(task);
  else if (task.own_thread)
    start_threads(task);
  else
    ready_.push_back(&task);
}

void TaskGraph::start_threads(Task& task) {
  for (std::int64_t block = 0; block < task.blocks; ++block) {
    try {
      // Detached: a graph may have many thousand of these, and finish() waits for their work.
      std::thread([self = shared_from_this(), &task, block] {
        std::exception_ptr failure = self->run({&task, block, 0}, TaskObserver::own_thread_lane);
        int helpers = 0;
        {
          const Lock lock(self->mutex_);
          --self->own_threads_;
          self->completed(task, std::move(failure));
          helpers = self->helpers_wanted();
        }
        self->start_helpers(helpers);
      }).detach();
      ++own_threads_;
    } catch (const std::system_error& error) {
      stop(std::make_exception_ptr(
          Error("a task that may wait needs a thread of its own, and none can be started: " +
                std::string(error.what()))));
      return;
    }
  }
}

TaskGraph::Piece TaskGraph::take() {
  if (settings_.stop != nullptr && settings_.stop->load(std::memory_order_relaxed)) stop(nullptr);
  if (ready_.empty() || free_cores_.empty()) return {};
  if (settings_.seed != 0) std::swap(ready_.front(), ready_[order_() % ready_.size()]);
  Task* task = ready_.front();
  const Piece piece{task, task->next_block++, free_cores_.back()};
  free_cores_.pop_back();
  if (task->next_block == task->blocks) ready_.pop_front();
  ++running_;
  return piece;
}

std::exception_ptr TaskGraph::run(const Piece& piece, int lane) {
  const ThreadStateScope scope;
  ThreadState& thread = thread_state();
  const std::uint32_t shard = thread.shard;
  thread = settings_.state;
  thread.shard = shard;
  thread.level = Level::Core;
  thread.inside = this;
  thread.block_index = piece.block;
  thread.block_count = piece.task->blocks;
  if (settings_.observer != nullptr) lane = settings_.observer->task_begins(lane);
  const auto begin = settings_.observer != nullptr ? Clock::now() : Clock::time_point{};
  std::exception_ptr failure;
  try {
    run_block(piece);
  } catch (const Stopped&) {
    // It waited, and was told of a failure elsewhere: that one is the program's.
    const Lock lock(mutex_);
    stop(nullptr);
  } catch (...) {
    failure = with_note(std::current_exception(), "; in " + piece.task->work->title());
  }
  if (settings_.observer != nullptr)
    settings_.observer->task_ran(piece.task->work->name(), lane, piece.block, piece.task->blocks,
                                 piece.task->submitted, begin, Clock::now());
  return failure;
}

void TaskGraph::run_block(const Piece& piece) {
  if (settings_.hooks == nullptr) return piece.task->work->run(piece.block, piece.task->blocks);
  const std::shared_ptr<TaskWatch> watch = settings_.hooks->begin(piece.task->number, piece.block);
  thread_state().watch = watch.get();
  piece.task->work->run(piece.block, piece.task->blocks);
  settings_.hooks->end(piece.task->number, *watch);
}

void TaskGraph::run_taken(const Piece& piece) {
  mutex_.unlock();
  std::exception_ptr failure = run(piece, piece.core);
  mutex_.lock();
  --running_;
  free_cores_.push_back(piece.core);
  completed(*piece.task, std::move(failure));
}

void TaskGraph::completed(Task& task, std::exception_ptr failure) {
  if (failure) stop(std::move(failure));
  if (++task.done_blocks == task.blocks) finish_task(task);
  sleeping_ = false;
  if (waiting_) changed_.notify_one();
}

void TaskGraph::finish_task(Task& task) {
  task.work.reset();
  task.done.store(true, std::memory_order_release);
  --unfinished_;
  if (stopped_) return;
  for (Task* next : task.successors)
    if (--next->waiting_for == 0) make_ready(*next);
  task.successors = {};
}

void TaskGraph::stop(std::exception_ptr failure) {
  stopped_ = true;
  stopping_.store(true, std::memory_order_release);
  if (!failure_) failure_ = std::move(failure);
  ready_.clear();
}

int TaskGraph::helpers_wanted() {
  if (alone_) return 0;
  const std::size_t cores = static_cast<std::size_t>(settings_.cores);
  std::size_t work = running_;
  for (const Task* task : ready_) {
    work += static_cast<std::size_t>(task->blocks - task->next_block);
    if (work >= cores) break;
  }
  work = std::min(work, cores);
  // One piece of work alone stays for the submitting thread, which takes it as soon as it has to wait.
  const int wanted = waiting_ ? static_cast<int>(work) - 1 : work >= 2 ? static_cast<int>(work) : 0;
  if (wanted <= helpers_) return 0;
  return wanted - std::exchange(helpers_, wanted);
}

void TaskGraph::start_helpers(int count) {
  for (int i = 0; i < count; ++i) {
    if (run_on_core_pool([self = shared_from_this()] { self->help(); })) continue;
    const Lock lock(mutex_);
    helpers_ -= count - i;
    alone_ = true;
    return;
  }
}

void TaskGraph::help() {
  mutex_.lock();
  for (Piece piece = take(); piece.task != nullptr; piece = take()) {
    run_taken(piece);
    if (const int more = helpers_wanted(); more != 0) {
      mutex_.unlock();
      start_helpers(more);
      mutex_.lock();
    }
  }
  --helpers_;
  mutex_.unlock();
}

template <class Condition>
void TaskGraph::work_until(Condition condition) {
  waiting_ = true;
  while (!condition()) {
    if (const int more = helpers_wanted(); more != 0) {
      mutex_.unlock();
      start_helpers(more);
      mutex_.lock();
      continue;
    }
    const Piece piece = take();
    if (piece.task == nullptr) {
      if (!condition()) {
        sleeping_ = true;
        ++sleeps_;
        changed_.wait(mutex_);
        sleeping_ = false;
      }
      continue;
    }
    run_taken(piece);
  }
  waiting_ = false;
}

std::optional<std::uint32_t> TaskGraph::idle(std::size_t waits) {
  const Lock lock(mutex_);
  if (stopped_ || !sleeping_ || !ready_.empty() || running_ != 0 || own_threads_ != waits)
    return std::nullopt;
  return sleeps_;
}

void TaskGraph::stay_below(std::size_t unfinished) {
  const Lock lock(mutex_);
  if (unfinished_ >= unfinished)
    work_until([&]() TRILITH_REQUIRES(mutex_) { return stopped_ || unfinished_ < unfinished; });
}

void TaskGraph::wait(TaskNumber task) {
  const Lock lock(mutex_);
  work_until([&]() TRILITH_REQUIRES(mutex_) { return stopped_ || is_done(task); });
  if (stopped_) throw Stopped{};
  if (settings_.hooks != nullptr) settings_.hooks->waited(task);
}

void TaskGraph::wait_all() {
  const Lock lock(mutex_);
  work_until([&]() TRILITH_REQUIRES(mutex_) { return stopped_ || unfinished_ == 0; });
  if (stopped_) throw Stopped{};
  if (settings_.hooks != nullptr) settings_.hooks->waited_for_all();
}

void TaskGraph::wait_for(const Region& region) {
  std::vector<TaskNumber> tasks;
  index_.conflicts(
      region, [this](TaskNumber number) { return settings_.hooks == nullptr && is_done(number); }, tasks);
  for (const TaskNumber task : tasks) wait(task);
}

void TaskGraph::let_go(void* memory, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  if (recording_ != nullptr) {
    names_freed_memory_ = true;
    return;
  }
  try {
    const auto extent = static_cast<std::int64_t>(bytes);
    constexpr std::int64_t stride = 1;
    return wait_for({RecordedView({DType::UInt8, false, 1, memory, &extent, &stride, nullptr}), true});
  } catch (const Stopped&) {
    // What runs may still use it, and is waited for below.
  } catch (const std::bad_alloc&) {
    // Which tasks use it cannot be asked.
  }
  const Lock lock(mutex_);
  work_until([&]() TRILITH_REQUIRES(mutex_) {
    return running_ == 0 && own_threads_ == 0 && (stopped_ || unfinished_ == 0);
  });
}

void TaskGraph::forget_tasks() {
  first_ += tasks_.size();
  tasks_.clear();
}

void TaskGraph::finish() {
  std::exception_ptr failure;
  bool stopped = false;
  {
    const Lock lock(mutex_);
    work_until([&]() TRILITH_REQUIRES(mutex_) {
      return running_ == 0 && own_threads_ == 0 && (stopped_ || unfinished_ == 0);
    });
    stopped = stopped_;
    failure = failure_;
    if (settings_.hooks != nullptr) settings_.hooks->waited_for_all();
    forget_tasks();
  }
  if (failure) std::rethrow_exception(failure);
  if (stopped) throw Stopped{};
}

void TaskGraph::abandon() noexcept {
  const Lock lock(mutex_);
  stop(nullptr);
  work_until([&]() TRILITH_REQUIRES(mutex_) { return running_ == 0 && own_threads_ == 0; });
  forget_tasks();
}

}  // namespace pl::detail
