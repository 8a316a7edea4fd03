// runtime/device_pool.hpp -- the simulated devices of a context: a thread each, with its own queue.
#pragma once

#include "runtime/thread_annotations.hpp"
#include "runtime/work_queue.hpp"

#include <map>
#include <memory>
#include <string>

#include <sys/types.h>

namespace pl::detail {

/// Of at most 15 characters.
[[nodiscard]] std::string device_thread_name(int id);

class DevicePool {
 public:
  DevicePool();
  ~DevicePool();
  /// The device with this id; its thread starts at the first use.
  [[nodiscard]] WorkQueue& device(int id);

 private:
  using Devices = std::map<int, std::unique_ptr<WorkQueue>>;
  Mutex mutex_;
  // A child of fork() has the map but not the threads: it leaves the map alone and starts its own.
  pid_t owner_ TRILITH_GUARDED_BY(mutex_);
  std::unique_ptr<Devices> devices_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
