// runtime/fork_safe.hpp -- a mutex that no thread holds while the process forks.
//
// A child has only the thread that forked: a mutex that another one held would stay locked in it for ever. For locks
// that a forked rank takes and that are held for a short time, without waiting for anything but locks of this kind.
#pragma once

#include "runtime/thread_annotations.hpp"

namespace pl::detail {

class ForkSafeMutex : public Mutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;
};

}  // namespace pl::detail
