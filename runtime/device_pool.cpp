#include "runtime/device_pool.hpp"

#include <unistd.h>

#include <string>

namespace pl::detail {

std::string device_thread_name(int id) { return "trilith-dev" + std::to_string(id % 1000); }

DevicePool::DevicePool() : owner_(getpid()), devices_(std::make_unique<Devices>()) {}

DevicePool::~DevicePool() {
  const Lock lock(mutex_);
  // Joining threads that stayed in the parent would wait for ever.
  if (owner_ != getpid()) (void)devices_.release();
}

DevicePool::Device& DevicePool::find(int id) {
  if (owner_ != getpid()) {
    (void)devices_.release();
    devices_ = std::make_unique<Devices>();
    owner_ = getpid();
  }
  return (*devices_)[id];
}

WorkQueue& DevicePool::device(int id) {
  const Lock lock(mutex_);
  Device& device = find(id);
  if (device.queues.empty()) {
    device.queues.push_back(std::make_unique<WorkQueue>(1, device_thread_name(id)));
    device.free.push_back(device.queues.front().get());
  }
  return *device.queues.front();
}

WorkQueue* DevicePool::borrow(int id) {
  (void)device(id);
  const Lock lock(mutex_);
  Device& device = find(id);
  if (device.free.empty()) {
    device.queues.push_back(std::make_unique<WorkQueue>(1, device_thread_name(id)));
    return device.queues.back().get();
  }
  WorkQueue* const queue = device.free.back();
  device.free.pop_back();
  return queue;
}

DevicePool::Loan::Loan(DevicePool& pool, int id) : pool_(pool), id_(id), queue_(pool.borrow(id)) {}

DevicePool::Loan::~Loan() {
  const Lock lock(pool_.mutex_);
  // In a child of fork() the queue is not among those of its own.
  if (pool_.owner_ == getpid()) pool_.find(id_).free.push_back(queue_);
}

}  // namespace pl::detail
