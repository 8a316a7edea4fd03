// runtime/sub_workers.hpp -- the threads that run host callbacks (`RunConfig.distributed.num_sub_workers`).
#pragma once

#include "runtime/thread_annotations.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace pl::detail {

/// Runs what is enqueued, on as many threads as it was made with. The destructor finishes the queue.
class SubWorkers {
 public:
  explicit SubWorkers(int threads);
  ~SubWorkers();
  SubWorkers(const SubWorkers&) = delete;
  SubWorkers& operator=(const SubWorkers&) = delete;
  void enqueue(std::function<void()> work);

 private:
  void serve();

  Mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> queue_ TRILITH_GUARDED_BY(mutex_);
  bool ending_ TRILITH_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace pl::detail
