// runtime/captured_kernel.hpp -- the IR that the build captured from a lambda, read once per process.
#pragma once

#include "codegen/ir.hpp"
#include "pl/error.hpp"

#include <memory>
#include <source_location>
#include <string>
#include <typeinfo>
#include <vector>

namespace pl::detail {

struct CaptureUnit;
struct ExternalUnit;

struct CapturedKernel {
  trilith::codegen::Kernel ir;
  std::string hash;                              ///< of the JSON text: the kernel's part of every key
  std::vector<bool> specialise_capture;          ///< one per Kernel::captures
  std::shared_ptr<const ExternalUnit> external;  ///< hand-written: the IR has parameters and no body
  [[nodiscard]] Location location() const;       ///< of its definition
};

/// What identifies a lambda: where `incore` was called, in which unit, and its closure type.
struct KernelIdentity {
  const CaptureUnit* unit = nullptr;
  std::source_location where;
  const std::type_info* closure = nullptr;
  std::vector<const std::type_info*> arguments;  ///< of a generic lambda's instantiation
};

/// Finds the record and reads it; throws CaptureError when the source was not captured.
[[nodiscard]] std::shared_ptr<const CapturedKernel> captured_kernel(const KernelIdentity& identity);

}  // namespace pl::detail
