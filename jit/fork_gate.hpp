// jit/fork_gate.hpp -- fork() finds no compile and no load under way, and the child starts from a clean
// state.
//
// LLVM's locks and the allocator's are held now and then by a thread that compiles; a child made at that
// moment would wait for a thread it does not have. So fork() waits for the compiles that run (tens of
// milliseconds), and the child forgets what its parent's other threads had begun.
#pragma once

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

/// Held while LLVM works. fork() waits for it.
class CompilingHere {
 public:
  CompilingHere();
  ~CompilingHere();
  CompilingHere(const CompilingHere&) = delete;
  CompilingHere& operator=(const CompilingHere&) = delete;
};

}  // namespace trilith::jit
