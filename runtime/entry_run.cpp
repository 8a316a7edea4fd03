#include "runtime/entry_run.hpp"

#include "runtime/program.hpp"
#include "runtime/run_times.hpp"
#include "runtime/run_trace.hpp"
#include "runtime/trace.hpp"
#include "runtime/windows/task_watch.hpp"

#include <map>
#include <optional>
#include <set>

namespace pl::detail {
namespace {

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Follows one entry: a span a task, and the sums of a benchmark.
class EntryObserver final : public TaskObserver {
 public:
  EntryObserver(const EntryRun& entry, Trace* trace)
      : entry_(entry),
        trace_(trace),
        run_(entry.run != nullptr ? entry.run->trace() : nullptr),
        device_(entry.config->distributed.device_ids[static_cast<std::size_t>(entry.rank)]) {
    if (trace_ == nullptr) return;
    trace_->name_rank(entry.rank, device_, entry.config->cores);
    device_thread_.emplace(*trace_, run_, Trace::row_of_device(entry.rank), entry.rank);
  }
  /// What the device's thread is shown as; null: there is no trace.
  [[nodiscard]] TracedThread* device_thread() { return device_thread_ ? &*device_thread_ : nullptr; }

  [[nodiscard]] int task_begins(int lane) override {
    if (trace_ == nullptr) return lane;
    const Lock lock(mutex_);
    if (lane >= own_thread_lane) {
      while (busy_lanes_.contains(lane)) ++lane;
      busy_lanes_.insert(lane);
      trace_->name_lane(entry_.rank, lane);
    }
    const auto at =
        threads_.try_emplace(lane, *trace_, run_, Trace::row_of_lane(entry_.rank, lane), entry_.rank).first;
    thread_state().traced = &at->second;
    return lane;
  }

  void task_ran(const std::string& name, int lane, std::int64_t block, std::int64_t blocks,
                Clock::time_point submitted, Clock::time_point begin, Clock::time_point end) override {
    const TraceRow row = Trace::row_of_lane(entry_.rank, lane);
    if (trace_ != nullptr) {
      trace_->arrow("submit", {Trace::row_of_device(entry_.rank), submitted}, {row, begin});
      trace_->span(row, "task", name, begin, end,
                   blocks == 1
                       ? std::string()
                       : R"("block": )" + std::to_string(block) + R"(, "blocks": )" + std::to_string(blocks));
    }
    const Lock lock(mutex_);
    busy_ += seconds(end - begin);
    ++tasks_;
    busy_lanes_.erase(lane);
    if (!last_task_ || last_task_->time < end) last_task_ = {row, last_moment(begin, end)};
  }

  void finished(Clock::time_point begin, Clock::time_point submitted, Clock::time_point end) {
    if (entry_.times == nullptr) return;
    const Lock lock(mutex_);
    entry_.times->add({entry_.rank, device_, tasks_, seconds(begin - entry_.queued),
                       seconds(submitted - begin), busy_, seconds(end - begin)});
  }

  /// Writes the entry's own spans, also where it fails.
  void show(Clock::time_point begin, Clock::time_point submitted, Clock::time_point end) {
    if (trace_ == nullptr) return;
    const TraceRow row = Trace::row_of_device(entry_.rank);
    trace_->span(row, "orchestrate", "orchestrate", begin, submitted);
    trace_->span(row, "orchestrate", "wait for tasks", submitted, end);
    if (entry_.run != nullptr) trace_->arrow("dispatch", {trace_->host_row(), entry_.queued}, {row, begin});
    {
      const Lock lock(mutex_);
      if (last_task_ && last_task_->time >= submitted)
        trace_->arrow("last task", *last_task_, {row, last_moment(submitted, end)});
    }
    if (run_ != nullptr) run_->rank_ended({row, last_moment(submitted, end)});
    trace_->flush();
  }

 private:
  const EntryRun& entry_;
  Trace* const trace_;
  RunTrace* const run_;
  const int device_;
  std::optional<TracedThread> device_thread_;
  Mutex mutex_;
  std::map<int, TracedThread> threads_ TRILITH_GUARDED_BY(mutex_);  ///< by lane
  std::set<int> busy_lanes_ TRILITH_GUARDED_BY(mutex_);             ///< of tasks that may wait
  std::optional<TracePoint> last_task_ TRILITH_GUARDED_BY(mutex_);
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
  thread.threads = entry.config->threads;

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
  settings.state.threads = entry.config->threads;
  settings.observer = observer ? &*observer : nullptr;
  if (entry.run != nullptr) settings.regions = entry.run->runner().regions();
  thread.traced = observer ? observer->device_thread() : nullptr;
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
  // Its tasks have ended when the body is left, however that goes.
  struct Show {
    EntryObserver* observer;
    Clock::time_point begin = observer != nullptr ? Clock::now() : Clock::time_point{};
    Clock::time_point submitted = {};
    ~Show() {
      if (observer != nullptr) observer->show(begin, submitted, Clock::now());
    }
  } show{observer ? &*observer : nullptr};
  const auto submitted = [&] {
    if (observer) show.submitted = Clock::now();
  };
  try {
    body();
    submitted();
  } catch (const Stopped&) {
    submitted();
    graph->finish();  // throws what has stopped it
    throw;
  } catch (...) {
    submitted();
    graph->abandon();
    throw;
  }
  graph->finish();
  if (observer) observer->finished(show.begin, show.submitted, Clock::now());
}

}  // namespace pl::detail
