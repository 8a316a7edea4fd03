// jit/fork_gate.cpp
#include "jit/fork_gate.hpp"

#include "jit/cache/file_lock.hpp"
#include "jit/loader/loader.hpp"

#include <pthread.h>
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

namespace trilith::jit {
namespace {

struct Gate {
  std::mutex lock;
  std::condition_variable changed;
  int compiling = 0;
  bool forking = false;
  std::vector<ForkAware*> objects;
};

// Leaked: destructors of static objects may still release code.
Gate& gate() {
  static auto* const only = new Gate;
  return *only;
}

// Order of the locks: gate, loads, engines. No one holds a later one while it waits for an earlier one.
void before_fork() {
  std::unique_lock lock(gate().lock);
  gate().forking = true;
  gate().changed.wait(lock, [] { return gate().compiling == 0; });
  block_loads();
  for (ForkAware* object : gate().objects) object->before_fork();
  lock.release();  // stays locked across fork()
}

void after_fork_in_parent() {
  for (ForkAware* object : gate().objects) object->after_fork_in_parent();
  release_loads();
  gate().forking = false;
  gate().lock.unlock();
  gate().changed.notify_all();
}

void after_fork_in_child() {
  forget_locks_after_fork();
  for (ForkAware* object : gate().objects) object->after_fork_in_child();
  release_loads();
  // The parent's waiting threads are counted in the condition variable and do not exist here.
  new (&gate().changed) std::condition_variable;
  gate().forking = false;
  gate().lock.unlock();
}

}  // namespace

void register_for_fork(ForkAware& object) {
  static const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  (void)registered;
  const std::lock_guard lock(gate().lock);
  gate().objects.push_back(&object);
}

void unregister_for_fork(ForkAware& object) {
  const std::lock_guard lock(gate().lock);
  std::erase(gate().objects, &object);
}

CompilingHere::CompilingHere() {
  std::unique_lock lock(gate().lock);
  gate().changed.wait(lock, [] { return !gate().forking; });
  ++gate().compiling;
}

CompilingHere::CompilingHere(Nested) {
  const std::lock_guard lock(gate().lock);
  ++gate().compiling;
}

CompilingHere::~CompilingHere() {
  const std::lock_guard lock(gate().lock);
  --gate().compiling;
  gate().changed.notify_all();
}

}  // namespace trilith::jit
