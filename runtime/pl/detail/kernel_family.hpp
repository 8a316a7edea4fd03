// runtime/pl/detail/kernel_family.hpp -- a lambda's kernel objects: one, or one for each instantiation of a generic lambda.
//
// Private: included by pl/kernel.hpp. Without the lambda's type, which would make the compiler write all of this again for
// every kernel of a program. Thread-safe.
#pragma once

#include "pl/detail/kernel_object.hpp"

#include <atomic>
#include <memory>
#include <source_location>

namespace pl::detail {

class KernelFamily : public std::enable_shared_from_this<KernelFamily> {
 public:
  virtual ~KernelFamily() = default;
  KernelFamily(const KernelFamily&) = delete;
  KernelFamily& operator=(const KernelFamily&) = delete;

 protected:
  KernelFamily(std::source_location where, const CaptureUnit* unit) : where_(where), unit_(unit) {}

  /// The object of these parameter types, for which `tag`, an address, stands; null: there is none yet.
  [[nodiscard]] KernelObject* find(const void* tag) const {
    const Node* node = first_.load(std::memory_order_acquire);
    while (node != nullptr && node->tag != tag) node = node->next;
    return node == nullptr ? nullptr : node->kernel.get();
  }
  /// Keeps the object, and returns it or the one that another thread has kept for these types meanwhile.
  KernelObject& keep(const void* tag, std::unique_ptr<KernelObject> kernel);
  /// Drops the objects; they name the lambda, which ends before this base does.
  void clear();

  [[nodiscard]] const std::source_location& where() const { return where_; }
  [[nodiscard]] const CaptureUnit* unit() const { return unit_; }

 private:
  struct Node {
    const void* tag;
    std::unique_ptr<KernelObject> kernel;
    Node* next;
  };
  const std::source_location where_;
  const CaptureUnit* const unit_;
  std::atomic<Node*> first_{nullptr};
};

}  // namespace pl::detail
