// runtime/work_queue.hpp -- threads that run what they are given.
#pragma once

#include "runtime/thread_annotations.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pl::detail {

/// Runs what is enqueued, in order where it has one thread. The destructor finishes the queue; no work may own it.
class WorkQueue {
 public:
  /// `name` is what debuggers and top show: 15 characters are kept. Empty: that of the program.
  explicit WorkQueue(int threads, const std::string& name = {});
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
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
