// The table of lowerings. A row's reason is asked with the dtype of the operands; a cast asks it for both of its dtypes.
#include "codegen/ascendc/call.hpp"
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

bool is_wide(DType dtype) { return size_of(dtype) == 8; }

/// What holds for every operation that computes.
std::string computes(DType dtype) {
  if (dtype == DType::Float64) return "the vector unit of this class has no double; use float";
  if (is_wide(dtype)) return "the vector unit of this class casts and reduces no 64-bit integers; use int32";
  return {};
}

/// Element by element; 64-bit integers one after the other, by the scalar pipe.
std::string by_element(DType dtype) { return dtype == DType::Float64 ? computes(dtype) : std::string(); }

std::string remainder_reason(DType dtype) {
  if (is_floating(dtype) && dtype != DType::Float64)
    return "the vector unit has no exact remainder of floats; compute x - floor(x / y) * y where that is "
           "meant";
  return by_element(dtype);
}

std::string fused_reason(DType) {
  return "AscendC does not document whether its multiply-add rounds once; write a * b + c, which rounds "
         "twice";
}

std::string power_reason(DType) {
  return "4 ulp need a logarithm of more digits than float has; write exp(b * log(a)) where its error is "
         "small enough";
}

std::string moves(DType dtype) {
  if (dtype == DType::Float64) return "the vector unit of this class has no double; use float";
  return {};
}

std::string no_reason(DType) { return {}; }

std::string not_on_device(DType) {
  return "a kernel on the NPU has no console; store the tile and print it on the host";
}

std::string reduces_over_ranks(DType dtype) {
  if (dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Int32)
    return {};
  return "reductions over ranks are of float, half, bfloat16 and int32 on this target; convert the tile";
}

std::string only_captured(DType) { return "no specialised kernel has it"; }

constexpr Lowering rows[] = {
    {Op::Constant, Place::Structure, nullptr, no_reason},
    {Op::Variable, Place::Structure, nullptr, no_reason},
    {Op::List, Place::Structure, nullptr, no_reason},
    {Op::Conditional, Place::Structure, nullptr, no_reason},
    {Op::Dim, Place::Refused, nullptr, only_captured},
    {Op::Rank, Place::Refused, nullptr, only_captured},
    {Op::Slice, Place::Refused, nullptr, only_captured},
    {Op::Index, Place::Refused, nullptr, only_captured},
    {Op::Full, Place::Structure, nullptr, by_element},
    {Op::Load, Place::Structure, nullptr, moves},
    {Op::Store, Place::Structure, nullptr, moves},
    {Op::Neg, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Abs, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Recip, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Sqrt, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Rsqrt, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Square, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Sign, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Floor, Place::Elementwise, lower_rounding, by_element},
    {Op::Ceil, Place::Elementwise, lower_rounding, by_element},
    {Op::Round, Place::Elementwise, lower_rounding, by_element},
    {Op::Rint, Place::Elementwise, lower_rounding, by_element},
    {Op::Trunc, Place::Elementwise, lower_rounding, by_element},
    {Op::Relu, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Exp, Place::Elementwise, lower_transcendental, by_element},
    {Op::Exp2, Place::Elementwise, lower_transcendental, by_element},
    {Op::Expm1, Place::Elementwise, lower_transcendental, by_element},
    {Op::Log, Place::Elementwise, lower_transcendental, by_element},
    {Op::Log2, Place::Elementwise, lower_transcendental, by_element},
    {Op::Log1p, Place::Elementwise, lower_transcendental, by_element},
    {Op::Sin, Place::Elementwise, lower_transcendental, by_element},
    {Op::Cos, Place::Elementwise, lower_transcendental, by_element},
    {Op::Tanh, Place::Elementwise, lower_transcendental, by_element},
    {Op::Erf, Place::Elementwise, lower_transcendental, by_element},
    {Op::Sigmoid, Place::Elementwise, lower_transcendental, by_element},
    {Op::Add, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Sub, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Mul, Place::Elementwise, lower_arithmetic, by_element},
    {Op::Div, Place::Elementwise, lower_division, by_element},
    {Op::Fmod, Place::Elementwise, lower_division, remainder_reason},
    {Op::Rem, Place::Elementwise, lower_division, remainder_reason},
    {Op::Pow, Place::Refused, nullptr, power_reason},
    {Op::Maximum, Place::Elementwise, lower_extremum, by_element},
    {Op::Minimum, Place::Elementwise, lower_extremum, by_element},
    {Op::Fma, Place::Refused, nullptr, fused_reason},
    {Op::Clamp, Place::Elementwise, lower_extremum, by_element},
    {Op::Where, Place::Elementwise, lower_where, by_element},
    {Op::Eq, Place::Elementwise, lower_compare, by_element},
    {Op::Ne, Place::Elementwise, lower_compare, by_element},
    {Op::Lt, Place::Elementwise, lower_compare, by_element},
    {Op::Le, Place::Elementwise, lower_compare, by_element},
    {Op::Gt, Place::Elementwise, lower_compare, by_element},
    {Op::Ge, Place::Elementwise, lower_compare, by_element},
    {Op::IsNan, Place::Elementwise, lower_compare, by_element},
    {Op::IsInf, Place::Elementwise, lower_compare, by_element},
    {Op::LogicalAnd, Place::Elementwise, lower_logic, by_element},
    {Op::LogicalOr, Place::Elementwise, lower_logic, by_element},
    {Op::LogicalNot, Place::Elementwise, lower_logic, by_element},
    {Op::BitAnd, Place::Elementwise, lower_bits, by_element},
    {Op::BitOr, Place::Elementwise, lower_bits, by_element},
    {Op::BitXor, Place::Elementwise, lower_bits, by_element},
    {Op::BitNot, Place::Elementwise, lower_bits, by_element},
    {Op::Shl, Place::Elementwise, lower_shift, by_element},
    {Op::Shr, Place::Elementwise, lower_shift, by_element},
    {Op::Cast, Place::Elementwise, lower_cast, computes},
    {Op::RowSum, Place::Structure, nullptr, computes},
    {Op::RowProd, Place::Structure, nullptr, computes},
    {Op::RowMax, Place::Structure, nullptr, computes},
    {Op::RowMin, Place::Structure, nullptr, computes},
    {Op::RowMean, Place::Structure, nullptr, computes},
    {Op::ColSum, Place::Structure, nullptr, computes},
    {Op::ColProd, Place::Structure, nullptr, computes},
    {Op::ColMax, Place::Structure, nullptr, computes},
    {Op::ColMin, Place::Structure, nullptr, computes},
    {Op::ColMean, Place::Structure, nullptr, computes},
    {Op::Check, Place::Structure, nullptr, no_reason},
    {Op::BlockIdx, Place::Structure, nullptr, no_reason},
    {Op::BlockNum, Place::Structure, nullptr, no_reason},
    {Op::SubblockIdx, Place::Structure, nullptr, no_reason},
    {Op::BarrierAll, Place::Structure, nullptr, no_reason},
    {Op::PipeBarrier, Place::Structure, nullptr, no_reason},
    {Op::Print, Place::Refused, nullptr, not_on_device},
    {Op::Transpose, Place::Call, nullptr, moves},
    {Op::Matmul, Place::Call, nullptr, product_reason},
    {Op::MatmulAcc, Place::Call, nullptr, product_reason},
    {Op::MatmulBias, Place::Call, nullptr, product_reason},
    {Op::BatchMatmul, Place::Call, nullptr, product_reason},
    {Op::Gemv, Place::Call, nullptr, product_reason},
    {Op::Dot, Place::Call, nullptr, product_reason},
    {Op::Arange, Place::Call, nullptr, moves},
    {Op::Tri, Place::Call, nullptr, moves},
    {Op::Random, Place::Call, nullptr, moves},
    {Op::TileSlice, Place::Call, nullptr, moves},
    {Op::Assemble, Place::Call, nullptr, moves},
    {Op::Concat, Place::Call, nullptr, moves},
    {Op::Reshape, Place::Call, nullptr, moves},
    {Op::Reinterpret, Place::Call, nullptr, moves},
    {Op::Pad, Place::Call, nullptr, moves},
    {Op::Expand, Place::Call, nullptr, moves},
    {Op::Sum, Place::Refused, nullptr, only_captured},
    {Op::Prod, Place::Refused, nullptr, only_captured},
    {Op::Max, Place::Refused, nullptr, only_captured},
    {Op::Min, Place::Refused, nullptr, only_captured},
    {Op::Mean, Place::Refused, nullptr, only_captured},
    {Op::MoveTo, Place::Structure, nullptr, no_reason},
    {Op::Read, Place::Structure, nullptr, moves},
    {Op::RowArgmax, Place::Call, nullptr, moves},
    {Op::RowArgmin, Place::Call, nullptr, moves},
    {Op::ColArgmax, Place::Call, nullptr, moves},
    {Op::ColArgmin, Place::Call, nullptr, moves},
    {Op::Cumsum, Place::Call, nullptr, moves},
    {Op::Gather, Place::Call, nullptr, moves},
    {Op::GatherRow, Place::Call, nullptr, moves},
    {Op::LoadRow, Place::Call, nullptr, moves},
    {Op::PagedGather, Place::Call, nullptr, moves},
    {Op::Scatter, Place::Call, nullptr, moves},
    {Op::ScatterAdd, Place::Call, nullptr, moves},
    {Op::SortIndices, Place::Call, nullptr, moves},
    {Op::TopkIndices, Place::Call, nullptr, moves},
    {Op::Write, Place::Call, nullptr, moves},
    {Op::Valid, Place::Refused, nullptr, only_captured},
    {Op::SetValid, Place::Refused, nullptr, only_captured},
    {Op::Fillpad, Place::Refused, nullptr, only_captured},
    {Op::CommRank, Place::Structure, nullptr, no_reason},
    {Op::CommSize, Place::Structure, nullptr, no_reason},
    {Op::RemoteLoad, Place::Structure, nullptr, moves},
    {Op::RemoteStore, Place::Structure, nullptr, moves},
    {Op::RemotePut, Place::Structure, nullptr, moves},
    {Op::RemoteGet, Place::Structure, nullptr, moves},
    {Op::Notify, Place::Structure, nullptr, no_reason},
    {Op::Wait, Place::Structure, nullptr, no_reason},
    {Op::DeferWait, Place::Structure, nullptr, no_reason},
    {Op::Fence, Place::Structure, nullptr, no_reason},
    {Op::Barrier, Place::Structure, nullptr, no_reason},
    {Op::Allreduce, Place::Structure, nullptr, reduces_over_ranks},
    {Op::Broadcast, Place::Structure, nullptr, moves},
    {Op::Allgather, Place::Structure, nullptr, moves},
    {Op::ReduceScatter, Place::Structure, nullptr, reduces_over_ranks},
    {Op::AllToAll, Place::Structure, nullptr, moves},
    {Op::AllToAllV, Place::Structure, nullptr, moves},
    {Op::CommReduce, Place::Structure, nullptr, reduces_over_ranks},
    {Op::CommScatter, Place::Structure, nullptr, moves},
    {Op::CommGather, Place::Structure, nullptr, moves},
    {Op::SendRecv, Place::Structure, nullptr, moves},
};

}  // namespace

const Lowering& lowering(Op op) {
  const auto found = std::ranges::find(rows, op, &Lowering::op);
  if (found == std::end(rows))
    throw pl::InternalError("AscendC emitter: no row for " + std::string(operation(op).name) +
                            " in the table of lowerings");
  return *found;
}

std::string refusal(Op op, DType dtype) { return lowering(op).reason(dtype); }

}  // namespace trilith::codegen::ascendc
