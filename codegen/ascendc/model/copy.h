// codegen/ascendc/model/copy.h -- DataCopy and DataCopyPad between GM and the on-chip memories, and atomic stores. Part of
// kernel_operator.h.
#pragma once

#include "tensor.h"

namespace AscendC {
namespace model {

template <class To, class From>
void copy_count(const To& dst, const From& src, std::int64_t count, Line line) {
  CopyRequest request{};
  request.kind = CopyKind::Count;
  request.line = line.number;
  request.dst = dst.span();
  request.src = src.span();
  request.count = count;
  run_time().copy(&request);
}

template <class To, class From>
void copy_blocks(const To& dst, const From& src, const DataCopyParams& params, Line line) {
  CopyRequest request{};
  request.kind = CopyKind::Blocks;
  request.line = line.number;
  request.dst = dst.span();
  request.src = src.span();
  request.blocks = params.blockCount;
  request.length = params.blockLen;
  request.src_stride = params.srcGap;
  request.dst_stride = params.dstGap;
  run_time().copy(&request);
}

template <class To, class From>
[[nodiscard]] CopyRequest pad_request(const To& dst, const From& src, const DataCopyExtParams& params,
                                      Line line) {
  CopyRequest request{};
  request.kind = CopyKind::Pad;
  request.line = line.number;
  request.dst = dst.span();
  request.src = src.span();
  request.blocks = params.blockCount;
  request.length = params.blockLen;
  request.src_stride = params.srcStride;
  request.dst_stride = params.dstStride;
  return request;
}

inline void set_atomic(AtomicMode mode, Dtype dtype, Line line) {
  run_time().atomic(mode, dtype, line.number);
}

template <class T>
inline constexpr bool is_atomic =
    is_one_of<T, float, half, bfloat16_t, std::int32_t, std::int16_t, std::int8_t>;

}  // namespace model

template <class T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, std::uint32_t count,
              model::Line line = model::Line::here()) {
  model::copy_count(dst, src, count, line);
}
template <class T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
              model::Line line = model::Line::here()) {
  model::copy_count(dst, src, count, line);
}
template <class T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
              model::Line line = model::Line::here()) {
  model::copy_count(dst, src, count, line);
}
template <class T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
              model::Line line = model::Line::here()) {
  model::copy_blocks(dst, src, params, line);
}
template <class T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              model::Line line = model::Line::here()) {
  model::copy_blocks(dst, src, params, line);
}
template <class T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              model::Line line = model::Line::here()) {
  model::copy_blocks(dst, src, params, line);
}

/// ND (rows) in GM to NZ (columns of 32 bytes) in L1.
template <class T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& params,
              model::Line line = model::Line::here()) {
  model::CopyRequest request{};
  request.kind = model::CopyKind::Nd2Nz;
  request.line = line.number;
  request.dst = dst.span();
  request.src = src.span();
  request.matrices = params.ndNum;
  request.rows = params.nValue;
  request.columns = params.dValue;
  request.src_matrix_stride = params.srcNdMatrixStride;
  request.src_row = params.srcDValue;
  request.dst_column = params.dstNzC0Stride;
  request.dst_row = params.dstNzNStride;
  request.dst_matrix_stride = params.dstNzMatrixStride;
  model::run_time().copy(&request);
}

template <class T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& params,
                 const DataCopyPadExtParams<T>& pad, model::Line line = model::Line::here()) {
  model::CopyRequest request = model::pad_request(dst, src, params, line);
  request.padded = pad.isPad;
  request.left = pad.leftPadding;
  request.right = pad.rightPadding;
  request.value = model::to_bits(pad.paddingValue);
  model::run_time().copy(&request);
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& params,
                 model::Line line = model::Line::here()) {
  const model::CopyRequest request = model::pad_request(dst, src, params, line);
  model::run_time().copy(&request);
}

/// Every store to GM that follows is added to what stands there, until SetAtomicNone.
template <class T>
void SetAtomicAdd(model::Line line = model::Line::here()) {
  static_assert(model::is_atomic<T>,
                "atomic stores are of float, half, bfloat16_t, int32_t, int16_t, int8_t");
  model::set_atomic(model::AtomicMode::Add, model::dtype_of<T>(), line);
}
template <class T>
void SetAtomicMax(model::Line line = model::Line::here()) {
  static_assert(model::is_atomic<T>,
                "atomic stores are of float, half, bfloat16_t, int32_t, int16_t, int8_t");
  model::set_atomic(model::AtomicMode::Max, model::dtype_of<T>(), line);
}
template <class T>
void SetAtomicMin(model::Line line = model::Line::here()) {
  static_assert(model::is_atomic<T>,
                "atomic stores are of float, half, bfloat16_t, int32_t, int16_t, int8_t");
  model::set_atomic(model::AtomicMode::Min, model::dtype_of<T>(), line);
}
inline void SetAtomicNone(model::Line line = model::Line::here()) {
  model::set_atomic(model::AtomicMode::None, model::Dtype::F32, line);
}

}  // namespace AscendC
