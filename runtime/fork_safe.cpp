#include "runtime/fork_safe.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace pl::detail {
namespace {

struct Known {
  std::mutex lock;
  std::vector<std::mutex*> mutexes;
};
// Leaked: mutexes of static objects go when the process ends.
Known& known() {
  static Known& all = *new Known;
  return all;
}

bool try_all() {
  const std::vector<std::mutex*>& mutexes = known().mutexes;
  for (std::size_t i = 0; i < mutexes.size(); ++i) {
    if (mutexes[i]->try_lock()) continue;
    while (i-- > 0) mutexes[i]->unlock();
    return false;
  }
  return true;
}

// Tried, not waited for: whoever holds one may want another one that is held here.
void before_fork() {
  known().lock.lock();
  while (!try_all()) std::this_thread::yield();
}

void after_fork() {
  for (std::mutex* mutex : known().mutexes) mutex->unlock();
  known().lock.unlock();
}

// When the library is loaded, so before the compiler's gate: handlers run from the last one on, and the gate waits for
// compiles, which log and must find these mutexes free.
[[maybe_unused]] const int registered = pthread_atfork(before_fork, after_fork, after_fork);

}  // namespace

ForkSafeMutex::ForkSafeMutex() {
  const std::lock_guard lock(known().lock);
  known().mutexes.push_back(&native());
}

ForkSafeMutex::~ForkSafeMutex() {
  const std::lock_guard lock(known().lock);
  std::erase(known().mutexes, &native());
}

}  // namespace pl::detail
