// codegen/ascendc/model/console.h -- printf: formatted text from a kernel, for debugging. Part of kernel_operator.h.
#pragma once

#include "tensor.h"

namespace AscendC {
namespace model {

/// The text of a format, and the line that it stands in: a pack of arguments leaves no room for a defaulted one.
struct Format {
  const char* text;
  std::uint32_t line;
  Format(const char* given, Line at = Line::here())  // NOLINT(google-explicit-constructor): as a plain string
      : text(given), line(at.number) {}
};

template <class T>
[[nodiscard]] inline PrintArgument print_argument(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return {PrintArgument::Bool, value ? std::uint64_t{1} : std::uint64_t{0}};
  else if constexpr (is_one_of<T, float, half, bfloat16_t>)
    return {PrintArgument::Float, to_bits(static_cast<float>(value))};
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8,
                  "printf takes bool, integers, half, bfloat16_t and float");
    if constexpr (std::is_signed_v<T>)
      return {PrintArgument::Signed, static_cast<std::uint64_t>(static_cast<std::int64_t>(value))};
    else
      return {PrintArgument::Unsigned, std::uint64_t{value}};
  }
}

}  // namespace model

/// %d and %i (bool, signed integers), %u (bool, unsigned integers), %x (integers), %f (floats).
template <class... Arguments>
inline void printf(model::Format format, const Arguments&... arguments) {
  const model::PrintArgument list[sizeof...(Arguments) + 1] = {model::print_argument(arguments)...};
  model::run_time().print(format.text, list, sizeof...(Arguments), format.line);
}

template <class... Arguments>
inline void PRINTF(model::Format format, const Arguments&... arguments) {
  printf(format, arguments...);
}

}  // namespace AscendC
