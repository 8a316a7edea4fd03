#include "runtime/device_pool.hpp"

#include <pthread.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace pl::detail {

Device::Device(int id) : thread_([this] { serve(); }) {
  // 15 characters is what the kernel keeps; shown by debuggers and top.
  pthread_setname_np(thread_.native_handle(), ("trilith-dev" + std::to_string(id % 1000)).c_str());
}

Device::~Device() {
  {
    const Lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Device::enqueue(std::function<void()> work) {
  {
    const Lock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void Device::serve() {
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

DevicePool::DevicePool() : owner_(getpid()), devices_(std::make_unique<Devices>()) {}

DevicePool::~DevicePool() {
  const Lock lock(mutex_);
  // Joining threads that stayed in the parent would wait for ever.
  if (owner_ != getpid()) (void)devices_.release();
}

Device& DevicePool::device(int id) {
  const Lock lock(mutex_);
  if (owner_ != getpid()) {
    (void)devices_.release();
    devices_ = std::make_unique<Devices>();
    owner_ = getpid();
  }
  auto& device = (*devices_)[id];
  if (!device) device = std::make_unique<Device>(id);
  return *device;
}

}  // namespace pl::detail
