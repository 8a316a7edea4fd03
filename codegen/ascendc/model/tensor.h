// codegen/ascendc/model/tensor.h -- LocalTensor (in an on-chip memory) and GlobalTensor (in GM). Part of
// kernel_operator.h.
//
// Values that name memory; both may be copied freely. What a tensor names is checked where it is used, so a sub-tensor
// that begins outside faults at its first use.
#pragma once

#include <type_traits>

#include "types.h"

namespace AscendC {
namespace model {

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

template <class T>
[[nodiscard]] constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, half>)
    return Dtype::F16;
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return Dtype::BF16;
  else if constexpr (std::is_same_v<T, float>)
    return Dtype::F32;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "the elements of a tensor are half, bfloat16_t, float or integers of 8 to 64 bits");
    if constexpr (sizeof(T) == 1)
      return std::is_signed_v<T> ? Dtype::I8 : Dtype::U8;
    else if constexpr (sizeof(T) == 2)
      return std::is_signed_v<T> ? Dtype::I16 : Dtype::U16;
    else if constexpr (sizeof(T) == 4)
      return std::is_signed_v<T> ? Dtype::I32 : Dtype::U32;
    else
      return std::is_signed_v<T> ? Dtype::I64 : Dtype::U64;
  }
}

/// An element as the first bytes of 64 bits, and back.
template <class T>
[[nodiscard]] inline std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
[[nodiscard]] inline T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// An int32 of GM as the scalar pipe reads it. What it is compared with is what a wait for a signal waits for: the run
/// time is told.
class Look {
 public:
  explicit Look(std::int32_t value) : value_(value) {}
  operator std::int32_t() const {
    return value_;
  }  // NOLINT(google-explicit-constructor): it stands for an int32_t
  template <class Number>
    requires std::is_integral_v<Number>
  friend bool operator<(const Look& look, Number number) {
    run_time().compare(static_cast<std::int64_t>(number), true);
    return look.value_ < number;
  }
  template <class Number>
    requires std::is_integral_v<Number>
  friend bool operator!=(const Look& look, Number number) {
    run_time().compare(static_cast<std::int64_t>(number), false);
    return look.value_ != number;
  }

 private:
  std::int32_t value_;
};

/// The part of a span from `offset` bytes on.
[[nodiscard]] constexpr Span part(Span whole, std::uint64_t offset) {
  whole.address += offset;
  whole.bytes = offset < whole.bytes ? whole.bytes - offset : 0;
  return whole;
}

}  // namespace model

template <class T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  explicit LocalTensor(const model::Span& span) : span_(span) { span_.dtype = model::dtype_of<T>(); }

  [[nodiscard]] LocalTensor operator[](std::uint32_t offset) const {
    return LocalTensor(model::part(span_, std::uint64_t{offset} * sizeof(T)));
  }
  template <class U>
  [[nodiscard]] LocalTensor<U> ReinterpretCast() const {
    return LocalTensor<U>(span_);
  }
  [[nodiscard]] T GetValue(std::uint32_t index, model::Line line = model::Line::here()) const {
    return model::from_bits<T>(model::run_time().get(&span_, index, line.number));
  }
  template <class U>
  void SetValue(std::uint32_t index, U value, model::Line line = model::Line::here()) const {
    model::run_time().set(&span_, index, model::to_bits(static_cast<T>(value)), line.number);
  }
  [[nodiscard]] std::uint32_t GetSize() const { return static_cast<std::uint32_t>(span_.bytes / sizeof(T)); }
  [[nodiscard]] std::uint32_t GetLength() const { return static_cast<std::uint32_t>(span_.bytes); }
  void SetSize(std::uint32_t size) { span_.bytes = std::uint64_t{size} * sizeof(T); }
  [[nodiscard]] TPosition GetPosition() const { return static_cast<TPosition>(span_.position); }

  [[nodiscard]] const model::Span& span() const { return span_; }

 private:
  model::Span span_{};
};

template <class T>
class GlobalTensor {
 public:
  using PrimType = T;

  GlobalTensor() = default;

  void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }
  void SetGlobalBuffer(__gm__ T* buffer, std::uint64_t size) {
    span_ = {reinterpret_cast<std::uint64_t>(buffer), size * sizeof(T), 0, 0, model::dtype_of<T>()};
    sized_ = size != 0;
  }
  [[nodiscard]] GlobalTensor operator[](std::uint64_t offset) const {
    GlobalTensor result;
    result.span_ = model::part(span_, offset * sizeof(T));
    result.sized_ = sized_;
    // Bytes 0 means "unknown"; past the end of a known size nothing is left: an address that is no one's.
    if (sized_ && result.span_.bytes == 0 && offset != 0) result.span_.address = 0;
    return result;
  }
  [[nodiscard]] auto GetValue(std::uint64_t index, model::Line line = model::Line::here()) const {
    const auto value =
        model::from_bits<T>(model::run_time().get(&span_, static_cast<std::int64_t>(index), line.number));
    if constexpr (std::is_same_v<T, std::int32_t>)
      return model::Look(value);
    else
      return value;
  }
  template <class U>
  void SetValue(std::uint64_t index, U value, model::Line line = model::Line::here()) const {
    model::run_time().set(&span_, static_cast<std::int64_t>(index), model::to_bits(static_cast<T>(value)),
                          line.number);
  }
  [[nodiscard]] std::uint64_t GetSize() const { return span_.bytes / sizeof(T); }
  [[nodiscard]] __gm__ T* GetPhyAddr() const { return reinterpret_cast<__gm__ T*>(span_.address); }
  [[nodiscard]] __gm__ T* GetPhyAddr(std::uint64_t offset) const { return GetPhyAddr() + offset; }

  [[nodiscard]] const model::Span& span() const { return span_; }

 private:
  model::Span span_{};
  bool sized_ = false;
};

}  // namespace AscendC
