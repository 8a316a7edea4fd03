// jit/fork_gate.hpp -- fork() finds no compile and no load under way, and the child starts from a clean
// state.
//
// LLVM's locks and the allocator's are held now and then by a thread that compiles; a child made at that
// moment would wait for a thread it does not have. So fork() waits for the compiles that run (tens of
// milliseconds), and the child forgets what its parent's other threads had begun.
#pragma once

#include <future>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

namespace trilith::jit {

/// What an engine does around fork(); all engines of the process are asked.
class ForkAware {
 public:
  virtual void before_fork() = 0;           ///< take the lock
  virtual void after_fork_in_parent() = 0;  ///< give it back
  virtual void after_fork_in_child() = 0;   ///< reset what other threads were doing, give it back

 protected:
  ForkAware() = default;
  ~ForkAware() = default;
  ForkAware(const ForkAware&) = delete;
  ForkAware& operator=(const ForkAware&) = delete;
};

void register_for_fork(ForkAware& object);
void unregister_for_fork(ForkAware& object);

/// Held while LLVM works, or a lock of the compiler's side is held. fork() waits for it.
class CompilingHere {
 public:
  CompilingHere();
  ~CompilingHere();
  CompilingHere(const CompilingHere&) = delete;
  CompilingHere& operator=(const CompilingHere&) = delete;

 private:
  template <class Work>
  friend auto run_beside(Work work);
  struct Nested {};
  /// For a thread that is started by a holder: does not wait for fork(), which waits for the holder.
  explicit CompilingHere(Nested);
};

/// Runs `work` on a thread of its own; the caller holds CompilingHere. fork() waits for it too: a child would
/// wait for ever on a future whose thread it does not have. Detached for the same reason: a child cannot join
/// it.
template <class Work>
auto run_beside(Work work) {
  using Result = decltype(work());
  std::promise<Result> promise;
  std::future<Result> future = promise.get_future();
  std::thread([work = std::move(work), promise = std::move(promise),
               here = std::unique_ptr<CompilingHere>(new CompilingHere(CompilingHere::Nested{}))]() mutable {
    try {
      if constexpr (std::is_void_v<Result>) {
        work();
        promise.set_value();
      } else {
        promise.set_value(work());
      }
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    here.reset();
  }).detach();
  return future;
}

}  // namespace trilith::jit
