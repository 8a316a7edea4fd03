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

WorkQueue& DevicePool::device(int id) {
  const Lock lock(mutex_);
  if (owner_ != getpid()) {
    (void)devices_.release();
    devices_ = std::make_unique<Devices>();
    owner_ = getpid();
  }
  auto& device = (*devices_)[id];
  if (!device) device = std::make_unique<WorkQueue>(1, device_thread_name(id));
  return *device;
}

}  // namespace pl::detail
