#include "runtime/program.hpp"

#include "jit/key.hpp"
#include "pl/detail/location.hpp"
#include "pl/error.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/entry_run.hpp"
#include "runtime/failure_note.hpp"
#include "runtime/mpi/equal_plans.hpp"
#include "runtime/mpi/mpi_world.hpp"
#include "runtime/plan_collectives.hpp"
#include "runtime/platform.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/trace.hpp"

namespace pl::detail {
namespace {

void require_ordinary_code(const std::source_location& where) {
  switch (current_level()) {
    case Level::None: return;
    case Level::Host:
      throw LevelError(
          "a host orchestrator was called in a host orchestrator; they do not nest: call it from ordinary "
          "C++, or dispatch a pl::jit entry",
          location_of(where));
    case Level::Device:
    case Level::Core:
      throw LevelError("a host orchestrator was called on a device; call it from ordinary C++",
                       location_of(where));
  }
}

/// The fields that decide what code runs where; where caches and logs lie does not matter to a compiled
/// program, and how many cores run its tasks in which order may change from run to run.
RunConfig decisive(RunConfig config) {
  const RunConfig initial;
  config.cache_dir = initial.cache_dir;
  config.cache_limit = initial.cache_limit;
  config.shared_cache = initial.shared_cache;
  config.dump_dir = initial.dump_dir;
  config.compile = initial.compile;
  config.max_compile_threads = initial.max_compile_threads;
  config.log_level = initial.log_level;
  config.cores = initial.cores;
  config.threads = initial.threads;
  config.schedule_seed = initial.schedule_seed;
  config.trace = initial.trace;
  return config;
}

std::vector<RecordedArgument> record(const ProgramArguments& with) {
  std::vector<RecordedArgument> result;
  for (std::size_t i = 0; i < with.parameters.size(); ++i)
    result.emplace_back(with.parameters[i], with.arguments[i]);
  return result;
}

/// The first argument that the program was not compiled for, or the number of arguments.
std::size_t first_difference(const Program& program, const ProgramArguments& with) {
  for (std::size_t i = 0; i < with.parameters.size(); ++i) {
    const ParameterInfo& parameter = with.parameters[i];
    if (!parameter.tensor) continue;
    const ViewRef before = program.arguments[i].view.front().view();
    const ViewRef& now = with.arguments[i].view;
    if (before.dtype != now.dtype || before.rank != now.rank) return i;
    for (int axis = 0; axis < now.rank; ++axis) {
      const bool dynamic = parameter.rank >= 0 && parameter.extents[axis] == run_time_extent;
      if (!dynamic && before.extents[axis] != now.extents[axis]) return i;
    }
  }
  return with.parameters.size();
}

/// Does an argument have another extent than when the program was compiled?
bool other_extents(const Program& program, const ProgramArguments& with) {
  for (std::size_t i = 0; i < with.parameters.size(); ++i) {
    if (!with.parameters[i].tensor) continue;
    const RecordedView& before = program.arguments[i].view.front();
    const ViewRef& now = with.arguments[i].view;
    if (!std::equal(now.extents, now.extents + now.rank, before.extents.begin())) return true;
  }
  return false;
}

std::string title_of(const Program& program) {
  return "the program defined at " + location_of(program.definition).str();
}

/// Equal in all processes that call the same program with equal arguments.
std::string key_of(const Program& program, const ProgramArguments& with) {
  std::string text = program.plan;
  for (std::size_t i = 0; i < with.parameters.size(); ++i)
    text += with.parameters[i].tensor ? describe(with.arguments[i].view)
                                      : std::to_string(with.arguments[i].scalar);
  return trilith::jit::content_hash(text);
}

/// All uses of one named extent must agree, as for a kernel.
void require_equal_extents(const ProgramArguments& with, const std::source_location& where) {
  for (const EqualExtents& pair : ArgumentRules(with.parameters).equal_extents) {
    const ViewRef& first = with.arguments[pair.parameter].view;
    const ViewRef& second = with.arguments[pair.other_parameter].view;
    if (first.extents[pair.axis] == second.extents[pair.other_axis]) continue;
    throw ShapeError("the extent \"" + std::string(pair.name) + "\" of a program is " +
                         std::to_string(first.extents[pair.axis]) + " in argument " +
                         std::to_string(pair.parameter + 1) + " (" + describe(first) + ") and " +
                         std::to_string(second.extents[pair.other_axis]) + " in argument " +
                         std::to_string(pair.other_parameter + 1) + " (" + describe(second) +
                         "); all uses of one name must agree",
                     location_of(where));
  }
}

}  // namespace

std::shared_ptr<Program> compile_program(const std::function<void()>& host, const ProgramArguments& with,
                                         const RunConfig* config, const std::source_location& definition,
                                         const std::source_location& where) {
  require_ordinary_code(where);
  require_equal_extents(with, where);
  ContextState& base = current_context(thread_state());
  RunConfig wanted = base.config;
  if (config != nullptr) {
    wanted = with_environment(*config);
    validate(wanted);
  }
  if (wanted.distributed.transport == "processes") share_arrays();
  const bool mpi = wanted.distributed.transport == "mpi";
  const std::size_t ranks = wanted.distributed.device_ids.size();
  if (mpi) (void)MpiWorld::open(ranks);
  auto program = std::make_shared<Program>(base.for_config(wanted), wanted, definition);
  program->arguments = record(with);
  Recorder recorder(static_cast<int>(wanted.distributed.device_ids.size()));
  {
    const ThreadStateScope scope;
    ThreadState& thread = thread_state();
    thread.level = Level::Host;
    thread.context = program->context.get();
    thread.recorder = &recorder;
    host();
    recorder.check(definition);
  }
  program->plan = recorder.text();
  program->collectives = plan_as_json(recorder);
  if (program->context->constant_extents)
    program->package = make_package(recorder, program->arguments, wanted.distributed.device_ids, definition);
  program->domains = recorder.windows.used();
  program->callbacks = std::move(recorder.callbacks);
  if (mpi) require_equal_plans(ranks, title_of(*program), program->plan, location_of(where));
  return program;
}

bool compiled_for(const Program& program, const ProgramArguments& with, const RunConfig* config) {
  const ContextState& context = current_context(thread_state());
  if (config != nullptr) {
    if (with_environment(*config) != program.config) return false;
  } else if (context.id != program.context->id || context.config != program.config) {
    return false;
  }
  return first_difference(program, with) == with.parameters.size();
}

void run_program(const std::shared_ptr<Program>& program, const std::function<void()>& host,
                 const ProgramArguments& with, const RunConfig* config, const std::source_location& where,
                 KeptForRuns* kept) {
  require_ordinary_code(where);
  if (kept == nullptr) require_own_residents(nullptr, with, where);
  if (config != nullptr) {
    const std::string difference =
        describe_difference(decisive(program->config), decisive(with_environment(*config)));
    if (!difference.empty())
      throw ConfigError("a program was called with a configuration that it was not compiled for: " +
                            difference + "; compile it again with this configuration",
                        location_of(where));
  }
  if (const std::size_t i = first_difference(*program, with); i < with.parameters.size())
    throw ShapeError("argument " + std::to_string(i + 1) + " of a program is " +
                         describe(with.arguments[i].view) + "; it was compiled for " +
                         describe(program->arguments[i].view.front().view()) +
                         ": compile it again for this shape, or make the extent a pl::dynamic",
                     location_of(where));
  require_equal_extents(with, where);
  if (platform_of(program->config.platform) == Platform::Hardware) {
    const std::string folder =
        (program->config.dump_dir.empty() ? std::string() : program->config.dump_dir + "/") +
        "trilith_package";
    save_package(*program, folder, where);
    throw ConfigError(
        "platform \"a2a3\" needs CANN and Ascend devices, which are not used from here; the program's "
        "package was "
        "written to " +
            folder +
            ": build and run it there (its README.md says how), or run the program with platform "
            "\"a2a3model\" or \"a2a3sim\"",
        location_of(where));
  }
  RunConfig settings = program->config;
  if (config != nullptr) {
    const RunConfig given = with_environment(*config);
    validate(given);
    settings.cores = given.cores;
    settings.schedule_seed = given.schedule_seed;
    settings.trace = given.trace;
  }
  // Where rank 0's is not traced each process writes a file of its own.
  if (settings.distributed.transport == "mpi" && !settings.trace.empty())
    if (const int rank = MpiWorld::open(settings.distributed.device_ids.size()).rank(); rank > 0)
      settings.trace += ".rank" + std::to_string(rank);
  RunTimes* const times = thread_state().times;
  const auto run =
      std::make_shared<ProgramRun>(*program, std::move(settings), times, kept, other_extents(*program, with));
  if (run->runner().ranks_are_far()) run->runner().begin(title_of(*program), key_of(*program, with));
  if (run->trace() != nullptr) run->trace()->host_begins();
  const Clock::time_point begin = times != nullptr ? Clock::now() : Clock::time_point{};
  {
    const ThreadStateScope scope;
    ThreadState& thread = thread_state();
    thread.level = Level::Host;
    thread.context = program->context.get();
    thread.run = run.get();
    try {
      host();
    } catch (const Stopped&) {
      // A rank failed while the host was still dispatching: finish() throws that failure.
    } catch (...) {
      run->fail(std::current_exception());
    }
  }
  const Clock::time_point dispatched = times != nullptr ? Clock::now() : Clock::time_point{};
  run->finish();
  if (times == nullptr) return;
  times->host_orchestrate_seconds += std::chrono::duration<double>(dispatched - begin).count();
  times->host_wait_seconds += std::chrono::duration<double>(Clock::now() - dispatched).count();
}

std::string plan_of(const Program& program) { return program.plan; }
Statistics statistics_of(const Program& program) { return program.context->statistics(); }

ProgramRun::ProgramRun(const Program& program, RunConfig config, RunTimes* times, KeptForRuns* kept,
                       bool other_extents)
    : program_(program),
      config_(std::move(config)),
      kept_(kept),
      times_(times),
      other_extents_(other_extents),
      trace_(config_.trace.empty() ? nullptr : std::make_unique<RunTrace>(*Trace::to(config_.trace))),
      runner_(make_rank_runner(*this)),
      ranks_(static_cast<std::size_t>(world_size())),
      monitor_(std::make_shared<WaitMonitor>(*this, world_size())),
      windows_(world_size(), program.domains, monitor_, kept, runner_.get()) {
  if (config_.check) checker_ = std::make_unique<Checker>(world_size());
  if (!config_.check && config_.schedule_seed == 0) return;
  for (int rank = 0; rank < world_size(); ++rank)
    watches_.push_back(std::make_unique<TaskWatch>(checker_.get(),
                                                   checker_ ? checker_->device(rank) : CheckedThread{},
                                                   Schedule(config_.schedule_seed, rank, 0, -1)));
}

void ProgramRun::enqueue(int rank, std::function<void()> work) { enqueue(rank, false, std::move(work)); }

void ProgramRun::enqueue_collective(int rank, std::function<void()> work) {
  enqueue(rank, true, std::move(work));
}

void ProgramRun::enqueue(int rank, bool collective, std::function<void()> work) {
  wait_for_callbacks();
  throw_if_stopped();
  {
    const Lock lock(ranks_mutex_);
    RankState& state = ranks_[static_cast<std::size_t>(rank)];
    ++state.jobs;
    ++state.changes;
  }
  runner_->enqueue(rank, [this, rank, collective, queued = Clock::now(), work = std::move(work)] {
    execute(rank, collective, queued, work);
  });
}

WorkQueue& ProgramRun::device(int rank) {
  DevicePool& devices = program_.context->devices();
  const auto number = static_cast<std::size_t>(rank);
  const int id = program_.config.distributed.device_ids[number];
  // With other extents it may have windows that were not recorded.
  if (program_.domains.empty() && !other_extents_) return devices.device(id);
  devices_.resize(program_.config.distributed.device_ids.size());
  if (devices_[number] == nullptr) devices_[number] = std::make_unique<DevicePool::Loan>(devices, id);
  return devices_[number]->queue();
}

void ProgramRun::execute(int rank, bool collective, Clock::time_point queued,
                         const std::function<void()>& work) {
  if (!stopped()) {
    try {
      if (collective)
        run_collective(rank, queued, work);
      else
        run_entry_body({program_.context.get(), &config_, rank, this, &runner_->stop_flag(), times_, queued},
                       work);
    } catch (const Stopped&) {
    } catch (...) {
      fail(with_note(std::current_exception(), "; on rank " + std::to_string(rank)));
    }
  }
  const Lock lock(ranks_mutex_);
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  --state.jobs;
  ++state.changes;
}

void ProgramRun::run_collective(int rank, Clock::time_point queued, const std::function<void()>& work) {
  const ThreadStateScope scope;
  ThreadState& thread = thread_state();
  thread.level = Level::Device;
  thread.context = program_.context.get();
  thread.rank = rank;
  thread.run = this;
  thread.watch = device_watch(rank);
  const MayWait may_wait(*this, rank);
  if (trace_ == nullptr) return work();
  Trace& trace = trace_->trace();
  const TraceRow row = Trace::row_of_device(rank);
  trace.name_rank(rank, config_.distributed.device_ids[static_cast<std::size_t>(rank)], config_.cores);
  TracedThread traced(trace, trace_.get(), row, rank);
  thread.traced = &traced;
  const Clock::time_point begin = Clock::now();
  work();
  const Clock::time_point end = Clock::now();
  trace.span(row, "orchestrate", "collective of the host", begin, end);
  trace.arrow("dispatch", {trace.host_row(), queued}, {row, begin});
  trace_->rank_ended({row, last_moment(begin, end)});
}

void ProgramRun::forget_jobs(int rank) {
  const Lock lock(ranks_mutex_);
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  state.jobs = 0;
  ++state.changes;
}

void ProgramRun::set_may_wait(int rank, bool inside) {
  const Lock lock(ranks_mutex_);
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  state.may_wait = inside;
  ++state.changes;
}

void ProgramRun::set_tasks(int rank, TaskGraph* tasks) {
  const Lock lock(ranks_mutex_);
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  state.tasks = tasks;
  ++state.changes;
}

std::optional<std::uint64_t> ProgramRun::idle(int rank, std::size_t waits) {
  if (!all_dispatched_.load(std::memory_order_acquire)) return std::nullopt;
  const Lock lock(ranks_mutex_);
  const RankState& state = ranks_[static_cast<std::size_t>(rank)];
  std::uint64_t number = state.changes << 32;
  if (state.may_wait) {
    if (waits != 1) return std::nullopt;
  } else if (state.tasks != nullptr) {
    const std::optional<std::uint32_t> tasks = state.tasks->idle(waits);
    if (!tasks) return std::nullopt;
    number += *tasks;
  } else if (waits != 0 || state.jobs != 0) {
    return std::nullopt;
  }
  return number;
}

bool ProgramRun::finished(int rank) {
  const Lock lock(ranks_mutex_);
  return ranks_[static_cast<std::size_t>(rank)].jobs == 0;
}

void ProgramRun::fail(std::exception_ptr failure) {
  {
    const Lock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    runner_->stop_flag().store(true, std::memory_order_relaxed);
  }
  monitor_->wake_all();
  runner_->stop();
}

void ProgramRun::finish() {
  struct Close {
    RunTrace* const trace;
    ~Close() {
      if (trace != nullptr) trace->close();
    }
  } close{trace_.get()};
  if (trace_ != nullptr) trace_->host_returns();
  all_dispatched_.store(true, std::memory_order_release);
  wait_for_callbacks();
  // Here and not with the run, whose last owner may be one of these threads.
  sub_workers_.reset();
  runner_->wait();
  devices_.clear();
  // Who writes the file has it before the run ends anywhere.
  if (trace_ != nullptr && trace_->trace().is_sent()) trace_->close();
  const std::exception_ptr failure = runner_->end(this->failure());
  struct Release {
    Windows& windows;
    ~Release() { windows.release(); }
  } release{windows_};
  if (failure) std::rethrow_exception(failure);
  // The next call of a worker may read what this one has left in windows that are kept.
  if (checker_ && (kept_ == nullptr || !kept_->persistent || kept_->zero_windows)) checker_->finish();
}

std::string ProgramRun::collectives(const WindowMemory& window) {
  return checker_ ? checker_->collectives(window) : std::string();
}

}  // namespace pl::detail
