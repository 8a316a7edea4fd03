// runtime/bound_call.hpp -- a kernel's entry with arguments that are ready to be given to it.
#pragma once

#include "pl/abi.hpp"
#include "pl/bound.hpp"
#include "pl/detail/kernel_object.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pl::detail {

class BoundCall {
 public:
  /// `scalars`: the slots of the ABI, captures included. The views' extents and strides are copied.
  BoundCall(KernelObject& kernel, KernelObject::Handle handle, std::span<const ParameterInfo> parameters,
            const Argument* arguments, std::vector<std::uint64_t> scalars);
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  void run(const std::source_location& where) const;
  /// Of calls that do no more than run the code; it must not outlive this.
  [[nodiscard]] std::unique_ptr<BareState> bare(const std::source_location& where) const;

 private:
  KernelObject& kernel_;
  KernelObject::Handle handle_;
  abi::Entry entry_ = nullptr;  ///< null: runs natively
  std::vector<std::int64_t> numbers_;
  std::vector<Argument> arguments_;
  std::vector<abi::Tensor> tensors_;
  std::vector<std::uint64_t> scalars_;
};

}  // namespace pl::detail
