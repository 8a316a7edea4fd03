// codegen/ascendc/model/cube.h -- the cube core: LoadData from L1 to L0A and L0B, Mmad into L0C, Fixpipe out of it. Part of
// kernel_operator.h.
#pragma once

#include "tensor.h"

namespace AscendC {
namespace model {

template <class C, class A, class B>
inline constexpr bool is_product =
    std::is_same_v<A, B> && ((std::is_same_v<C, float> && is_one_of<A, half, bfloat16_t, float>) ||
                             (std::is_same_v<C, std::int32_t> && std::is_same_v<A, std::int8_t>));

template <class C, class A, class B>
[[nodiscard]] MmadRequest mmad_request(const LocalTensor<C>& dst, const LocalTensor<A>& left,
                                       const LocalTensor<B>& right, const MmadParams& params, Line line) {
  static_assert(is_product<C, A, B>,
                "Mmad multiplies half, bfloat16_t or float into float, and int8_t into int32_t");
  MmadRequest request{};
  request.from_zero = params.cmatrixInitVal;
  request.bias_table = params.cmatrixSource;
  request.line = line.number;
  request.dst = dst.span();
  request.left = left.span();
  request.right = right.span();
  request.m = params.m;
  request.n = params.n;
  request.k = params.k;
  request.unit_flag = params.unitFlag;
  return request;
}

template <class To, class From>
void fixpipe(const Span& dst, const Span& src, const FixpipeParamsV220& params, CO2Layout layout, Line line) {
  static_assert(is_one_of<From, float, std::int32_t>, "Fixpipe reads what Mmad wrote: float or int32_t");
  static_assert(std::is_same_v<To, From> || (std::is_same_v<From, float> && is_one_of<To, half, bfloat16_t>),
                "Fixpipe writes its own dtype, or half or bfloat16_t from float");
  FixpipeRequest request{};
  request.quantise = params.quantPre;
  request.relu = params.reluEn;
  request.nz = layout == CO2Layout::NZ;
  request.line = line.number;
  request.dst = dst;
  request.src = src;
  request.scale = params.deqScalar;
  request.n = params.nSize;
  request.m = params.mSize;
  request.src_stride = params.srcStride;
  request.dst_stride = params.dstStride;
  request.matrices = params.ndNum;
  request.src_matrix_stride = params.srcNdStride;
  request.dst_matrix_stride = params.dstNdStride;
  request.unit_flag = params.unitFlag;
  run_time().fixpipe(&request);
}

}  // namespace model

/// Fractals of 512 bytes from L1 to L0A or L0B; ifTranspose turns each, for 16-bit dtypes.
template <class T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& params,
              model::Line line = model::Line::here()) {
  model::LoadRequest request{};
  request.transpose = params.ifTranspose;
  request.line = line.number;
  request.dst = dst.span();
  request.src = src.span();
  request.start = params.startIndex;
  request.repeat = params.repeatTimes;
  request.src_stride = params.srcStride;
  request.dst_gap = params.dstGap;
  model::run_time().load(&request);
}

/// Square matrices from L1, turned: 16 by 16 of 16 and 32 bits, 32 by 32 of 8 bits.
template <class T>
void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LoadData2dTransposeParams& params, model::Line line = model::Line::here()) {
  static_assert(sizeof(T) <= 4, "LoadDataWithTranspose is for dtypes of 8, 16 and 32 bits");
  model::LoadRequest request{};
  request.with_transpose = true;
  request.line = line.number;
  request.dst = dst.span();
  request.src = src.span();
  request.start = params.startIndex;
  request.repeat = params.repeatTimes;
  request.src_stride = params.srcStride;
  request.dst_gap = params.dstGap;
  request.fractal_gap = params.dstFracGap;
  model::run_time().load(&request);
}

/// dst = left · right, added to dst or to nothing.
template <class C, class A, class B>
void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& left, const LocalTensor<B>& right,
          const MmadParams& params, model::Line line = model::Line::here()) {
  const model::MmadRequest request = model::mmad_request(dst, left, right, params, line);
  model::run_time().mmad(&request);
}
/// The same, begun from the row `bias`, which stands in the bias table.
template <class C, class A, class B, class V>
void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& left, const LocalTensor<B>& right,
          const LocalTensor<V>& bias, const MmadParams& params, model::Line line = model::Line::here()) {
  static_assert(std::is_same_v<V, C>, "the bias of Mmad is of the dtype of its result");
  model::MmadRequest request = model::mmad_request(dst, left, right, params, line);
  request.has_bias = true;
  request.bias = bias.span();
  model::run_time().mmad(&request);
}

/// L0C to GM: rows, or NZ.
template <class To, class From, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<To>& dst, const LocalTensor<From>& src, const FixpipeParamsV220& params,
             model::Line line = model::Line::here()) {
  model::fixpipe<To, From>(dst.span(), src.span(), params, config.format, line);
}
/// L0C to L1: NZ.
template <class To, class From, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<To>& dst, const LocalTensor<From>& src, const FixpipeParamsV220& params,
             model::Line line = model::Line::here()) {
  model::fixpipe<To, From>(dst.span(), src.span(), params, config.format, line);
}

}  // namespace AscendC
