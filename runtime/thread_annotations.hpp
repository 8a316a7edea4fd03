// runtime/thread_annotations.hpp -- a mutex that clang's -Wthread-safety understands.
#pragma once

#include <mutex>

#if defined(__clang__)
#define TRILITH_ANNOTATION(x) __attribute__((x))
#else
#define TRILITH_ANNOTATION(x)
#endif
#define TRILITH_GUARDED_BY(mutex) TRILITH_ANNOTATION(guarded_by(mutex))
#define TRILITH_REQUIRES(mutex) TRILITH_ANNOTATION(requires_capability(mutex))

namespace pl::detail {

class TRILITH_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() TRILITH_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() TRILITH_ANNOTATION(release_capability()) { mutex_.unlock(); }
  /// For a condition variable, which locks and unlocks inside.
  [[nodiscard]] std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class TRILITH_ANNOTATION(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) TRILITH_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() TRILITH_ANNOTATION(release_capability()) { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace pl::detail
