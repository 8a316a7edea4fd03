// codegen/ascendc/model/vector_request.h -- how the calls of vector.h, cast.h, select.h and reduce.h become requests. Part
// of kernel_operator.h.
#pragma once

#include "tensor.h"

namespace AscendC::model {

/// A request of one call: its operands, then which lanes work.
class VectorCall {
 public:
  template <class T, class... Sources>
  VectorCall(VectorOp op, Line line, const LocalTensor<T>& dst, const Sources&... sources) {
    static_assert(sizeof...(Sources) <= 3, "at most three sources");
    request_.op = op;
    request_.line = line.number;
    request_.dst = dst.span();
    ((request_.source[request_.sources++] = sources.span()), ...);
    for (int i = 0; i < 4; ++i) {
      request_.block_stride[i] = 1;
      request_.repeat_stride[i] = 8;
    }
  }

  template <class T>
  VectorCall& scalar(T value) {
    request_.scalar = to_bits(value);
    return *this;
  }
  template <class Mode>
  VectorCall& mode(Mode value) {
    request_.mode = static_cast<std::uint8_t>(value);
    return *this;
  }
  VectorCall& strides(const UnaryRepeatParams& params) {
    return blocks(params.dstBlkStride, params.srcBlkStride, 1)
        .repeats(params.dstRepStride, params.srcRepStride, 8);
  }
  VectorCall& strides(const BinaryRepeatParams& params) {
    return blocks(params.dstBlkStride, params.src0BlkStride, params.src1BlkStride)
        .repeats(params.dstRepStride, params.src0RepStride, params.src1RepStride);
  }
  VectorCall& blocks(std::int64_t dst, std::int64_t first, std::int64_t second) {
    request_.block_stride[0] = dst;
    request_.block_stride[1] = first;
    request_.block_stride[2] = second;
    return *this;
  }
  VectorCall& repeats(std::int64_t dst, std::int64_t first, std::int64_t second) {
    request_.repeat_stride[0] = dst;
    request_.repeat_stride[1] = first;
    request_.repeat_stride[2] = second;
    return *this;
  }

  /// Form A.
  void run(std::int64_t count) {
    request_.lanes = Lanes::Counter;
    request_.count = count;
    run_time().vector(&request_);
  }
  /// Form B with a count of lanes.
  void run(std::uint64_t mask, std::int64_t repeat) {
    request_.lanes = Lanes::First;
    request_.count = static_cast<std::int64_t>(mask);
    request_.repeat = repeat;
    run_time().vector(&request_);
  }
  /// Form B with a bit array.
  void run(const std::uint64_t* mask, std::int64_t repeat) {
    request_.lanes = Lanes::Bits;
    request_.mask[0] = mask[0];
    request_.mask[1] = mask[1];
    request_.repeat = repeat;
    run_time().vector(&request_);
  }

 private:
  VectorRequest request_{};
};

template <class T>
inline constexpr bool is_float = is_one_of<T, half, float>;
template <class T>
inline constexpr bool is_computable = is_one_of<T, half, float, std::int16_t, std::int32_t>;
template <class T>
inline constexpr bool is_bits = is_one_of<T, std::int16_t, std::uint16_t>;
template <class T>
inline constexpr bool is_shiftable = is_one_of<T, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t>;
template <class T>
inline constexpr bool is_rectifiable = is_one_of<T, half, float, std::int32_t>;
template <class T>
inline constexpr bool is_relu_sum = is_one_of<T, half, float, std::int16_t>;
template <class T, class U>
inline constexpr bool is_axpy =
    is_float<T> && is_float<U> && (std::is_same_v<T, U> || std::is_same_v<T, float>);
template <class T>
inline constexpr bool is_wide_enough = sizeof(T) == 2 || sizeof(T) == 4;

/// A mask as VectorCall::run takes it: a count of lanes, or the two words of a bit array.
[[nodiscard]] inline const std::uint64_t* mask_of(const std::uint64_t* mask) { return mask; }
template <class Count, class = std::enable_if_t<std::is_integral_v<Count>>>
[[nodiscard]] std::uint64_t mask_of(Count mask) {
  return static_cast<std::uint64_t>(mask);
}

}  // namespace AscendC::model
