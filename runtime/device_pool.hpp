// runtime/device_pool.hpp -- the simulated devices of a context: a thread each, with its own queue.
#pragma once

#include "runtime/thread_annotations.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include <sys/types.h>

namespace pl::detail {

/// Runs what is enqueued, in order. The destructor finishes the queue; no work may own its device.
class Device {
 public:
  explicit Device(int id);
  ~Device();
  void enqueue(std::function<void()> work);

 private:
  void serve();

  Mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> queue_ TRILITH_GUARDED_BY(mutex_);
  bool ending_ TRILITH_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

class DevicePool {
 public:
  DevicePool();
  ~DevicePool();
  /// The device with this id; its thread starts at the first use.
  [[nodiscard]] Device& device(int id);

 private:
  using Devices = std::map<int, std::unique_ptr<Device>>;
  Mutex mutex_;
  // A child of fork() has the map but not the threads: it leaves the map alone and starts its own.
  pid_t owner_ TRILITH_GUARDED_BY(mutex_);
  std::unique_ptr<Devices> devices_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
