// trilith/kernel.hpp -- what emitted kernels need of the ABI: scalar slots, faults, scratch memory.
#pragma once

#include "compare.hpp"
#include "memory.hpp"

#include <pl/abi.hpp>

namespace trilith::device {

/// The value in a scalar slot.
template <class T>
TRILITH_INLINE T scalar(const pl::abi::Args* args, int slot) {
  T value;
  __builtin_memcpy(&value, args->scalars + slot, sizeof value);
  return value;
}

/// Reports a fault; the kernel returns the result.
inline __attribute__((noinline, cold)) std::int32_t fault(const pl::abi::Services* services,
                                                          pl::abi::FaultCode code, const char* file,
                                                          std::uint32_t line, std::uint32_t column,
                                                          const char* what, std::int64_t given,
                                                          std::int64_t expected, std::int64_t length = 0) {
  const pl::abi::Fault report{code, line, column, file, what, given, expected, length};
  services->fault(services->context, &report);
  return code;
}

/// The region [offset, offset + size) does not lie in [0, extent).
TRILITH_INLINE bool outside(std::int64_t offset, std::int64_t size, std::int64_t extent) {
  return offset < 0 || size < 0 || offset > extent - size;
}

/// Memory that lasts until the kernel returns and grows when a later use in a loop needs more.
template <class T>
struct Scratch {
  T* data = nullptr;
  std::int64_t capacity = 0;

  bool reserve(const pl::abi::Services* services, std::int64_t elements) {
    if (elements <= capacity) return true;
    data = static_cast<T*>(
        services->scratch(services->context, static_cast<std::uint64_t>(elements) * sizeof(T)));
    capacity = data == nullptr ? 0 : elements;
    return data != nullptr;
  }
};

/// Rounds of a counted loop, without overflow.
TRILITH_INLINE std::int64_t count_rounds(std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step > 0 ? begin >= end : begin <= end) return 0;
  const auto from = static_cast<std::uint64_t>(begin), to = static_cast<std::uint64_t>(end);
  const std::uint64_t distance = step > 0 ? to - from : from - to;
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>((distance - 1) / stride + 1);
}

/// Calls `rounds(services, first, last)` for parts of [0, count), on as many threads as the host likes. Gives 0, or the
/// fault of the first round that has one.
template <class Rounds>
inline std::int32_t run_rounds(const pl::abi::Services* services, std::int64_t count, const Rounds& rounds) {
  return services->rounds(services->context, count, &rounds,
                          [](const void* frame, const pl::abi::Services* own, std::int64_t first,
                             std::int64_t last) -> std::int32_t {
                            // A copy that nobody else sees: its members can stay in registers.
                            const Rounds mine = *static_cast<const Rounds*>(frame);
                            return mine(own, first, last);
                          });
}

/// How many of `count` elements lie in front of the first that a vector register is aligned to.
template <class T>
TRILITH_INLINE std::int64_t to_alignment(const T* first, std::int64_t count) {
  constexpr auto bytes = static_cast<std::uintptr_t>(lanes<T>) * sizeof(T);
  const auto elements =
      static_cast<std::int64_t>((-reinterpret_cast<std::uintptr_t>(first) & (bytes - 1)) / sizeof(T));
  return elements < count ? elements : count;
}

/// True for the elements before n; n may lie above N.
template <int N>
TRILITH_INLINE Mask<N> first_lanes(int n) {
  return {static_cast<typename Mask<N>::Bits>(native::first_bits(n, N))};
}

}  // namespace trilith::device
