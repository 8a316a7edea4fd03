// The table of lowerings. A row's reason is asked with the dtype of the operands; a cast asks it for both of its dtypes.
#include "codegen/ascendc/call.hpp"
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

std::string no_double(DType dtype) {
  if (dtype == DType::Float64) return "the vector unit of this class has no double; use float";
  return {};
}

std::string no_reason(DType) { return {}; }

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
    {Op::Full, Place::Structure, nullptr, no_double},
    {Op::Load, Place::Structure, nullptr, no_double},
    {Op::Store, Place::Structure, nullptr, no_double},
    {Op::Neg, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Abs, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Recip, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Sqrt, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Rsqrt, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Square, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Sign, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Floor, Place::Elementwise, lower_rounding, no_double},
    {Op::Ceil, Place::Elementwise, lower_rounding, no_double},
    {Op::Round, Place::Elementwise, lower_rounding, no_double},
    {Op::Rint, Place::Elementwise, lower_rounding, no_double},
    {Op::Trunc, Place::Elementwise, lower_rounding, no_double},
    {Op::Relu, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Exp, Place::Elementwise, lower_transcendental, no_double},
    {Op::Exp2, Place::Elementwise, lower_transcendental, no_double},
    {Op::Expm1, Place::Elementwise, lower_transcendental, no_double},
    {Op::Log, Place::Elementwise, lower_transcendental, no_double},
    {Op::Log2, Place::Elementwise, lower_transcendental, no_double},
    {Op::Log1p, Place::Elementwise, lower_transcendental, no_double},
    {Op::Sin, Place::Elementwise, lower_transcendental, no_double},
    {Op::Cos, Place::Elementwise, lower_transcendental, no_double},
    {Op::Tanh, Place::Elementwise, lower_transcendental, no_double},
    {Op::Erf, Place::Elementwise, lower_transcendental, no_double},
    {Op::Sigmoid, Place::Elementwise, lower_transcendental, no_double},
    {Op::Add, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Sub, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Mul, Place::Elementwise, lower_arithmetic, no_double},
    {Op::Div, Place::Elementwise, lower_division, no_double},
    {Op::Fmod, Place::Elementwise, lower_division, no_double},
    {Op::Rem, Place::Elementwise, lower_division, no_double},
    {Op::Pow, Place::Elementwise, lower_power, no_double},
    {Op::Maximum, Place::Elementwise, lower_extremum, no_double},
    {Op::Minimum, Place::Elementwise, lower_extremum, no_double},
    {Op::Fma, Place::Elementwise, lower_by_bits, no_double},
    {Op::Clamp, Place::Elementwise, lower_extremum, no_double},
    {Op::Where, Place::Elementwise, lower_where, no_double},
    {Op::Eq, Place::Elementwise, lower_compare, no_double},
    {Op::Ne, Place::Elementwise, lower_compare, no_double},
    {Op::Lt, Place::Elementwise, lower_compare, no_double},
    {Op::Le, Place::Elementwise, lower_compare, no_double},
    {Op::Gt, Place::Elementwise, lower_compare, no_double},
    {Op::Ge, Place::Elementwise, lower_compare, no_double},
    {Op::IsNan, Place::Elementwise, lower_compare, no_double},
    {Op::IsInf, Place::Elementwise, lower_compare, no_double},
    {Op::LogicalAnd, Place::Elementwise, lower_logic, no_double},
    {Op::LogicalOr, Place::Elementwise, lower_logic, no_double},
    {Op::LogicalNot, Place::Elementwise, lower_logic, no_double},
    {Op::BitAnd, Place::Elementwise, lower_bits, no_double},
    {Op::BitOr, Place::Elementwise, lower_bits, no_double},
    {Op::BitXor, Place::Elementwise, lower_bits, no_double},
    {Op::BitNot, Place::Elementwise, lower_bits, no_double},
    {Op::Shl, Place::Elementwise, lower_shift, no_double},
    {Op::Shr, Place::Elementwise, lower_shift, no_double},
    {Op::Cast, Place::Elementwise, lower_cast, no_double},
    {Op::RowSum, Place::Structure, nullptr, no_double},
    {Op::RowProd, Place::Structure, nullptr, no_double},
    {Op::RowMax, Place::Structure, nullptr, no_double},
    {Op::RowMin, Place::Structure, nullptr, no_double},
    {Op::RowMean, Place::Structure, nullptr, no_double},
    {Op::ColSum, Place::Structure, nullptr, no_double},
    {Op::ColProd, Place::Structure, nullptr, no_double},
    {Op::ColMax, Place::Structure, nullptr, no_double},
    {Op::ColMin, Place::Structure, nullptr, no_double},
    {Op::ColMean, Place::Structure, nullptr, no_double},
    {Op::Check, Place::Structure, nullptr, no_reason},
    {Op::BlockIdx, Place::Structure, nullptr, no_reason},
    {Op::BlockNum, Place::Structure, nullptr, no_reason},
    {Op::SubblockIdx, Place::Structure, nullptr, no_reason},
    {Op::BarrierAll, Place::Structure, nullptr, no_reason},
    {Op::PipeBarrier, Place::Structure, nullptr, no_reason},
    {Op::Print, Place::Structure, nullptr, no_double},
    {Op::Transpose, Place::Call, nullptr, no_double},
    {Op::Matmul, Place::Call, nullptr, product_reason},
    {Op::MatmulAcc, Place::Call, nullptr, product_reason},
    {Op::MatmulBias, Place::Call, nullptr, product_reason},
    {Op::BatchMatmul, Place::Call, nullptr, product_reason},
    {Op::Gemv, Place::Call, nullptr, product_reason},
    {Op::Dot, Place::Call, nullptr, product_reason},
    {Op::Arange, Place::Call, nullptr, no_double},
    {Op::Tri, Place::Call, nullptr, no_double},
    {Op::Random, Place::Call, nullptr, no_double},
    {Op::TileSlice, Place::Call, nullptr, no_double},
    {Op::Assemble, Place::Call, nullptr, no_double},
    {Op::Concat, Place::Call, nullptr, no_double},
    {Op::Reshape, Place::Call, nullptr, no_double},
    {Op::Reinterpret, Place::Call, nullptr, no_double},
    {Op::Pad, Place::Call, nullptr, no_double},
    {Op::Expand, Place::Call, nullptr, no_double},
    {Op::Sum, Place::Refused, nullptr, only_captured},
    {Op::Prod, Place::Refused, nullptr, only_captured},
    {Op::Max, Place::Refused, nullptr, only_captured},
    {Op::Min, Place::Refused, nullptr, only_captured},
    {Op::Mean, Place::Refused, nullptr, only_captured},
    {Op::MoveTo, Place::Structure, nullptr, no_reason},
    {Op::Read, Place::Structure, nullptr, no_double},
    {Op::RowArgmax, Place::Call, nullptr, no_double},
    {Op::RowArgmin, Place::Call, nullptr, no_double},
    {Op::ColArgmax, Place::Call, nullptr, no_double},
    {Op::ColArgmin, Place::Call, nullptr, no_double},
    {Op::Cumsum, Place::Call, nullptr, no_double},
    {Op::Gather, Place::Call, nullptr, no_double},
    {Op::GatherRow, Place::Call, nullptr, no_double},
    {Op::LoadRow, Place::Call, nullptr, no_double},
    {Op::PagedGather, Place::Call, nullptr, no_double},
    {Op::Scatter, Place::Call, nullptr, no_double},
    {Op::ScatterAdd, Place::Call, nullptr, no_double},
    {Op::SortIndices, Place::Call, nullptr, no_double},
    {Op::TopkIndices, Place::Call, nullptr, no_double},
    {Op::Write, Place::Call, nullptr, no_double},
    {Op::Valid, Place::Refused, nullptr, only_captured},
    {Op::SetValid, Place::Refused, nullptr, only_captured},
    {Op::Fillpad, Place::Refused, nullptr, only_captured},
    {Op::CommRank, Place::Structure, nullptr, no_reason},
    {Op::CommSize, Place::Structure, nullptr, no_reason},
    {Op::RemoteLoad, Place::Structure, nullptr, no_double},
    {Op::RemoteStore, Place::Structure, nullptr, no_double},
    {Op::RemotePut, Place::Structure, nullptr, no_double},
    {Op::RemoteGet, Place::Structure, nullptr, no_double},
    {Op::Notify, Place::Structure, nullptr, no_reason},
    {Op::Wait, Place::Structure, nullptr, no_reason},
    {Op::DeferWait, Place::Structure, nullptr, no_reason},
    {Op::Fence, Place::Structure, nullptr, no_reason},
    {Op::Barrier, Place::Structure, nullptr, no_reason},
    {Op::Allreduce, Place::Structure, nullptr, reduces_over_ranks},
    {Op::Broadcast, Place::Structure, nullptr, no_double},
    {Op::Allgather, Place::Structure, nullptr, no_double},
    {Op::ReduceScatter, Place::Structure, nullptr, reduces_over_ranks},
    {Op::AllToAll, Place::Structure, nullptr, no_double},
    {Op::AllToAllV, Place::Structure, nullptr, no_double},
    {Op::CommReduce, Place::Structure, nullptr, reduces_over_ranks},
    {Op::CommScatter, Place::Structure, nullptr, no_double},
    {Op::CommGather, Place::Structure, nullptr, no_double},
    {Op::SendRecv, Place::Structure, nullptr, no_double},
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
