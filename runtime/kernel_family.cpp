#include "pl/detail/kernel_family.hpp"

#include <utility>

namespace pl::detail {

KernelObject& KernelFamily::keep(const void* tag, std::unique_ptr<KernelObject> kernel) {
  Node* const head = first_.load(std::memory_order_acquire);
  auto fresh = std::make_unique<Node>(Node{tag, std::move(kernel), head});
  fresh->kernel->set_owner(weak_from_this());
  while (!first_.compare_exchange_weak(fresh->next, fresh.get(), std::memory_order_acq_rel))
    // Another thread was first: perhaps with the very same types.
    if (KernelObject* const other = find(tag)) return *other;
  return *fresh.release()->kernel;
}

void KernelFamily::clear() {
  for (Node* node = first_.exchange(nullptr); node != nullptr;) delete std::exchange(node, node->next);
}

}  // namespace pl::detail
