// codegen/ascendc/model/vector.h -- operations of the vector unit, element by element. Part of kernel_operator.h.
//
// Form A, `Op(dst, sources…, count)`: any count, contiguous. Form B, `Op(…, mask, repeat, params)`: 256 bytes a repeat, a
// mask that is a count or a bit array. The static assertions are the dtype table of the 910B class. Repeats are taken
// wider than the device's uint8_t, so that more than 255 is a fault and not another number.
#pragma once

#include "vector_request.h"

namespace AscendC {

// NOLINTBEGIN(cppcoreguidelines-macro-usage): one declaration for each family of names
#define TRILITH_BINARY(name, requirement, dtypes)                                                            \
  template <class T>                                                                                         \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,               \
            std::int32_t count, model::Line line = model::Line::here()) {                                    \
    static_assert(model::requirement<T>, #name " is for " dtypes);                                           \
    model::VectorCall(model::VectorOp::name, line, dst, src0, src1).run(std::int64_t{count});                \
  }                                                                                                          \
  template <class T, class Mask>                                                                             \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, Mask mask,    \
            std::int64_t repeat, const BinaryRepeatParams& params, model::Line line = model::Line::here()) { \
    static_assert(model::requirement<T>, #name " is for " dtypes);                                           \
    model::VectorCall(model::VectorOp::name, line, dst, src0, src1)                                          \
        .strides(params)                                                                                     \
        .run(model::mask_of(mask), repeat);                                                                  \
  }

#define TRILITH_UNARY(name, requirement, dtypes)                                                  \
  template <class T>                                                                              \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t count,             \
            model::Line line = model::Line::here()) {                                             \
    static_assert(model::requirement<T>, #name " is for " dtypes);                                \
    model::VectorCall(model::VectorOp::name, line, dst, src).run(std::int64_t{count});            \
  }                                                                                               \
  template <class T, class Mask>                                                                  \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, std::int64_t repeat, \
            const UnaryRepeatParams& params, model::Line line = model::Line::here()) {            \
    static_assert(model::requirement<T>, #name " is for " dtypes);                                \
    model::VectorCall(model::VectorOp::name, line, dst, src)                                      \
        .strides(params)                                                                          \
        .run(model::mask_of(mask), repeat);                                                       \
  }

#define TRILITH_SCALAR(name, requirement, dtypes)                                                           \
  template <class T>                                                                                        \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, std::int32_t count,      \
            model::Line line = model::Line::here()) {                                                       \
    static_assert(model::requirement<T>, #name " is for " dtypes);                                          \
    model::VectorCall(model::VectorOp::name, line, dst, src).scalar(scalar).run(std::int64_t{count});       \
  }                                                                                                         \
  template <class T, class Mask>                                                                            \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, Mask mask,               \
            std::int64_t repeat, const UnaryRepeatParams& params, model::Line line = model::Line::here()) { \
    static_assert(model::requirement<T>, #name " is for " dtypes);                                          \
    model::VectorCall(model::VectorOp::name, line, dst, src)                                                \
        .scalar(scalar)                                                                                     \
        .strides(params)                                                                                    \
        .run(model::mask_of(mask), repeat);                                                                 \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

TRILITH_BINARY(Add, is_computable, "half, float, int16_t and int32_t")
TRILITH_BINARY(Sub, is_computable, "half, float, int16_t and int32_t")
TRILITH_BINARY(Mul, is_computable, "half, float, int16_t and int32_t")
TRILITH_BINARY(Max, is_computable, "half, float, int16_t and int32_t")
TRILITH_BINARY(Min, is_computable, "half, float, int16_t and int32_t")
TRILITH_BINARY(Div, is_float, "half and float")
TRILITH_BINARY(And, is_bits, "int16_t and uint16_t")
TRILITH_BINARY(Or, is_bits, "int16_t and uint16_t")
TRILITH_BINARY(AddRelu, is_relu_sum, "half, float and int16_t")
TRILITH_BINARY(SubRelu, is_relu_sum, "half, float and int16_t")
TRILITH_BINARY(FusedMulAdd, is_float, "half and float")
TRILITH_BINARY(MulAddDst, is_float, "half and float")

TRILITH_UNARY(Exp, is_float, "half and float")
TRILITH_UNARY(Ln, is_float, "half and float")
TRILITH_UNARY(Abs, is_float, "half and float")
TRILITH_UNARY(Sqrt, is_float, "half and float")
TRILITH_UNARY(Rsqrt, is_float, "half and float")
TRILITH_UNARY(Reciprocal, is_float, "half and float")
TRILITH_UNARY(Relu, is_rectifiable, "half, float and int32_t")
TRILITH_UNARY(Not, is_bits, "int16_t and uint16_t")

TRILITH_SCALAR(Adds, is_computable, "half, float, int16_t and int32_t")
TRILITH_SCALAR(Muls, is_computable, "half, float, int16_t and int32_t")
TRILITH_SCALAR(Maxs, is_computable, "half, float, int16_t and int32_t")
TRILITH_SCALAR(Mins, is_computable, "half, float, int16_t and int32_t")
TRILITH_SCALAR(LeakyRelu, is_float, "half and float")
TRILITH_SCALAR(ShiftLeft, is_shiftable, "int16_t, uint16_t, int32_t and uint32_t")
TRILITH_SCALAR(ShiftRight, is_shiftable, "int16_t, uint16_t, int32_t and uint32_t")

#undef TRILITH_BINARY
#undef TRILITH_UNARY
#undef TRILITH_SCALAR

/// dst += src * scalar
template <class T, class U>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, std::int32_t count,
          model::Line line = model::Line::here()) {
  static_assert(model::is_axpy<T, U>, "Axpy is for half, float, and half into float");
  model::VectorCall(model::VectorOp::Axpy, line, dst, src).scalar(scalar).run(std::int64_t{count});
}
template <class T, class U, class Mask>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, Mask mask,
          std::int64_t repeat, const UnaryRepeatParams& params, model::Line line = model::Line::here()) {
  static_assert(model::is_axpy<T, U>, "Axpy is for half, float, and half into float");
  model::VectorCall(model::VectorOp::Axpy, line, dst, src)
      .scalar(scalar)
      .strides(params)
      .run(model::mask_of(mask), repeat);
}

template <class T>
void Duplicate(const LocalTensor<T>& dst, const T& scalar, std::int32_t count,
               model::Line line = model::Line::here()) {
  static_assert(model::is_wide_enough<T>, "Duplicate is for dtypes of 16 and 32 bits");
  model::VectorCall(model::VectorOp::Duplicate, line, dst).scalar(scalar).run(std::int64_t{count});
}
template <class T, class Mask>
void Duplicate(const LocalTensor<T>& dst, const T& scalar, Mask mask, std::int64_t repeat,
               std::uint16_t dst_block_stride, std::uint8_t dst_repeat_stride,
               model::Line line = model::Line::here()) {
  static_assert(model::is_wide_enough<T>, "Duplicate is for dtypes of 16 and 32 bits");
  model::VectorCall(model::VectorOp::Duplicate, line, dst)
      .scalar(scalar)
      .blocks(dst_block_stride, 1, 1)
      .repeats(dst_repeat_stride, 8, 8)
      .run(model::mask_of(mask), repeat);
}

/// first, first + 1, …
template <class T>
void CreateVecIndex(const LocalTensor<T>& dst, const T& first, std::uint32_t count,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_computable<T>, "CreateVecIndex is for half, float, int16_t and int32_t");
  model::VectorCall(model::VectorOp::CreateVecIndex, line, dst).scalar(first).run(std::int64_t{count});
}

/// Copies whole blocks of UB.
template <class T, class Mask>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, std::int64_t repeat,
          const CopyRepeatParams& params, model::Line line = model::Line::here()) {
  static_assert(model::is_wide_enough<T>, "Copy is for dtypes of 16 and 32 bits");
  model::VectorCall(model::VectorOp::Copy, line, dst, src)
      .blocks(params.dstStride, params.srcStride, 1)
      .repeats(params.dstRepeatSize, params.srcRepeatSize, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each repeat: 8 elements become 8 blocks, each filled with one of them.
template <class T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int64_t repeat,
          const BrcbRepeatParams& params, model::Line line = model::Line::here()) {
  static_assert(model::is_wide_enough<T>, "Brcb is for dtypes of 16 and 32 bits");
  model::VectorCall(model::VectorOp::Brcb, line, dst, src)
      .blocks(params.dstBlkStride, 1, 1)
      .repeats(params.dstRepStride, 8, 8)
      .run(std::uint64_t{0}, repeat);
}

/// dst[i] = the element of src at `base` + offsets[i] bytes.
template <class T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& offsets,
            std::uint32_t base, std::uint32_t count, model::Line line = model::Line::here()) {
  static_assert(model::is_wide_enough<T>, "Gather is for dtypes of 16 and 32 bits");
  model::VectorCall(model::VectorOp::Gather, line, dst, src, offsets).scalar(base).run(std::int64_t{count});
}

/// A 16 by 16 matrix of 16-bit elements.
template <class T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, model::Line line = model::Line::here()) {
  static_assert(sizeof(T) == 2, "Transpose is for dtypes of 16 bits");
  model::VectorCall(model::VectorOp::Transpose, line, dst, src).run(std::int64_t{256});
}

}  // namespace AscendC
