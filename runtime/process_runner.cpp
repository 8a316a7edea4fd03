// The transport "processes": a process for each rank, forked when the host waits for its ranks.
//
// The host alone runs the orchestrator and compiles, also what a child needs that was not known before. It collects the ranks' jobs; where it must wait for them, at a
// host callback and at the end, it forks a child for each rank that has some. Windows are mapped by then, so children
// have them, and code, at the same addresses: signals, copies and collectives are those of threads. A child reports
// through a pipe; it shares with the host who sleeps in which wait. Its writes to ordinary memory stay its own until all
// ranks have done their work: then it sends what its tasks have written.
#include "pl/error.hpp"
#include "pl/log.hpp"
#include "runtime/backend.hpp"
#include "runtime/error_text.hpp"
#include "runtime/program.hpp"
#include "runtime/rank_process.hpp"
#include "runtime/trace.hpp"
#include "runtime/windows/shared_waits.hpp"
#include "runtime/written_regions.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <span>

namespace pl::detail {
namespace {

using Jobs = std::vector<RankRunner::Job>;

// How often the host looks at ranks that say nothing; less and less often while nothing happens.
constexpr int first_look_ms = 40, rarest_look_ms = 320;
// What a rank that has been told to stop may still do: end its task, and write its trace.
constexpr std::chrono::milliseconds time_to_stop{1000};

/// The life of a rank's process.
[[noreturn]] void run_rank(ProgramRun& run, SharedWaits& waits, WrittenRegions& regions, int rank, Jobs& jobs,
                           RankChannel& channel) {
  const int device = run.config().distributed.device_ids[static_cast<std::size_t>(rank)];
  pthread_setname_np(pthread_self(), device_thread_name(device).c_str());
  run.monitor().publish_to(waits, rank);
  channel.set_answer([&waits, rank] { return waits.wait_for_code(rank); });
  channel.set_texts(waits.texts(rank));
  RunTimes* const times = run.times();
  if (times != nullptr) (void)times->take();
  RunTrace* const traced = run.trace();
  if (traced != nullptr) {
    traced->forget();
    Trace& trace = traced->trace();
    trace.forget_pending();
    trace.send_by({.send =
                       [&channel](TracePiece piece, std::string_view text) {
                         channel.send(MessageHead::Kind::Trace, text, static_cast<std::int32_t>(piece));
                       },
                   .first_arrow = static_cast<std::uint64_t>(getpid()) << 30,
                   .host_of_rank = {},
                   .start = trace.start()});
  }
  for (RankRunner::Job& job : jobs) job();
  waits.finish(rank);
  // What kernels have printed by other means.
  std::fflush(stdout);
  std::cout.flush();
  if (traced != nullptr) traced->close();
  using Kind = MessageHead::Kind;
  if (times != nullptr)
    for (const RankTimes& own : times->take())
      channel.send(Kind::Times, {reinterpret_cast<const char*>(&own), sizeof own});
  if (const std::exception_ptr failure = run.failure()) channel.send(Kind::Failed, encode_exception(failure));
  const bool stopped = run.stopped();
  channel.send(Kind::Done, stopped ? pack_views({}, {}) : pack_views(regions.written(), regions.read()));
  if (waits.wait_for_commit(rank)) send_views(channel, regions.written());
  _exit(0);
}

/// The ranks' processes from fork to end, on the host's thread.
class Ranks {
 public:
  Ranks(ProgramRun& run, SharedWaits& waits) : run_(run), waits_(waits) {}

  void start(WrittenRegions& regions, std::vector<Jobs>& jobs) {
    std::vector<bool> has_work;
    for (const Jobs& list : jobs) has_work.push_back(!list.empty());
    waits_.begin(has_work);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].empty()) continue;
      const int rank = static_cast<int>(i);
      children_.push_back(std::make_unique<Child>(
          rank, [&](RankChannel& channel) { run_rank(run_, waits_, regions, rank, jobs[i], channel); }));
    }
  }

  /// Until every rank has done its work, or the run has failed and all have ended.
  void wait() {
    int look_ms = first_look_ms;
    while (
        std::any_of(children_.begin(), children_.end(), [](const auto& child) { return !child->over(); })) {
      const bool something = listen(look_ms);
      if (run_.stopped() && !give_up_at_) give_up_at_ = Clock::now() + time_to_stop;
      if (give_up_at_ && Clock::now() >= *give_up_at_) {
        for (const auto& child : children_)
          if (!child->over()) child->process.kill();
      }
      look_ms = something || give_up_at_ ? first_look_ms : std::min(2 * look_ms, rarest_look_ms);
      look_for_the_dead(!something);
      if (something || run_.stopped()) continue;
      if (const auto deadlock = waits_.find_deadlock())
        run_.fail(std::make_exception_ptr(CommError(deadlock->text, deadlock->where)));
    }
  }

  /// Takes what they have written, and lets them end.
  void collect() {
    if (!run_.stopped() && children_.size() > 1) {
      std::vector<RankRegions> used;
      for (const auto& child : children_)
        used.push_back({child->process.rank(), child->written, child->read});
      refuse_common_memory(used);
    }
    for (const auto& child : children_)
      if (child->written.empty()) waits_.commit(child->process.rank(), false);
    for (const auto& child : children_) {
      const bool send = !run_.stopped() && !child->written.empty();
      // One that has nothing to send may be gone already.
      if (child->process.has_ended()) {
        if (send) fail_as_ended(child->process);
        continue;
      }
      waits_.commit(child->process.rank(), send);
      if (send && !receive_views(child->process, child->written)) {
        child->process.kill();
        fail_as_ended(child->process);
      }
      child->process.join();
    }
  }

 private:
  struct Child {
    Child(int rank, const std::function<void(RankChannel&)>& work) : process(rank, work) {}
    RankProcess process;
    bool done = false;  ///< waits to be told what to do with its results
    bool dead = false;
    std::vector<RecordedView> written, read;
    [[nodiscard]] bool over() const { return done || dead; }
  };

  /// False: nobody has said anything for so long.
  bool listen(int milliseconds) {
    std::vector<pollfd> files;
    for (const auto& child : children_)
      if (!child->over() && child->process.file() >= 0) files.push_back({child->process.file(), POLLIN, 0});
    if (poll(files.data(), files.size(), milliseconds) <= 0) return false;
    bool something = false;
    for (const auto& child : children_)
      if (!child->over()) something |= hear(*child);
    return something;
  }

  bool hear(Child& child) {
    const std::vector<RankProcess::Message> messages = child.process.receive();
    for (const RankProcess::Message& message : messages) {
      try {
        take(child, message);
      } catch (...) {
        run_.fail(std::current_exception());  // of a sink
      }
    }
    return !messages.empty();
  }

  void take(Child& child, const RankProcess::Message& message) {
    switch (message.head.kind) {
      case MessageHead::Kind::Print: print(message.text); break;
      case MessageHead::Kind::Log: log(static_cast<LogLevel>(message.head.value), message.text); break;
      case MessageHead::Kind::Trace:
        if (run_.trace() != nullptr)
          run_.trace()->take(static_cast<TracePiece>(message.head.value), message.text);
        break;
      case MessageHead::Kind::Times: {
        RankTimes times;
        std::memcpy(&times, message.text.data(), sizeof times);
        if (run_.times() != nullptr) run_.times()->add(times);
        break;
      }
      case MessageHead::Kind::Compile:
        waits_.answer_for_code(child.process.rank(), run_.context().backend().provide(message.text));
        break;
      case MessageHead::Kind::Failed: run_.fail(decode_exception(message.text)); break;
      case MessageHead::Kind::Done:
        unpack_views(message.text, child.written, child.read);
        child.done = true;
        break;
    }
  }

  /// A rank that has ended without a word that it is done. `all`: also those whose end of the pipe somebody else holds
  /// open, which costs a system call each.
  void look_for_the_dead(bool all) {
    for (const auto& child : children_) {
      if (child->over() || (!all && child->process.file() >= 0) || !child->process.has_ended()) continue;
      (void)hear(*child);
      if (child->done) continue;
      child->dead = true;
      // Who was killed because the run had failed is no failure of its own.
      if (!give_up_at_ || Clock::now() < *give_up_at_) fail_as_ended(child->process);
    }
  }

  void fail_as_ended(const RankProcess& process) {
    const int device = run_.config().distributed.device_ids[static_cast<std::size_t>(process.rank())];
    run_.fail(std::make_exception_ptr(CommError(
        "the process of rank " + std::to_string(process.rank()) + " (device " + std::to_string(device) +
        ") ended " + process.how_it_ended() +
        " before the rank's work was done; the other ranks were stopped: see what the rank wrote to "
        "stderr, or run it in a debugger with the transport \"threads\"")));
  }

  ProgramRun& run_;
  SharedWaits& waits_;
  std::vector<std::unique_ptr<Child>> children_;
  std::optional<Clock::time_point> give_up_at_;
};

class ProcessRunner final : public RankRunner {
 public:
  explicit ProcessRunner(ProgramRun& run)
      : run_(run), waits_(run.world_size()), jobs_(static_cast<std::size_t>(run.world_size())) {}

  void enqueue(int rank, Job job) override {
    jobs_[static_cast<std::size_t>(rank)].push_back(std::move(job));
  }

  void wait() override {
    if (!run_.stopped()) {
      // What ranks print and log belongs to the program.
      const ThreadStateScope scope;
      thread_state().context = &run_.context();
      try {
        Ranks ranks(run_, waits_);
        ranks.start(regions_, jobs_);
        ranks.wait();
        ranks.collect();
      } catch (...) {
        run_.fail(std::current_exception());
      }
      if (run_.stopped() && run_.failure() == nullptr)
        run_.fail(std::make_exception_ptr(InternalError("the process of a rank failed and did not say why")));
    }
    for (int rank = 0; rank < run_.world_size(); ++rank) {
      jobs_[static_cast<std::size_t>(rank)].clear();
      run_.forget_jobs(rank);
    }
  }

  void stop() override { waits_.wake_all(); }
  std::atomic<bool>& stop_flag() override { return waits_.stop_flag(); }
  WrittenRegions* regions() override { return &regions_; }

 private:
  ProgramRun& run_;
  SharedWaits waits_;
  WrittenRegions regions_;  ///< filled in the process of a rank
  std::vector<Jobs> jobs_;
};

}  // namespace

std::unique_ptr<RankRunner> make_process_runner(ProgramRun& run) {
  return std::make_unique<ProcessRunner>(run);
}

}  // namespace pl::detail
