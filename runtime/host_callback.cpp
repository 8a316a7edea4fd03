// Callbacks of a host orchestrator: ordinary C++ between the dispatches.
#include "pl/host_callback.hpp"

#include "pl/detail/location.hpp"
#include "pl/error.hpp"
#include "runtime/failure_note.hpp"
#include "runtime/measure.hpp"
#include "runtime/program.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/work_queue.hpp"

#include <utility>

namespace pl::detail {
namespace {

thread_local const WorkerState* calling_worker = nullptr;

/// A callback is ordinary C++ wherever it runs.
struct OrdinaryCode {
  const ThreadStateScope scope;
  const WorkerState* const before = calling_worker;
  explicit OrdinaryCode(const WorkerState* worker) {
    ThreadState& thread = thread_state();
    const std::uint32_t shard = thread.shard;
    thread = ThreadState{};
    thread.shard = shard;
    calling_worker = worker;
  }
  ~OrdinaryCode() { calling_worker = before; }
};

std::string title(const std::string& name) {
  return name.empty() ? "a host callback" : "the host callback \"" + name + "\"";
}

}  // namespace

const WorkerState* worker_of_callback() { return calling_worker; }

void host_callback(const std::string& name, std::function<void()> work, std::span<const Tensor<>> tensors,
                   const std::source_location& where) {
  const ThreadState& thread = thread_state();
  if (thread.level != Level::Host)
    throw LevelError(
        "pl::host_callback was called outside a host orchestrator; elsewhere call the function itself",
        location_of(where));
  if (thread.recorder != nullptr) {
    thread.recorder->callbacks.push_back({name, where});
    return;
  }
  thread.run->call_back({name, std::move(work), {tensors.begin(), tensors.end()}, where});
}

void ProgramRun::call_back(HostCallback callback) {
  throw_if_stopped();
  if (!callback.work) callback.work = named_callback(callback);
  wait_for_ranks();
  const WorkerState* const worker = kept_ != nullptr ? kept_->worker : nullptr;
  if (config_.distributed.num_sub_workers == 0) {
    runner_->call_back(callback, [&] { run_callback(callback, worker); });
    throw_if_stopped();
    return;
  }
  std::shared_ptr<WorkQueue> threads = kept_ != nullptr ? kept_->sub_workers : sub_workers_;
  if (threads == nullptr)
    threads = sub_workers_ = std::make_shared<WorkQueue>(config_.distributed.num_sub_workers);
  for (const Tensor<>& before : callback_tensors_)
    for (const Tensor<>& now : callback.tensors)
      if (overlap(before.view(), now.view())) wait_for_callbacks();
  callback_tensors_.insert(callback_tensors_.end(), callback.tensors.begin(), callback.tensors.end());
  {
    const Lock lock(mutex_);
    ++callbacks_;
  }
  threads->enqueue([self = shared_from_this(), callback = std::move(callback), worker] {
    if (!self->stopped()) self->run_callback(callback, worker);
    const Lock lock(self->mutex_);
    if (--self->callbacks_ == 0) self->done_.notify_all();
  });
}

std::function<void()> ProgramRun::named_callback(const HostCallback& callback) const {
  const HostCallbacks* const known = kept_ != nullptr ? kept_->callbacks : nullptr;
  const auto found = known != nullptr ? known->find(callback.name) : HostCallbacks::const_iterator{};
  if (known == nullptr || found == known->end())
    throw ConfigError(title(callback.name) +
                          " was called and none of that name was given; run the program on a worker of "
                          "prepare({.callbacks = {{\"" +
                          callback.name + "\", …}}})",
                      location_of(callback.where));
  return [function = found->second, tensors = callback.tensors] { function(tensors); };
}

void ProgramRun::run_callback(const HostCallback& callback, const WorkerState* worker) {
  try {
    const OrdinaryCode ordinary(worker);
    callback.work();
  } catch (...) {
    fail(with_note(std::current_exception(), "; in " + title(callback.name)));
  }
}

void ProgramRun::wait_for_ranks() {
  // Until they have finished nothing is dispatched: a wait among them that nothing ends is a deadlock already.
  all_dispatched_.store(true, std::memory_order_release);
  runner_->wait();
  all_dispatched_.store(false, std::memory_order_release);
  throw_if_stopped();
  if (checker_ == nullptr) return;
  std::vector<CheckedThread*> devices;
  for (const auto& watch : watches_) devices.push_back(&watch->thread());
  checker_->all_have_met(devices);
}

void ProgramRun::wait_for_callbacks() {
  if (callback_tensors_.empty() && sub_workers_ == nullptr &&
      (kept_ == nullptr || kept_->sub_workers == nullptr))
    return;
  {
    const Lock lock(mutex_);
    while (callbacks_ != 0) done_.wait(mutex_);
  }
  callback_tensors_.clear();
}

}  // namespace pl::detail
