// codegen/ascendc/model/types.h -- the names that kernels are written with: qualifiers, pipes, positions, modes and the
// structures of parameters. Part of kernel_operator.h.
#pragma once

#include <cstdint>

#include "floats.h"
#include "model_abi.h"

#define __global__
#define __aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define GM_ADDR std::uint8_t*

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

enum pipe_t : std::uint8_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };

enum event_t : std::int8_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};

/// How Fixpipe converts what Mmad computed.
enum QuantMode_t : std::uint8_t { NoQuant, F322F16, F322BF16 };

enum KernelTaskType : std::int32_t {
  KERNEL_TYPE_AIV_ONLY,
  KERNEL_TYPE_AIC_ONLY,
  KERNEL_TYPE_MIX_AIC_1_2,
  KERNEL_TYPE_MIX_AIC_1_1,
  KERNEL_TYPE_MIX_AIV_1_0,
  KERNEL_TYPE_MIX_AIC_1_0,
};

#define KERNEL_TASK_TYPE_DEFAULT(type) ::AscendC::model::run_time().task_type(type, __LINE__)
#define ASCEND_IS_AIC (::AscendC::model::run_time().is_cube())
#define ASCEND_IS_AIV (!::AscendC::model::run_time().is_cube())

namespace AscendC {

using TEventID = std::int8_t;

/// Where a tensor stands; the memory that each means is in runtime/model/memory.hpp.
enum class TPosition : std::uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  TSCM,
  C2PIPE2GM,
};
using QuePosition = TPosition;

/// From one pipe to another: 16 times the first plus the second.
enum class HardEvent : std::uint8_t {
#define TRILITH_EVENT(from, to) from##_##to = PIPE_##from * 16 + PIPE_##to
  TRILITH_EVENT(MTE2, MTE1),
  TRILITH_EVENT(MTE1, MTE2),
  TRILITH_EVENT(MTE1, M),
  TRILITH_EVENT(M, MTE1),
  TRILITH_EVENT(MTE2, V),
  TRILITH_EVENT(V, MTE2),
  TRILITH_EVENT(MTE3, V),
  TRILITH_EVENT(V, MTE3),
  TRILITH_EVENT(MTE3, MTE2),
  TRILITH_EVENT(MTE2, MTE3),
  TRILITH_EVENT(MTE3, MTE1),
  TRILITH_EVENT(MTE1, MTE3),
  TRILITH_EVENT(MTE2, M),
  TRILITH_EVENT(M, MTE2),
  TRILITH_EVENT(M, FIX),
  TRILITH_EVENT(FIX, M),
  TRILITH_EVENT(S, V),
  TRILITH_EVENT(V, S),
  TRILITH_EVENT(S, MTE2),
  TRILITH_EVENT(MTE2, S),
  TRILITH_EVENT(S, MTE3),
  TRILITH_EVENT(MTE3, S),
  TRILITH_EVENT(M, S),
  TRILITH_EVENT(FIX, S),
  TRILITH_EVENT(FIX, MTE2),
  TRILITH_EVENT(MTE2, FIX),
  TRILITH_EVENT(FIX, MTE1),
  TRILITH_EVENT(MTE1, FIX),
  TRILITH_EVENT(FIX, MTE3),
#undef TRILITH_EVENT
};

enum class RoundMode : std::uint8_t {
  CAST_NONE,
  CAST_RINT,
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,
  CAST_TRUNC,
  CAST_ODD,
};
enum class CMPMODE : std::uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : std::uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder : std::uint8_t {
  ORDER_VALUE_INDEX,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX
};
enum class CacheLine : std::uint8_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : std::uint8_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

/// The greatest mask that is a count: one repeat.
template <class T>
inline constexpr std::int64_t repeat_lanes = 256 / static_cast<std::int64_t>(sizeof(T));

struct UnaryRepeatParams {
  std::uint16_t dstBlkStride = 1, srcBlkStride = 1;
  std::uint8_t dstRepStride = 8, srcRepStride = 8;
  constexpr UnaryRepeatParams() = default;
  constexpr UnaryRepeatParams(std::uint16_t dst_block, std::uint16_t src_block, std::uint8_t dst_repeat,
                              std::uint8_t src_repeat)
      : dstBlkStride(dst_block),
        srcBlkStride(src_block),
        dstRepStride(dst_repeat),
        srcRepStride(src_repeat) {}
};

struct BinaryRepeatParams {
  std::uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
  std::uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
  constexpr BinaryRepeatParams() = default;
  constexpr BinaryRepeatParams(std::uint8_t dst_block, std::uint8_t src0_block, std::uint8_t src1_block,
                               std::uint8_t dst_repeat, std::uint8_t src0_repeat, std::uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}
};

struct BrcbRepeatParams {
  std::uint16_t dstBlkStride = 1, dstRepStride = 8;
  constexpr BrcbRepeatParams() = default;
  constexpr BrcbRepeatParams(std::uint16_t dst_block, std::uint16_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
};

struct CopyRepeatParams {
  std::uint16_t dstStride = 1, srcStride = 1, dstRepeatSize = 8, srcRepeatSize = 8;
  constexpr CopyRepeatParams() = default;
  constexpr CopyRepeatParams(std::uint16_t dst_block, std::uint16_t src_block, std::uint16_t dst_repeat,
                             std::uint16_t src_repeat)
      : dstStride(dst_block), srcStride(src_block), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat) {}
};

/// In 32-byte blocks; gaps from the end of one to the start of the next.
struct DataCopyParams {
  std::uint16_t blockCount = 1, blockLen = 0, srcGap = 0, dstGap = 0;
  constexpr DataCopyParams() = default;
  constexpr DataCopyParams(std::uint16_t count, std::uint16_t length, std::uint16_t src_gap,
                           std::uint16_t dst_gap)
      : blockCount(count), blockLen(length), srcGap(src_gap), dstGap(dst_gap) {}
};

/// In bytes, but the stride on the side of UB: in 32-byte blocks.
struct DataCopyExtParams {
  std::uint16_t blockCount = 1;
  std::uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
  constexpr DataCopyExtParams() = default;
  constexpr DataCopyExtParams(std::uint16_t count, std::uint32_t length, std::uint32_t src_stride,
                              std::uint32_t dst_stride, std::uint32_t reserved)
      : blockCount(count), blockLen(length), srcStride(src_stride), dstStride(dst_stride), rsv(reserved) {}
};

template <class T>
struct DataCopyPadExtParams {
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;
  T paddingValue{};
  constexpr DataCopyPadExtParams() = default;
  constexpr DataCopyPadExtParams(bool pad, std::uint8_t left, std::uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

struct Nd2NzParams {
  std::uint16_t ndNum = 0, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0, dstNzC0Stride = 0,
                dstNzNStride = 0, dstNzMatrixStride = 0;
  constexpr Nd2NzParams() = default;
  constexpr Nd2NzParams(std::uint16_t matrices, std::uint16_t rows, std::uint16_t columns,
                        std::uint16_t src_matrix_stride, std::uint16_t src_row, std::uint16_t dst_column,
                        std::uint16_t dst_row, std::uint16_t dst_matrix_stride)
      : ndNum(matrices),
        nValue(rows),
        dValue(columns),
        srcNdMatrixStride(src_matrix_stride),
        srcDValue(src_row),
        dstNzC0Stride(dst_column),
        dstNzNStride(dst_row),
        dstNzMatrixStride(dst_matrix_stride) {}
};

struct LoadData2DParams {
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0;
  std::uint8_t sid = 0;
  std::uint16_t dstGap = 0;
  bool ifTranspose = false;
  std::uint8_t addrMode = 0;
  constexpr LoadData2DParams() = default;
  constexpr LoadData2DParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src_stride,
                             std::uint8_t stream, std::uint16_t dst_gap, bool transpose, std::uint8_t mode)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(src_stride),
        sid(stream),
        dstGap(dst_gap),
        ifTranspose(transpose),
        addrMode(mode) {}
};

struct LoadData2dTransposeParams {
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
  constexpr LoadData2dTransposeParams() = default;
  constexpr LoadData2dTransposeParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src_stride,
                                      std::uint16_t dst_gap, std::uint16_t fractal_gap)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(src_stride),
        dstGap(dst_gap),
        dstFracGap(fractal_gap) {}
};

struct MmadParams {
  std::uint16_t m = 0, n = 0, k = 0;
  std::uint8_t unitFlag = 0;
  bool cmatrixSource = false, cmatrixInitVal = true;
  constexpr MmadParams() = default;
  constexpr MmadParams(std::uint16_t rows, std::uint16_t columns, std::uint16_t depth, std::uint8_t unit_flag,
                       bool from_bias_table, bool from_zero)
      : m(rows),
        n(columns),
        k(depth),
        unitFlag(unit_flag),
        cmatrixSource(from_bias_table),
        cmatrixInitVal(from_zero) {}
};

enum class CO2Layout : std::uint8_t { NZ, ROW_MAJOR };

struct FixpipeConfig {
  CO2Layout format;
};
inline constexpr FixpipeConfig CFG_NZ{CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR{CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
  std::uint16_t nSize = 0, mSize = 0, srcStride = 0;
  std::uint32_t dstStride = 0;
  QuantMode_t quantPre = NoQuant;
  std::uint64_t deqScalar = 0;
  std::uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool reluEn = false;
  std::uint8_t unitFlag = 0;
  constexpr FixpipeParamsV220() = default;
  constexpr FixpipeParamsV220(std::uint16_t columns, std::uint16_t rows, std::uint16_t src_stride,
                              std::uint32_t dst_stride, bool relu)
      : nSize(columns), mSize(rows), srcStride(src_stride), dstStride(dst_stride), reluEn(relu) {}
};

}  // namespace AscendC
