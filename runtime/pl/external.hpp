// runtime/pl/external.hpp -- what a hand-written kernel includes: its arguments, its signature, faults.
//
//   #include <pl/external.hpp>
//   TRILITH_SIGNATURE(scale, "float[any], out float[any], float")
//   extern "C" std::int32_t scale(const pl::abi::Args* args, const pl::abi::Services* services) {
//     const float* x = pl::external::data<const float>(args, 0);
//     float* y = pl::external::data<float>(args, 1);
//     const float by = pl::external::scalar<float>(args, 0);
//     for (std::int64_t i = 0; i < pl::external::elements(args, 0); ++i) y[i] = x[i] * by;
//     return pl::abi::fault_none;
//   }
//
// Tensors and scalars are counted apart, each in the order of the signature. Compiled at run time as emitted kernels
// are: no exceptions, no RTTI, no objects with static constructors, no library functions but memcpy, memmove, memset
// and memcmp. Freestanding; may stand beside <xsimd/xsimd.hpp>. For any other use of a kernel include <pl/pl.hpp>.
#pragma once

#include "pl/abi.hpp"

#include <cstdint>

#ifndef TRILITH_ARGUMENT_RANKS  // set when the kernel is compiled for its arguments; an editor's view has none
#define TRILITH_ARGUMENT_RANKS 0, 0, 0, 0, 0, 0, 0, 0
#endif

/// States the signature of an entry as the program must give it: `pl::signature<…>` in words, as an error shows them.
/// A program that gives another one is refused when the kernel is compiled.
#define TRILITH_SIGNATURE(entry, text)                      \
  namespace trilith_external::statements {                  \
  inline constexpr const char* signature_of_##entry = text; \
  }

namespace pl::external {

/// The rank of each tensor argument that this code is compiled for: a constant.
inline constexpr std::int32_t ranks[] = {TRILITH_ARGUMENT_RANKS};

template <class T>
[[nodiscard]] inline T* data(const abi::Args* args, int tensor) {
  return static_cast<T*>(args->tensors[tensor].data);
}

[[nodiscard]] inline std::int64_t extent(const abi::Args* args, int tensor, int axis) {
  return args->tensors[tensor].extents[axis];
}

/// In elements; of an input it may be 0 or negative.
[[nodiscard]] inline std::int64_t stride(const abi::Args* args, int tensor, int axis) {
  return args->tensors[tensor].strides[axis];
}

[[nodiscard]] inline std::int64_t elements(const abi::Args* args, int tensor) {
  std::int64_t count = 1;
  for (int axis = 0; axis < ranks[tensor]; ++axis) count *= args->tensors[tensor].extents[axis];
  return count;
}

/// Row-major without gaps: element i of the tensor is data[i].
[[nodiscard]] inline bool is_dense(const abi::Args* args, int tensor) {
  std::int64_t expected = 1;
  for (int axis = ranks[tensor]; axis-- > 0;) {
    if (extent(args, tensor, axis) > 1 && stride(args, tensor, axis) != expected) return false;
    expected *= extent(args, tensor, axis);
  }
  return true;
}

template <class T>
[[nodiscard]] inline T scalar(const abi::Args* args, int number) {
  T value;
  __builtin_memcpy(&value, &args->scalars[number], sizeof value);
  return value;
}

/// Reports that two numbers do not fit, at the line of the call; the kernel returns what this gives.
///   if (n % 4 != 0) return pl::external::fault(services, "extent of x: a multiple of 4 is needed", n, n / 4 * 4);
[[nodiscard]] inline std::int32_t fault(const abi::Services* services, const char* what, std::int64_t given,
                                        std::int64_t expected, const char* file = __builtin_FILE(),
                                        std::uint32_t line = __builtin_LINE()) {
  const abi::Fault report{abi::fault_shape, line, 0, file, what, given, expected, 0};
  services->fault(services->context, &report);
  return report.code;
}

}  // namespace pl::external
