// codegen/ascendc/model/cast.h -- Cast between the pairs of dtypes that the 910B class has. Part of kernel_operator.h.
#pragma once

#include "vector_request.h"

namespace AscendC {
namespace model {

template <class To, class From>
[[nodiscard]] constexpr bool is_castable() {
  if constexpr (std::is_same_v<From, float>)
    return is_one_of<To, half, bfloat16_t, std::int16_t, std::int32_t, std::int64_t, float>;
  else if constexpr (std::is_same_v<From, half>)
    return is_one_of<To, float, std::int8_t, std::uint8_t, std::int16_t, std::int32_t>;
  else if constexpr (std::is_same_v<From, bfloat16_t>)
    return is_one_of<To, float, std::int32_t>;
  else if constexpr (is_one_of<From, std::int8_t, std::uint8_t>)
    return std::is_same_v<To, half>;
  else if constexpr (std::is_same_v<From, std::int16_t>)
    return is_one_of<To, half, float>;
  else if constexpr (std::is_same_v<From, std::int32_t>)
    return is_one_of<To, float, std::int16_t, std::int64_t>;
  else if constexpr (std::is_same_v<From, std::int64_t>)
    return is_one_of<To, float, std::int32_t>;
  else
    return false;
}

}  // namespace model

template <class To, class From>
void Cast(const LocalTensor<To>& dst, const LocalTensor<From>& src, const RoundMode& mode,
          std::uint32_t count, model::Line line = model::Line::here()) {
  static_assert(model::is_castable<To, From>(), "Cast has no instruction for this pair of dtypes");
  model::VectorCall(model::VectorOp::Cast, line, dst, src).mode(mode).run(std::int64_t{count});
}
template <class To, class From, class Mask>
void Cast(const LocalTensor<To>& dst, const LocalTensor<From>& src, const RoundMode& mode, Mask mask,
          std::int64_t repeat, const UnaryRepeatParams& params, model::Line line = model::Line::here()) {
  static_assert(model::is_castable<To, From>(), "Cast has no instruction for this pair of dtypes");
  model::VectorCall(model::VectorOp::Cast, line, dst, src)
      .mode(mode)
      .strides(params)
      .run(model::mask_of(mask), repeat);
}

}  // namespace AscendC
