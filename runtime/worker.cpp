#include "pl/worker.hpp"

#include "pl/detail/location.hpp"
#include "runtime/measure.hpp"
#include "runtime/program.hpp"
#include "runtime/resident_tensor.hpp"
#include "runtime/windows/copy_region.hpp"
#include "runtime/windows/window_memory.hpp"
#include "runtime/work_queue.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace pl::detail {

/// The outcome of a submitted call.
class Submission {
 public:
  void finish(std::exception_ptr failure) {
    {
      const Lock lock(mutex_);
      done_ = true;
      failure_ = std::move(failure);
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool done() const {
    const Lock lock(mutex_);
    return done_;
  }
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout) const {
    const auto until = std::chrono::steady_clock::now() + timeout;
    const Lock lock(mutex_);
    while (!done_)
      if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) return done_;
    return true;
  }
  void result() const {
    const Lock lock(mutex_);
    while (!done_) changed_.wait(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  mutable Mutex mutex_;
  mutable std::condition_variable_any changed_;
  bool done_ TRILITH_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ TRILITH_GUARDED_BY(mutex_);
};

namespace {

const std::vector<int>& devices_of(const Program& program) { return program.config.distributed.device_ids; }

std::string text_of(const std::vector<int>& ids) {
  std::string text = "{";
  for (std::size_t i = 0; i < ids.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  return text + "}";
}

/// Wakes every device of the program and waits until each has answered.
void start_devices(const Program& program, std::chrono::milliseconds timeout, const Location& where) {
  struct Answers {
    Mutex mutex;
    std::condition_variable_any changed;
    std::vector<int> missing TRILITH_GUARDED_BY(mutex);
  };
  // Shared: a device that answers late must still find it.
  const auto answers = std::make_shared<Answers>();
  {
    const Lock lock(answers->mutex);
    answers->missing = devices_of(program);
  }
  for (const int id : devices_of(program))
    program.context->devices().device(id).enqueue([answers, id] {
      const Lock lock(answers->mutex);
      std::erase(answers->missing, id);
      if (answers->missing.empty()) answers->changed.notify_all();
    });
  const auto until = std::chrono::steady_clock::now() + timeout;
  const Lock lock(answers->mutex);
  while (!answers->missing.empty())
    if (answers->changed.wait_until(answers->mutex, until) == std::cv_status::timeout &&
        !answers->missing.empty())
      throw ConfigError(
          "prepare: devices " + text_of(answers->missing) + " did not answer within " +
              std::to_string(timeout.count()) +
              " ms; another program may be running there: wait for it, or give a longer startup_timeout",
          where);
}

void require_callbacks(const Program& program, const HostCallbacks& given, const Location& where) {
  for (const RecordedCallback& callback : program.callbacks) {
    if (callback.name.empty() || given.contains(callback.name)) continue;
    std::string names;
    for (const auto& [name, function] : given) names += (names.empty() ? "" : ", ") + ("\"" + name + "\"");
    throw ConfigError("prepare: the program calls the host callback \"" + callback.name + "\" at " +
                          location_of(callback.where).str() + " and .callbacks has " +
                          (names.empty() ? "none" : names) + "; give one of that name",
                      where);
  }
}

}  // namespace

class WorkerState {
 public:
  WorkerState(const std::shared_ptr<Program>& program, const PrepareOptions& options, const Location& where)
      : callbacks_(options.callbacks), max_in_flight_(options.max_in_flight), devices_(devices_of(*program)) {
    if (options.max_in_flight < 1)
      throw ConfigError(
          "prepare: max_in_flight is " + std::to_string(options.max_in_flight) + "; it is 1 or more", where);
    add(program, options, where);
    for (std::size_t i = 0; i < options.extra.size(); ++i) {
      const std::shared_ptr<Program>& extra = options.extra[i].program();
      if (devices_of(*extra) != devices_)
        throw ConfigError("prepare: extra program " + std::to_string(i + 1) + " was compiled for devices " +
                              text_of(devices_of(*extra)) + " and the worker's program for " +
                              text_of(devices_) + "; compile both with the same device_ids",
                          where);
      add(extra, options, where);
    }
  }
  ~WorkerState() { close("went with its worker"); }
  WorkerState(const WorkerState&) = delete;
  WorkerState& operator=(const WorkerState&) = delete;

  [[nodiscard]] int world_size() const { return static_cast<int>(devices_.size()); }

  /// What must hold before a call is taken.
  void check(const Program& program, const ProgramArguments& with, const std::source_location& where) const {
    if (!programs_.contains(&program))
      throw PlanError(
          "a worker was called with a program that it was not prepared with; list it: prepare({.extra = "
          "{&other}})",
          location_of(where));
    require_own_residents(this, with, where);
  }

  /// Runs `work` on this thread when all earlier calls have ended.
  void in_turn(const std::function<void()>& work, const Location& where) {
    std::uint64_t ticket = 0;
    {
      const Lock lock(mutex_);
      require_open(where);
      ticket = next_ticket_++;
    }
    take_turn(ticket, work);
  }

  std::shared_ptr<Submission> submit(const Program& program, WorkerJob job, const Location& where) {
    auto submission = std::make_shared<Submission>();
    const Lock lock(mutex_);
    require_open(where);
    while (in_flight_ >= max_in_flight_) {
      changed_.wait(mutex_);
      require_open(where);
    }
    ++in_flight_;
    const std::uint64_t ticket = next_ticket_++;
    if (submitted_ == nullptr) submitted_ = std::make_unique<WorkQueue>(1);
    submitted_->enqueue([this, ticket, submission, &program, job = std::move(job)] {
      std::exception_ptr failure;
      try {
        take_turn(ticket, [&] { run(program, job); });
      } catch (...) {
        failure = std::current_exception();
      }
      submission->finish(std::move(failure));
      {
        const Lock done(mutex_);
        --in_flight_;
      }
      changed_.notify_all();
    });
    return submission;
  }

  void run(const Program& program, const WorkerJob& job) {
    KeptForRuns& kept = programs_.at(&program).kept;
    try {
      job(kept);
    } catch (...) {
      // Signals that were set for ranks that stopped must not be taken for those of the next call.
      release_windows(kept.windows);
      throw;
    }
  }

  void close(const std::string& how) {
    std::unique_ptr<WorkQueue> submitted;
    {
      const Lock lock(mutex_);
      if (closed_.empty()) closed_ = how;
      while (serving_ != next_ticket_) changed_.wait(mutex_);
      submitted = std::move(submitted_);
    }
    submitted.reset();
    for (const std::shared_ptr<Resident>& resident : residents_) resident->release(how);
    residents_.clear();
    for (auto& [program, ready] : programs_) release_windows(ready.kept.windows);
  }

  void require_not_inside(const char* what, const Location& where) const {
    if (worker_of_callback() == this)
      throw LevelError(std::string("a worker was asked to ") + what +
                           " in a host callback of its own, where it would wait for itself; do it when the "
                           "call has returned",
                       where);
  }

  std::shared_ptr<Resident> allocate(DType dtype, const Index& dims, bool stacked, std::string name,
                                     const std::source_location& where) {
    {
      const Lock lock(mutex_);
      require_open(location_of(where));
    }
    if (stacked && (dims.values().empty() || dims.values()[0] != world_size())) {
      std::string text;
      for (const std::int64_t extent : dims.values())
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
      throw ShapeError("a stacked tensor of [" + text + "] for " + std::to_string(world_size()) +
                           " ranks; its first extent is the number of ranks, a shard each",
                       location_of(where));
    }
    auto resident = std::make_shared<Resident>(this, dtype, dims, stacked, std::move(name), where);
    const Lock lock(mutex_);
    residents_.push_back(resident);
    return resident;
  }

  void forget(const std::shared_ptr<Resident>& resident) {
    const Lock lock(mutex_);
    std::erase(residents_, resident);
  }

 private:
  struct Ready {
    std::shared_ptr<Program> program;
    KeptForRuns kept;
  };

  void add(const std::shared_ptr<Program>& program, const PrepareOptions& options, const Location& where) {
    require_callbacks(*program, options.callbacks, where);
    // Processes of ranks are started for each call.
    if (program->config.distributed.transport == "threads")
      start_devices(*program, options.startup_timeout, where);
    const int threads = program->config.distributed.num_sub_workers;
    if (threads != 0 && sub_workers_ == nullptr) sub_workers_ = std::make_shared<WorkQueue>(threads);
    programs_.emplace(program.get(), Ready{program,
                                           {this, options.persistent, options.zero_windows, &callbacks_,
                                            threads != 0 ? sub_workers_ : nullptr}});
  }

  void require_open(const Location& where) const TRILITH_REQUIRES(mutex_) {
    if (!closed_.empty())
      throw LevelError("a worker was used after it " + closed_ + "; prepare another", where);
  }

  void take_turn(std::uint64_t ticket, const std::function<void()>& work) {
    {
      const Lock lock(mutex_);
      while (serving_ != ticket) changed_.wait(mutex_);
    }
    struct Leave {
      WorkerState& worker;
      ~Leave() {
        {
          const Lock lock(worker.mutex_);
          ++worker.serving_;
        }
        worker.changed_.notify_all();
      }
    } leave{*this};
    work();
  }

  const HostCallbacks callbacks_;
  const int max_in_flight_;
  const std::vector<int> devices_;
  std::shared_ptr<WorkQueue> sub_workers_;
  std::map<const Program*, Ready> programs_;  ///< what is kept belongs to who has the turn
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t next_ticket_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::uint64_t serving_ TRILITH_GUARDED_BY(mutex_) = 0;
  int in_flight_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::string closed_ TRILITH_GUARDED_BY(mutex_);                    ///< how; empty: open
  std::unique_ptr<WorkQueue> submitted_ TRILITH_GUARDED_BY(mutex_);  ///< calls, from the first one on
  std::vector<std::shared_ptr<Resident>> residents_;
};

std::shared_ptr<WorkerState> make_worker(const std::shared_ptr<Program>& program,
                                         const PrepareOptions& options, const std::source_location& where) {
  return std::make_shared<WorkerState>(program, options, location_of(where));
}

void call_on(WorkerState& worker, const Program& program, const ProgramArguments& with, const WorkerJob& job,
             const std::source_location& where) {
  worker.require_not_inside("run a program", location_of(where));
  worker.check(program, with, where);
  worker.in_turn([&] { worker.run(program, job); }, location_of(where));
}

std::shared_ptr<Submission> submit_to(WorkerState& worker, const Program& program,
                                      const ProgramArguments& with, WorkerJob job,
                                      const std::source_location& where) {
  worker.require_not_inside("run a program", location_of(where));
  worker.check(program, with, where);
  return worker.submit(program, std::move(job), location_of(where));
}

void close(WorkerState& worker, const std::source_location& where) {
  worker.require_not_inside("close", location_of(where));
  worker.close("was closed at " + location_of(where).str());
}

std::shared_ptr<Resident> allocate(WorkerState& worker, DType dtype, const Index& dims, bool stacked,
                                   std::string name, const std::source_location& where) {
  return worker.allocate(dtype, dims, stacked, std::move(name), where);
}

namespace {

void require_owner(const WorkerState& worker, const Resident& resident, const Location& where) {
  if (resident.owner == &worker) return;
  throw PlanError(resident.title() + " belongs to another worker; use the worker that allocated it", where);
}

}  // namespace

void release(WorkerState& worker, const std::shared_ptr<Resident>& resident,
             const std::source_location& where) {
  const Location place = location_of(where);
  worker.require_not_inside("free a tensor", place);
  require_owner(worker, *resident, place);
  worker.in_turn(
      [&] {
        (void)resident->view(place);
        resident->release("was freed at " + place.str());
      },
      place);
  worker.forget(resident);
}

void copy(WorkerState& worker, const std::shared_ptr<Resident>& resident, const ViewRef& other, CopyKind kind,
          const std::source_location& where) {
  const Location place = location_of(where);
  worker.require_not_inside("copy a tensor", place);
  require_owner(worker, *resident, place);
  if (kind == CopyKind::StackedFrom && !resident->stacked)
    throw PlanError("copy_stacked_from of " + resident->title() + ", which has no shards; use copy_from",
                    place);
  if (kind != CopyKind::To && other.read_only)
    throw PlanError("copy_from into a tensor that is read only; give one of memory that may be written",
                    place);
  worker.in_turn(
      [&] {
        const ViewRef own = resident->view(place);
        if (own.rank != other.rank || !std::equal(own.extents, own.extents + own.rank, other.extents))
          throw ShapeError(
              "a copy between " + resident->title() + " and " + describe(other) + "; both have one shape",
              place);
        const auto axes = static_cast<std::size_t>(own.rank);
        const ViewRef &to = kind == CopyKind::To ? own : other, &from = kind == CopyKind::To ? other : own;
        copy_region(static_cast<char*>(to.data), {to.strides, axes}, static_cast<const char*>(from.data),
                    {from.strides, axes}, {own.extents, axes},
                    static_cast<std::int64_t>(trilith::codegen::size_of(own.dtype)));
      },
      place);
}

}  // namespace pl::detail

namespace pl {

bool SubmittedCall::done() const { return submission_->done(); }
bool SubmittedCall::wait(std::chrono::milliseconds timeout) const { return submission_->wait(timeout); }
void SubmittedCall::result() const { submission_->result(); }

}  // namespace pl
