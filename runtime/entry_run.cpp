#include "runtime/entry_run.hpp"

#include "runtime/program.hpp"
#include "runtime/run_times.hpp"
#include "runtime/trace.hpp"
#include "runtime/windows/task_watch.hpp"

#include <optional>

namespace pl::detail {
namespace {

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Follows one entry: a span a task, and the sums of a benchmark.
class EntryObserver final : public TaskObserver {
 public:
  EntryObserver(const EntryRun& entry, Trace* trace)
      : entry_(entry),
        trace_(trace),
        device_(entry.config->distributed.device_ids[static_cast<std::size_t>(entry.rank)]) {
    if (trace_ != nullptr) trace_->name_rank(entry.rank, device_, entry.config->cores);
  }

  void task_ran(const std::string& name, int lane, std::int64_t block, std::int64_t blocks,
                Clock::time_point begin, Clock::time_point end) override {
    if (trace_ != nullptr)
      trace_->span(track(), Trace::core_row(lane), name, begin, end,
                   blocks == 1
                       ? std::string()
                       : R"("block": )" + std::to_string(block) + R"(, "blocks": )" + std::to_string(blocks));
    const Lock lock(mutex_);
    busy_ += seconds(end - begin);
    ++tasks_;
  }

  void finished(Clock::time_point begin, Clock::time_point submitted, Clock::time_point end) {
    if (trace_ != nullptr) {
      trace_->span(track(), Trace::device_row, "orchestrate", begin, submitted);
      trace_->span(track(), Trace::device_row, "wait for tasks", submitted, end);
      trace_->flush();
    }
    if (entry_.times == nullptr) return;
    const Lock lock(mutex_);
    entry_.times->add({entry_.rank, device_, tasks_, seconds(begin - entry_.queued),
                       seconds(submitted - begin), busy_, seconds(end - begin)});
  }

 private:
  [[nodiscard]] int track() const { return entry_.rank + 1; }
  const EntryRun& entry_;
  Trace* const trace_;
  const int device_;
  Mutex mutex_;
  double busy_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::uint64_t tasks_ TRILITH_GUARDED_BY(mutex_) = 0;
};

}  // namespace

void run_entry_body(const EntryRun& entry, const std::function<void()>& body) {
  const ThreadStateScope scope;
  ThreadState& thread = thread_state();
  thread.level = Level::Device;
  thread.context = entry.context;
  thread.rank = entry.rank;
  thread.run = entry.run;
  thread.options = nullptr;
  thread.manual = false;

  Trace* const trace = Trace::to(entry.config->trace);
  std::optional<EntryObserver> observer;
  if (trace != nullptr || entry.times != nullptr) observer.emplace(entry, trace);
  TaskGraph::Settings settings;
  settings.cores = entry.config->cores;
  // Each rank in an order of its own.
  if (entry.config->schedule_seed != 0)
    settings.seed = entry.config->schedule_seed + static_cast<std::uint64_t>(entry.rank);
  settings.stop = entry.stop;
  settings.state.context = entry.context;
  settings.state.rank = entry.rank;
  settings.observer = observer ? &*observer : nullptr;
  if (entry.run != nullptr) settings.regions = entry.run->runner().regions();
  std::optional<RankWatch> watch;
  thread.watch = entry.run != nullptr ? entry.run->device_watch(entry.rank) : nullptr;
  if (thread.watch != nullptr) {
    watch.emplace(*thread.watch, entry.rank, entry.config->schedule_seed);
    settings.hooks = &*watch;
  }
  const auto graph = std::make_shared<TaskGraph>(std::move(settings));
  thread.tasks = graph.get();
  struct Known {
    const EntryRun& entry;
    explicit Known(const EntryRun& entry_, TaskGraph* tasks) : entry(entry_) {
      if (entry.run != nullptr) entry.run->set_tasks(entry.rank, tasks);
    }
    ~Known() {
      if (entry.run != nullptr) entry.run->set_tasks(entry.rank, nullptr);
    }
  } known(entry, graph.get());
  const Clock::time_point begin = observer ? Clock::now() : Clock::time_point{};
  try {
    body();
  } catch (const Stopped&) {
    graph->finish();  // throws what has stopped it
    throw;
  } catch (...) {
    graph->abandon();
    throw;
  }
  const Clock::time_point submitted = observer ? Clock::now() : Clock::time_point{};
  graph->finish();
  if (observer) observer->finished(begin, submitted, Clock::now());
}

}  // namespace pl::detail
