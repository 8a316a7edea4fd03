#include "runtime/work_queue.hpp"

#include <pthread.h>

#include <utility>

namespace pl::detail {

WorkQueue::WorkQueue(int threads, const std::string& name) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { serve(); });
    if (!name.empty()) pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

WorkQueue::~WorkQueue() {
  {
    const Lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkQueue::enqueue(std::function<void()> work) {
  {
    const Lock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void WorkQueue::serve() {
  for (;;) {
    std::function<void()> work;
    {
      const Lock lock(mutex_);
      while (queue_.empty() && !ending_) wake_.wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace pl::detail
