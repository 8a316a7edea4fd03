#include "codegen/operation_words.hpp"

#include <algorithm>

namespace trilith::codegen {
namespace {

constexpr std::string_view broadcast = "broadcast";
constexpr std::string_view row_rule = "[.., R, C] -> [.., R, 1]";
constexpr std::string_view col_rule = "[.., R, C] -> [.., 1, C]";
constexpr std::string_view axis_rule = "x, the axis as 1";
constexpr std::string_view same = "x";

constexpr OperationWords rows[] = {
    {Op::Conditional, "", "c ? a : b", "scalars", "on scalars; only one side is evaluated"},
    {Op::Dim, "", "x.dim(i)", "int64 scalar", "the extent of axis i of a tensor or tile"},
    {Op::Valid, "", "x.valid(i)", "int64 scalar",
     "how much of axis i of a tile is valid; the extent where all is"},
    {Op::Rank, "", "x.rank()", "int scalar", "how many axes a tensor or tile has"},
    {Op::Slice, "", "x.slice(offsets, shape)", "shape", "a view of a region of a tensor; nothing is copied"},
    {Op::Index, "", "x[i]", "x without its leading axis", "a view of one entry of a tensor's leading axis"},
    {Op::Full, "full<T>(shape, value)", "", "shape", "every element is the value"},
    {Op::Load, "load(x)", "load(x, offsets, shape[, {.clamp, .valid}])", "shape, or x's",
     "tile[i, ..] = x[offset + i, ..]; the region must lie inside the tensor; clamp: it is valid as far as "
     "the tensor "
     "goes; valid: as far as these extents"},
    {Op::Store, "store(tile, y)", "store(tile, offsets, y[, {.atomic = pl::Atomic::Add}])", "y",
     "y[offset + i, ..] = tile[i, ..]; atomic: added, one indivisible step an element"},
    {Op::Read, "read(x, offsets)", "", "scalar", "one element of a tile or tensor; one offset for each axis"},
    {Op::SetValid, "set_valid(x, extents)", "", same, "only what lies inside the extents stays valid"},
    {Op::Fillpad, "fillpad(x, pad)", "", same,
     "all of it valid: zero, the largest or the lowest where it was not"},
    {Op::Write, "write(x, offsets, value)", "", same, "changes one element of a tile or of an output"},
    {Op::Neg, "neg(x)", "-x", "", ""},
    {Op::Abs, "abs(x)", "", "", ""},
    {Op::Recip, "recip(x)", "", "", ""},
    {Op::Sqrt, "sqrt(x)", "", "", ""},
    {Op::Rsqrt, "rsqrt(x)", "", "", ""},
    {Op::Square, "square(x)", "", "", ""},
    {Op::Sign, "sign(x)", "", "", ""},
    {Op::Floor, "floor(x)", "", "", ""},
    {Op::Ceil, "ceil(x)", "", "", ""},
    {Op::Round, "round(x)", "", "", ""},
    {Op::Rint, "rint(x)", "", "", ""},
    {Op::Trunc, "trunc(x)", "", "", ""},
    {Op::Relu, "relu(x)", "", "", ""},
    {Op::Exp, "exp(x)", "", "", ""},
    {Op::Exp2, "exp2(x)", "", "", ""},
    {Op::Expm1, "expm1(x)", "", "", ""},
    {Op::Log, "log(x)", "", "", ""},
    {Op::Log2, "log2(x)", "", "", ""},
    {Op::Log1p, "log1p(x)", "", "", ""},
    {Op::Sin, "sin(x)", "", "", ""},
    {Op::Cos, "cos(x)", "", "", ""},
    {Op::Tanh, "tanh(x)", "", "", ""},
    {Op::Erf, "erf(x)", "", "", ""},
    {Op::Sigmoid, "sigmoid(x)", "", "", ""},
    {Op::Add, "add(a, b)", "a + b", "", ""},
    {Op::Sub, "sub(a, b)", "a - b", "", ""},
    {Op::Mul, "mul(a, b)", "a * b", "", ""},
    {Op::Div, "div(a, b)", "a / b", "", ""},
    {Op::Fmod, "fmod(a, b)", "a % b", "", ""},
    {Op::Rem, "rem(a, b)", "", "", ""},
    {Op::Pow, "pow(a, b)", "", "", ""},
    {Op::Maximum, "maximum(a, b)", "", "", ""},
    {Op::Minimum, "minimum(a, b)", "", "", ""},
    {Op::Fma, "fma(a, b, c)", "", "", ""},
    {Op::Clamp, "clamp(x, lo, hi)", "", "", ""},
    {Op::Where, "where(c, a, b)", "sel(c, a, b)", "", ""},
    {Op::MoveTo, "move(x, pl::Memory::Vec)", "", same,
     "x, to lie in a memory of the core: Vec, Mat, Left, Right, Acc, Bias; a hint on the simulator"},
    {Op::Eq, "eq(a, b)", "a == b", "", ""},
    {Op::Ne, "ne(a, b)", "a != b", "", ""},
    {Op::Lt, "lt(a, b)", "a < b", "", ""},
    {Op::Le, "le(a, b)", "a <= b", "", ""},
    {Op::Gt, "gt(a, b)", "a > b", "", ""},
    {Op::Ge, "ge(a, b)", "a >= b", "", ""},
    {Op::IsNan, "isnan(x)", "", "", ""},
    {Op::IsInf, "isinf(x)", "", "", ""},
    {Op::LogicalAnd, "logical_and(a, b)", "a && b", "", ""},
    {Op::LogicalOr, "logical_or(a, b)", "a || b", "", ""},
    {Op::LogicalNot, "logical_not(a)", "!a", "", ""},
    {Op::BitAnd, "bit_and(a, b)", "a & b", "", ""},
    {Op::BitOr, "bit_or(a, b)", "a | b", "", ""},
    {Op::BitXor, "bit_xor(a, b)", "a ^ b", "", ""},
    {Op::BitNot, "bit_not(a)", "~a", "", ""},
    {Op::Shl, "shl(a, b)", "a << b", "", ""},
    {Op::Shr, "shr(a, b)", "a >> b", "", ""},
    {Op::Cast, "cast<U>(x)", "cast<U>(x, {.mode = pl::CastMode::trunc})", same,
     "to dtype U. float to integer: rounded by the mode (rint, round, floor, ceil, trunc, odd), saturated, "
     "NaN gives 0; integer to integer wraps; to a float: nearest, ties to even; to bool: x != 0"},
    {Op::RowSum, "row_sum(x)", "", "", ""},
    {Op::RowProd, "row_prod(x)", "", "", ""},
    {Op::RowMax, "row_max(x)", "", "", ""},
    {Op::RowMin, "row_min(x)", "", "", ""},
    {Op::RowMean, "row_mean(x)", "", "", ""},
    {Op::ColSum, "col_sum(x)", "", "", ""},
    {Op::ColProd, "col_prod(x)", "", "", ""},
    {Op::ColMax, "col_max(x)", "", "", ""},
    {Op::ColMin, "col_min(x)", "", "", ""},
    {Op::ColMean, "col_mean(x)", "", "", ""},
    {Op::Sum, "sum(x, {.axis = i})", "", "", "sum over the axis; 0 when empty"},
    {Op::Prod, "prod(x, {.axis = i})", "", "", "product over the axis; 1 when empty"},
    {Op::Max, "max(x, {.axis = i})", "", "", "maximum over the axis; empty: -inf or the lowest"},
    {Op::Min, "min(x, {.axis = i})", "", "", "minimum over the axis; empty: inf or the highest"},
    {Op::Mean, "mean(x, {.axis = i})", "", "", "sum / extent over the axis; NaN when empty"},
    {Op::Print, "print(x)", "", "nothing", "prints a tile or scalar on the host"},
    {Op::BlockIdx, "block_idx()", "", "int scalar", ""},
    {Op::BlockNum, "block_num()", "", "int scalar", ""},
    {Op::SubblockIdx, "subblock_idx()", "", "int scalar", ""},
    {Op::BarrierAll, "barrier_all()", "", "nothing", ""},
    {Op::PipeBarrier, "pipe_barrier()", "", "nothing", ""},
    {Op::CommRank, "", "pld::rank(w)", "int", "number of this rank among those that share the window"},
    {Op::CommSize, "", "pld::nranks(w)", "int", "how many ranks share it"},
    {Op::RemoteLoad, "", "pld::remote_load(w, {.peer[, .offsets, .shape]})", "shape, or w's",
     "tile: a region of the peer's part"},
    {Op::RemoteStore, "", "pld::remote_store(tile, w, {.peer[, .offsets, .atomic]})", "nothing",
     "writes a tile to the peer's part, or adds it"},
    {Op::RemotePut, "",
     "pld::put(w, {.peer, .src[, .dst_offsets, .src_offsets, .shape, .atomic, .chunk, .pipeline]})",
     "nothing", "copies a region of this rank's memory to the peer's part, or adds it"},
    {Op::RemoteGet, "", "pld::get(y, w, {.peer[, .src_offsets, .dst_offsets, .shape, .chunk, .pipeline]})",
     "nothing", "copies a region of the peer's part to this rank's memory"},
    {Op::Notify, "", "pld::notify(signal, {.peer[, .offsets, .value, .op]})", "nothing",
     "sets, or adds to, a cell of the peer; what this task wrote to that peer before is visible first"},
    {Op::Wait, "", "pld::wait(signal[, {.offsets, .expected, .cmp}])", "nothing",
     "until a cell of this rank's own part is at least, or equal to, the expected value"},
    {Op::DeferWait, "", "pld::defer_wait(signal[, {.offsets, .expected}])", "nothing",
     "goes on at once; the task ends when the cell is at least the expected value"},
    {Op::Fence, "", "pld::fence()", "nothing",
     "orders the remote writes of this task before it against those behind it"},
    {Op::Barrier, "", "pld::barrier(w[, {.signal}])", "nothing",
     "until all ranks that share the window are here"},
    {Op::Allreduce, "", "pld::allreduce(w[, {.op, .algorithm, .signal}])", "nothing",
     "every part becomes the reduction of all parts, in the order of ranks"},
    {Op::Broadcast, "", "pld::broadcast(w[, {.root, .signal}])", "nothing",
     "every part becomes a copy of the root's"},
    {Op::Allgather, "", "pld::allgather(w[, {.signal}])", "nothing",
     "row r of every part becomes rank r's own row r"},
    {Op::ReduceScatter, "", "pld::reduce_scatter(w[, {.op, .signal}])", "nothing",
     "row r of rank r's part becomes the reduction of all ranks' row r"},
    {Op::AllToAll, "", "pld::all_to_all(w[, {.signal}])", "nothing",
     "row i of rank r becomes what was row r of rank i"},
    {Op::AllToAllV, "", "pld::all_to_all_v(w, counts[, {.signal}])", "nothing",
     "the same of the first counts[i] items of row i; counts[i] becomes what rank i sent"},
    {Op::CommReduce, "", "pld::reduce(w[, {.root, .op, .signal}])", "nothing",
     "the root's part becomes the reduction of all parts, in the order of ranks"},
    {Op::CommScatter, "", "pld::scatter(w[, {.root, .signal}])", "nothing",
     "row r of rank r's part becomes the root's row r"},
    {Op::CommGather, "", "pld::gather(w[, {.root, .signal}])", "nothing",
     "row r of the root's part becomes rank r's own row r"},
    {Op::SendRecv, "", "pld::send_recv(w, {.from, .to[, .signal]})", "nothing",
     "the part of rank `to` becomes that of rank `from`"},
    {Op::Transpose, "transpose(x[, axis, axis2])", "", "x, two extents exchanged",
     "two axes exchanged, by default the last two"},
    {Op::Matmul, "matmul(a, b[, {.trans_a, .trans_b}])", "matmul<U>(a, b)", "[M, K] x [K, N] -> [M, N]",
     "sum over k of a(i, k) * b(k, j), in float (double: double, int8: int32); with U converted once"},
    {Op::MatmulAcc, "matmul_acc(acc, a, b)", "", "acc", "acc + matmul(a, b)"},
    {Op::MatmulBias, "matmul_bias(a, b, bias)", "", "[M, N], bias [N] or [1, N]",
     "matmul(a, b) + bias, the same for every row"},
    {Op::BatchMatmul, "batch_matmul(a, b)", "", "[.., M, K] x [.., K, N] -> [.., M, N]",
     "matmul of the last two axes; the leading ones broadcast"},
    {Op::Gemv, "gemv(a, b)", "", "[M, K] x [K] -> [M]; [K] x [K, N] -> [N]",
     "matrix times vector, in either order"},
    {Op::Dot, "dot(a, b)", "", "[K] x [K] -> [1]", "sum over k of a(k) * b(k)"},
    {Op::Arange, "arange<T>(shape[, start, step])", "", "shape",
     "start + j * step along the last axis, each step rounded once"},
    {Op::Tri, "tri<T>(rows, cols[, diagonal, upper])", "", "[rows, cols]",
     "1 where j <= i + diagonal (upper: j >= i + diagonal), else 0"},
    {Op::Random, "random<T>(shape, seed, counter)", "", "shape",
     "Philox4x32-10 of seed and counter; floats uniform in [0, 1), integers all bits"},
    {Op::TileSlice, "slice(x, offsets, shape)", "", "shape", "the region of a tile"},
    {Op::Assemble, "assemble(x, block, offsets)", "", same,
     "x with the region at the offsets replaced by the block"},
    {Op::Concat, "concat(a, b[, {.axis = i}])", "concat({a, b, c}, {.axis = i})", "extents of the axis added",
     "the tiles one behind the other along an axis, by default the last"},
    {Op::Reshape, "reshape(x, shape)", "", "shape", "the same elements in row-major order"},
    {Op::Reinterpret, "reinterpret<U>(x)", "", same, "the bits as a dtype of the same size"},
    {Op::Pad, "pad(x, before, after[, value])", "", "before + x + after on each axis", "the value around x"},
    {Op::Expand, "expand(x, shape)", "", "shape", "x broadcast to the shape"},
    {Op::RowArgmax, "row_argmax(x)", "", row_rule, ""},
    {Op::RowArgmin, "row_argmin(x)", "", row_rule, ""},
    {Op::ColArgmax, "col_argmax(x)", "", col_rule, ""},
    {Op::ColArgmin, "col_argmin(x)", "", col_rule, ""},
    {Op::Cumsum, "cumsum(x[, {.axis = i}])", "", same,
     "sums of x up to and with each element, in index order; floats are summed in double, each sum rounded "
     "once"},
    {Op::Gather, "gather(x, idx[, {.axis = i}])", "", "idx",
     "r[.., j, ..] = x[.., idx[.., j, ..], ..] along the axis; other extents of x and idx are equal"},
    {Op::GatherRow, "gather_row(x, idx)", "", "idx + x without axis 0",
     "r[j.., ...] = x[idx[j..], ...] of a tile"},
    {Op::LoadRow, "gather_row(tensor, idx)", "", "idx + tensor without axis 0",
     "the same from global memory: only the rows that are named are read"},
    {Op::PagedGather, "paged_gather(pages, table, lengths, count[, {.start = t}])", "", "[S.., count, ...]",
     "rows of sequences in pages [N, P, ...]: row i is pages[table[s, t / P], t % P] with t = start + i, "
     "zero "
     "where t >= lengths[s]"},
    {Op::Scatter, "scatter(x, idx, source[, {.axis = i}])", "", same,
     "x with r[.., idx[.., j, ..], ..] = source[.., j, ..] along the axis; of equal indices the last wins"},
    {Op::ScatterAdd, "scatter_add(x, idx, source[, {.axis = i}])", "", same,
     "x with the source added, in row-major order, each sum rounded"},
    {Op::SortIndices, "sort_indices(x[, {.axis = i, .descending = true}])", "", same,
     "int32 positions in sorted order along the axis; stable, NaN last"},
    {Op::TopkIndices, "topk_indices(x, k[, {.axis = i, .largest = false}])", "", "x, the axis as k",
     "int32 positions of the k largest along the axis, best first; of equals the first index, NaN last"},
};

constexpr ComposedFunction composed[] = {
    {"zeros<T>(shape)", "full<T>(shape, 0)", "all", "shape"},
    {"sort(x[, {.axis = i, .descending = true}])", "sort_indices, and gather by them: [values, indices]",
     "integers and floats", "x, x"},
    {"topk(x, k[, {.axis = i, .largest = false}])", "topk_indices, and gather by them: [values, indices]",
     "integers and floats", "x, the axis as k"},
    {"silu(x)", "x * sigmoid(x)", "floats", broadcast},
    {"swish(x, beta)", "x * sigmoid(beta * x)", "floats", broadcast},
    {"gelu(x)", "0.5 * x * (1 + erf(x / sqrt(2)))", "floats", broadcast},
    {"gelu<pl::Gelu::tanh>(x)", "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))", "floats",
     broadcast},
    {"softplus(x)", "relu(x) + log1p(exp(-abs(x)))", "floats", broadcast},
    {"lrelu(x, slope)", "x > 0 ? x : x * slope", "integers and floats", broadcast},
    {"prelu(x, slope)", "x > 0 ? x : x * slope, the slope a tile", "integers and floats", broadcast},
    {"row_expand_add(x, r)", "x + r", "integers and floats", "[.., R, C] with [.., R, 1]"},
    {"row_expand_sub(x, r)", "x - r", "integers and floats", "[.., R, C] with [.., R, 1]"},
    {"row_expand_mul(x, r)", "x * r", "integers and floats", "[.., R, C] with [.., R, 1]"},
    {"row_expand_div(x, r)", "x / r", "integers and floats", "[.., R, C] with [.., R, 1]"},
    {"row_expand_max(x, r)", "maximum(x, r)", "integers and floats", "[.., R, C] with [.., R, 1]"},
    {"row_expand_min(x, r)", "minimum(x, r)", "integers and floats", "[.., R, C] with [.., R, 1]"},
    {"row_expand_expdif(x, r)", "exp(x - r)", "floats", "[.., R, C] with [.., R, 1]"},
    {"col_expand_add(x, c)", "x + c", "integers and floats", "[.., R, C] with [.., 1, C]"},
    {"col_expand_sub(x, c)", "x - c", "integers and floats", "[.., R, C] with [.., 1, C]"},
    {"col_expand_mul(x, c)", "x * c", "integers and floats", "[.., R, C] with [.., 1, C]"},
    {"col_expand_div(x, c)", "x / c", "integers and floats", "[.., R, C] with [.., 1, C]"},
    {"col_expand_max(x, c)", "maximum(x, c)", "integers and floats", "[.., R, C] with [.., 1, C]"},
    {"col_expand_min(x, c)", "minimum(x, c)", "integers and floats", "[.., R, C] with [.., 1, C]"},
    {"col_expand_expdif(x, c)", "exp(x - c)", "floats", "[.., R, C] with [.., 1, C]"},
};

}  // namespace

const OperationWords* words(Op op) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return row.op == op; });
  return found == std::end(rows) ? nullptr : found;
}

std::string_view shape_rule(Op op) {
  if (const OperationWords* row = words(op); row != nullptr && !row->shapes.empty()) return row->shapes;
  switch (operation(op).group) {
    case Group::Elementwise:
    case Group::Compare:
    case Group::Logic:
    case Group::Bits: return broadcast;
    case Group::RowReduce: return row_rule;
    case Group::ColReduce: return col_rule;
    case Group::Reduce: return axis_rule;
    default: return "";
  }
}

std::string_view meaning(Op op) {
  const OperationWords* row = words(op);
  return row != nullptr && !row->meaning.empty() ? row->meaning : operation(op).formula;
}

std::string_view text_of(DTypes dtypes) {
  switch (dtypes) {
    case DTypes::Any: return "all";
    case DTypes::Numeric: return "integers and floats";
    case DTypes::Floating: return "floats";
    case DTypes::Integer: return "integers";
    case DTypes::Boolean: return "bool";
    case DTypes::IntegerOrBoolean: return "integers and bool";
    case DTypes::Product: return "floats and int8";
  }
  return "";
}

std::span<const ComposedFunction> composed_functions() { return composed; }

}  // namespace trilith::codegen
