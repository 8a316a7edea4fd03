#include "runtime/sub_workers.hpp"

#include <utility>

namespace pl::detail {

SubWorkers::SubWorkers(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

SubWorkers::~SubWorkers() {
  {
    const Lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SubWorkers::enqueue(std::function<void()> work) {
  {
    const Lock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void SubWorkers::serve() {
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
