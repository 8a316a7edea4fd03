// runtime/model/elements.hpp -- the arithmetic of the vector unit on a contiguous run of elements.
//
// Every operation is rounded once (half: computed wider, then rounded); FusedMulAdd, MulAddDst and Axpy round their sum
// only. Integers wrap, NaN goes through Max, Min and Relu, subnormals are kept. Exp, Ln and Rsqrt are rounded from double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codegen/ascendc/model/model_abi.h"

namespace trilith::model {

/// dst[i] = op(a[i], b[i], scalar) for `count` elements; dst may be a or b.
using Elements = void (*)(std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count,
                          std::uint64_t scalar);

/// Null: the operation is not element by element, or not of this dtype.
[[nodiscard]] Elements elements_of(AscendC::model::VectorOp op, AscendC::model::Dtype dst,
                                   AscendC::model::Dtype source);

/// Null: the unit does not convert so in this mode (RoundMode).
[[nodiscard]] Elements cast_of(AscendC::model::Dtype dst, AscendC::model::Dtype source, std::uint8_t mode);

}  // namespace trilith::model
