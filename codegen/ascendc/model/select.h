// codegen/ascendc/model/select.h -- Compare, CompareScalar and Select: masks of one bit an element. Part of
// kernel_operator.h.
#pragma once

#include "vector_request.h"

namespace AscendC {
namespace model {

/// int32_t compares for equality only, which the mode shows when run.
template <class T>
inline constexpr bool is_comparable = is_one_of<T, half, float, std::int32_t>;
template <class T>
inline constexpr bool is_mask = std::is_unsigned_v<T>;

}  // namespace model

template <class T, class U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             std::uint32_t count, model::Line line = model::Line::here()) {
  static_assert(model::is_comparable<T>, "Compare is for half and float, and int32_t with EQ");
  static_assert(std::is_same_v<U, std::uint8_t>, "the result of Compare is a mask of uint8_t");
  model::VectorCall(model::VectorOp::Compare, line, dst, src0, src1).mode(mode).run(std::int64_t{count});
}
template <class T, class U, class Mask>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             Mask mask, std::int64_t repeat, const BinaryRepeatParams& params,
             model::Line line = model::Line::here()) {
  static_assert(model::is_comparable<T>, "Compare is for half and float, and int32_t with EQ");
  static_assert(std::is_same_v<U, std::uint8_t>, "the result of Compare is a mask of uint8_t");
  model::VectorCall(model::VectorOp::Compare, line, dst, src0, src1)
      .mode(mode)
      .strides(params)
      .run(model::mask_of(mask), repeat);
}

template <class T, class U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T& scalar, CMPMODE mode,
                   std::uint32_t count, model::Line line = model::Line::here()) {
  static_assert(model::is_comparable<T>, "CompareScalar is for half and float, and int32_t with EQ");
  static_assert(std::is_same_v<U, std::uint8_t>, "the result of CompareScalar is a mask of uint8_t");
  model::VectorCall(model::VectorOp::CompareScalar, line, dst, src)
      .scalar(scalar)
      .mode(mode)
      .run(std::int64_t{count});
}
template <class T, class U, class Mask>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T& scalar, CMPMODE mode,
                   Mask mask, std::int64_t repeat, const UnaryRepeatParams& params,
                   model::Line line = model::Line::here()) {
  static_assert(model::is_comparable<T>, "CompareScalar is for half and float, and int32_t with EQ");
  static_assert(std::is_same_v<U, std::uint8_t>, "the result of CompareScalar is a mask of uint8_t");
  model::VectorCall(model::VectorOp::CompareScalar, line, dst, src)
      .scalar(scalar)
      .mode(mode)
      .strides(params)
      .run(model::mask_of(mask), repeat);
}

/// dst[i] = bit i of the mask ? src0[i] : src1[i] (VSEL_CMPMASK_SPR: each repeat takes the first bits again).
template <class T, class U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& mask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, std::uint32_t count,
            model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "Select is for half and float");
  static_assert(model::is_mask<U>, "the mask of Select is of unsigned integers");
  model::VectorCall(model::VectorOp::Select, line, dst, src0, src1, mask).mode(mode).run(std::int64_t{count});
}
template <class T, class U, class Mask>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& mask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, Mask lanes, std::int64_t repeat,
            const BinaryRepeatParams& params, model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "Select is for half and float");
  static_assert(model::is_mask<U>, "the mask of Select is of unsigned integers");
  model::VectorCall(model::VectorOp::Select, line, dst, src0, src1, mask)
      .mode(mode)
      .strides(params)
      .run(model::mask_of(lanes), repeat);
}
template <class T, class U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& mask, const LocalTensor<T>& src0,
            const T& scalar, SELMODE mode, std::uint32_t count, model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "Select is for half and float");
  static_assert(model::is_mask<U>, "the mask of Select is of unsigned integers");
  model::VectorCall(model::VectorOp::SelectScalar, line, dst, src0, mask)
      .scalar(scalar)
      .mode(mode)
      .run(std::int64_t{count});
}
template <class T, class U, class Mask>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& mask, const LocalTensor<T>& src0,
            const T& scalar, SELMODE mode, Mask lanes, std::int64_t repeat, const BinaryRepeatParams& params,
            model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "Select is for half and float");
  static_assert(model::is_mask<U>, "the mask of Select is of unsigned integers");
  model::VectorCall(model::VectorOp::SelectScalar, line, dst, src0, mask)
      .scalar(scalar)
      .mode(mode)
      .strides(params)
      .run(model::mask_of(lanes), repeat);
}

}  // namespace AscendC
