// runtime/device_pool.hpp -- the simulated devices of a context: threads, each with its own queue.
//
// A device has one thread for all programs, and one more for each program with windows that runs there at the same time:
// its ranks wait for each other, and what is queued behind them must not be what another program's ranks wait for.
#pragma once

#include "runtime/thread_annotations.hpp"
#include "runtime/work_queue.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace pl::detail {

/// Of at most 15 characters.
[[nodiscard]] std::string device_thread_name(int id);

class DevicePool {
 public:
  DevicePool();
  ~DevicePool();
  /// The queue of this device that all share; its thread starts at the first use.
  [[nodiscard]] WorkQueue& device(int id);

  /// A queue of a device that no one else borrows meanwhile.
  class Loan {
   public:
    Loan(DevicePool& pool, int id);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    [[nodiscard]] WorkQueue& queue() const { return *queue_; }

   private:
    DevicePool& pool_;
    const int id_;
    WorkQueue* const queue_;
  };

 private:
  struct Device {
    std::vector<std::unique_ptr<WorkQueue>> queues;  ///< the first one is for all
    std::vector<WorkQueue*> free;                    ///< that can be borrowed
  };
  using Devices = std::map<int, Device>;
  [[nodiscard]] WorkQueue* borrow(int id);
  [[nodiscard]] Device& find(int id) TRILITH_REQUIRES(mutex_);

  Mutex mutex_;
  // A child of fork() has the map but not the threads: it leaves the map alone and starts its own.
  pid_t owner_ TRILITH_GUARDED_BY(mutex_);
  std::unique_ptr<Devices> devices_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
