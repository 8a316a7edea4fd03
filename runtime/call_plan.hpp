// runtime/call_plan.hpp -- what a call of one kernel looks at: made once, from the captured IR.
#pragma once

#include "pl/config.hpp"
#include "pl/detail/kernel_object.hpp"
#include "runtime/captured_kernel.hpp"
#include "runtime/measure.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

/// Two extents that must agree, since their annotations have one name.
struct EqualExtents {
  int parameter, axis, other_parameter, other_axis;
  std::string_view name;
};

/// The checks that follow from the parameters' C++ types: the same for native and compiled runs.
struct ArgumentRules {
  explicit ArgumentRules(std::span<const ParameterInfo> parameters);
  std::vector<EqualExtents> equal_extents;
  // Numbers of parameters, so that a call looks at no others.
  std::vector<std::uint8_t> tensors, outputs, scalars;
  bool windows = false;
};

/// How key, signature and scalar slots are made from the arguments.
struct CallPlan {
  struct Capture {
    std::uint32_t offset, size;
    bool specialised;
  };
  CallPlan(std::shared_ptr<const CapturedKernel> captured, std::span<const ParameterInfo> parameters,
           std::size_t closure_size_limit);

  std::shared_ptr<const CapturedKernel> kernel;
  std::vector<std::uint8_t>
      extents_in_key;  ///< one per parameter; bit k: the code depends on the extent of axis k
  std::vector<Capture> captures;
  bool indexes_arrays = false;  ///< of scalars or tiles, at positions that only the run knows
  bool may_wait = false;        ///< for other ranks: not on a core, which others may need to go on
};

/// Words that tell specialisations of one kernel apart. On the stack: a hit allocates nothing.
struct Key {
  static constexpr int capacity = 640;
  int size = 0;
  std::uint64_t words[capacity];  // not initialised: only the first `size` count
  void add(std::uint64_t word) { words[size++] = word; }
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t hash = 0x9e3779b97f4a7c15U;
    for (int i = 0; i < size; ++i) {
      hash = (hash ^ words[i]) * 0xff51afd7ed558ccdU;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// Throws InternalError for a kernel of more parameters than a key has room for.
void check_capacity(std::size_t parameters, std::size_t captures);

[[nodiscard]] inline std::uint64_t read_capture(const void* closure, const CallPlan::Capture& capture) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(closure) + capture.offset, capture.size);
  return bits;
}

/// In line, since every hit makes one.
inline void make_key(const CallPlan& plan, std::uint64_t context, std::span<const ParameterInfo> parameters,
                     const Argument* arguments, const Measured* measured, const void* closure, Key& key) {
  key.add(context);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].tensor) {
      const ViewRef& view = arguments[i].view;
      key.add(static_cast<std::uint64_t>(view.dtype) | static_cast<std::uint64_t>(view.rank) << 8 |
              static_cast<std::uint64_t>(measured[i].layout) << 16);
      if (plan.extents_in_key[i] != 0)
        for (int axis = 0; axis < view.rank; ++axis)
          if ((plan.extents_in_key[i] >> axis & 1) != 0)
            key.add(static_cast<std::uint64_t>(view.extents[axis]));
    } else if (parameters[i].constant) {
      key.add(arguments[i].scalar);
    }
  }
  for (const CallPlan::Capture& capture : plan.captures)
    if (capture.specialised) key.add(read_capture(closure, capture));
}

[[nodiscard]] trilith::codegen::Signature make_signature(const CallPlan& plan,
                                                         std::span<const ParameterInfo> parameters,
                                                         const Argument* arguments, const Measured* measured,
                                                         const void* closure, const RunConfig& config);

/// "float[8, 8], out float[N, 8] strided, int32, const int32 = 3": for people and for keys.
[[nodiscard]] std::string describe(const trilith::codegen::Kernel& kernel,
                                   const trilith::codegen::Signature& signature);

}  // namespace pl::detail
