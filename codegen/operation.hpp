// codegen/operation.hpp -- the one table of operations: names, groups, arity, dtypes, shapes, exactness.
//
// The eager reference, the verifier, the emitters, the docs and the tests follow from this table or are
// checked against it. To add an operation: a line in TRILITH_OPERATIONS, a case in reference/, a lowering in
// each emitter; the table tests fail until all are there.
#pragma once

#include "codegen/dtype.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace trilith::codegen {

/// What an operation is for; decides its shape rule:
///  Structure  -- IR plumbing (constants, variables, views), no arithmetic
///  Elementwise, Compare, Logic, Bits, Cast -- NumPy broadcast of all operands
///  RowReduce  -- [..., R, C] -> [..., R, 1];  ColReduce -- [..., R, C] -> [..., 1, C]
///  Create     -- shape given by a list operand;  Move -- load and store
///  Identity   -- int32 scalars that the run gives;  Synchronise -- statements without a value
///  Remote     -- what a kernel does to windows: parts of other ranks, signals, collectives
///  Generate, Layout, Index, Linear -- tile calls: a shape rule each (tile_call.hpp), operands and result in
///  memory, emitted as one call of the device header
enum class Group : std::uint8_t {
  Structure,
  Create,
  Move,
  Elementwise,
  Compare,
  Logic,
  Bits,
  Cast,
  RowReduce,
  ColReduce,
  Debug,
  Identity,     ///< int32 scalars that the run gives
  Synchronise,  ///< statements without a value
  Remote,       ///< statements of their own, which nothing that touches memory may pass (remote.hpp)
  Reduce,  ///< captured only: over attributes.axis, which stays as 1; specialised to row and column reductions
  Generate,  ///< tile calls without a tile operand: arange, tri, random
  Layout,    ///< tile calls that move elements and change none: transpose, concat, ...
  Index,     ///< tile calls that choose elements by value: gather, sort, ...
  Linear,    ///< tile calls of linear algebra
};

/// Which dtypes the operands may have (all operands alike, except `where`'s first, which is bool).
/// `Product`: the floating ones and int8.
enum class DTypes : std::uint8_t { Any, Numeric, Floating, Integer, Boolean, IntegerOrBoolean, Product };

/// How a compiled result relates to the reference one.
///  Exact -- equal bit for bit (any NaN equals any NaN); Ulp4 -- at most 4 ulp in float and double;
///  Sum -- may re-associate, tolerance documented.
enum class Exactness : std::uint8_t { Exact, Ulp4, Sum };

// X(Enumerator, "name", Group, arity, DTypes, Exactness, "formula")
// Structure operations: operands are described beside each.
#define TRILITH_OPERATIONS(X)                                                                               \
  X(Constant, "constant", Structure, 0, Any, Exact, "Expr::value")                                          \
  X(Variable, "variable", Structure, 0, Any, Exact, "Expr::variable")                                       \
  X(List, "list", Structure, -1, Any, Exact, "a list of integers: offsets, a shape")                        \
  X(Conditional, "conditional", Structure, 3, Any, Exact, "c ? a : b on scalars, only one side evaluated")  \
  X(Dim, "dim", Structure, 2, Any, Exact, "extent of tensor or tile operand 0 along axis operand 1, int64") \
  X(Rank, "rank", Structure, 1, Any, Exact, "rank of tensor or tile operand 0, int64")                      \
  X(Slice, "slice", Structure, 3, Any, Exact, "view of tensor operand 0: offsets list, shape list")         \
  X(Index, "index", Structure, 2, Any, Exact, "view x[i] of tensor operand 0 that drops the leading dim")   \
  X(Full, "full", Create, 2, Any, Exact, "tile of shape operand 0 (list), every element operand 1")         \
  X(Load, "load", Move, 3, Any, Exact,                                                                      \
    "tile = tensor operand 0 [offsets list : + shape list]; both lists empty: all of it; captured only: "   \
    "a list of valid extents behind them")                                                                  \
  X(Store, "store", Move, 3, Any, Exact,                                                                    \
    "tensor operand 2 [offsets operand 1 : + shape] = tile operand 0; empty list: offsets 0")               \
  X(Neg, "neg", Elementwise, 1, Numeric, Exact, "-x")                                                       \
  X(Abs, "abs", Elementwise, 1, Numeric, Exact, "|x|")                                                      \
  X(Recip, "recip", Elementwise, 1, Floating, Exact, "1 / x")                                               \
  X(Sqrt, "sqrt", Elementwise, 1, Floating, Exact, "square root, rounded once")                             \
  X(Rsqrt, "rsqrt", Elementwise, 1, Floating, Exact, "1 / sqrt(x), each rounded once")                      \
  X(Square, "square", Elementwise, 1, Numeric, Exact, "x * x")                                              \
  X(Sign, "sign", Elementwise, 1, Numeric, Exact, "-1, +0 or 1; NaN for NaN")                               \
  X(Floor, "floor", Elementwise, 1, Floating, Exact, "largest integer <= x")                                \
  X(Ceil, "ceil", Elementwise, 1, Floating, Exact, "smallest integer >= x")                                 \
  X(Round, "round", Elementwise, 1, Floating, Exact, "nearest integer, ties away from zero")                \
  X(Rint, "rint", Elementwise, 1, Floating, Exact, "nearest integer, ties to even")                         \
  X(Trunc, "trunc", Elementwise, 1, Floating, Exact, "towards zero")                                        \
  X(Relu, "relu", Elementwise, 1, Numeric, Exact, "maximum(x, +0)")                                         \
  X(Exp, "exp", Elementwise, 1, Floating, Ulp4, "e^x")                                                      \
  X(Exp2, "exp2", Elementwise, 1, Floating, Ulp4, "2^x")                                                    \
  X(Expm1, "expm1", Elementwise, 1, Floating, Ulp4, "e^x - 1")                                              \
  X(Log, "log", Elementwise, 1, Floating, Ulp4, "natural logarithm")                                        \
  X(Log2, "log2", Elementwise, 1, Floating, Ulp4, "logarithm to base 2")                                    \
  X(Log1p, "log1p", Elementwise, 1, Floating, Ulp4, "log(1 + x)")                                           \
  X(Sin, "sin", Elementwise, 1, Floating, Ulp4, "sine")                                                     \
  X(Cos, "cos", Elementwise, 1, Floating, Ulp4, "cosine")                                                   \
  X(Tanh, "tanh", Elementwise, 1, Floating, Ulp4, "hyperbolic tangent")                                     \
  X(Erf, "erf", Elementwise, 1, Floating, Ulp4, "error function")                                           \
  X(Sigmoid, "sigmoid", Elementwise, 1, Floating, Ulp4, "1 / (1 + e^-x)")                                   \
  X(Add, "add", Elementwise, 2, Numeric, Exact, "a + b; integers wrap")                                     \
  X(Sub, "sub", Elementwise, 2, Numeric, Exact, "a - b; integers wrap")                                     \
  X(Mul, "mul", Elementwise, 2, Numeric, Exact, "a * b; integers wrap")                                     \
  X(Div, "div", Elementwise, 2, Numeric, Exact, "a / b; integers truncate, x / 0 = 0, INT_MIN / -1 wraps")  \
  X(Fmod, "fmod", Elementwise, 2, Numeric, Exact, "remainder with the sign of a; integer x % 0 = 0")        \
  X(Rem, "rem", Elementwise, 2, Numeric, Exact,                                                             \
    "remainder with the sign of b, also a zero's; integer x rem 0 = 0")                                     \
  X(Pow, "pow", Elementwise, 2, Floating, Ulp4, "a^b")                                                      \
  X(Maximum, "maximum", Elementwise, 2, Numeric, Exact, "larger; NaN if either is; max(-0, +0) = +0")       \
  X(Minimum, "minimum", Elementwise, 2, Numeric, Exact, "smaller; NaN if either is; min(-0, +0) = -0")      \
  X(Fma, "fma", Elementwise, 3, Floating, Exact, "a * b + c, rounded once")                                 \
  X(Clamp, "clamp", Elementwise, 3, Numeric, Exact, "minimum(maximum(x, lo), hi)")                          \
  X(Where, "where", Elementwise, 3, Any, Exact, "c ? a : b; c is bool")                                     \
  X(Eq, "eq", Compare, 2, Any, Exact, "a == b")                                                             \
  X(Ne, "ne", Compare, 2, Any, Exact, "a != b")                                                             \
  X(Lt, "lt", Compare, 2, Numeric, Exact, "a < b")                                                          \
  X(Le, "le", Compare, 2, Numeric, Exact, "a <= b")                                                         \
  X(Gt, "gt", Compare, 2, Numeric, Exact, "a > b")                                                          \
  X(Ge, "ge", Compare, 2, Numeric, Exact, "a >= b")                                                         \
  X(IsNan, "isnan", Compare, 1, Floating, Exact, "x is NaN")                                                \
  X(IsInf, "isinf", Compare, 1, Floating, Exact, "x is +-infinity")                                         \
  X(LogicalAnd, "logical_and", Logic, 2, Boolean, Exact, "a && b, both evaluated")                          \
  X(LogicalOr, "logical_or", Logic, 2, Boolean, Exact, "a || b, both evaluated")                            \
  X(LogicalNot, "logical_not", Logic, 1, Boolean, Exact, "!a")                                              \
  X(BitAnd, "bit_and", Bits, 2, IntegerOrBoolean, Exact, "a & b")                                           \
  X(BitOr, "bit_or", Bits, 2, IntegerOrBoolean, Exact, "a | b")                                             \
  X(BitXor, "bit_xor", Bits, 2, IntegerOrBoolean, Exact, "a ^ b")                                           \
  X(BitNot, "bit_not", Bits, 1, IntegerOrBoolean, Exact, "~a")                                              \
  X(Shl, "shl", Bits, 2, Integer, Exact, "a << b; 0 where b < 0 or b >= width")                             \
  X(Shr, "shr", Bits, 2, Integer, Exact, "a >> b; sign (0 if unsigned) where b < 0 or b >= width")          \
  X(Cast, "cast", Cast, 1, Any, Exact,                                                                      \
    "to Expr::type.dtype; float->int rounds by attributes.mode, saturates, NaN->0; int->int wraps; "        \
    "to float: nearest, ties to even, in any mode; to bool: x != 0")                                        \
  X(RowSum, "row_sum", RowReduce, 1, Numeric, Sum, "sum over the last axis, kept as 1; 0 when empty")       \
  X(RowProd, "row_prod", RowReduce, 1, Numeric, Sum, "product over the last axis; 1 when empty")            \
  X(RowMax, "row_max", RowReduce, 1, Numeric, Exact,                                                        \
    "maximum over the last axis; empty: -inf or the lowest")                                                \
  X(RowMin, "row_min", RowReduce, 1, Numeric, Exact,                                                        \
    "minimum over the last axis; empty: inf or the highest")                                                \
  X(RowMean, "row_mean", RowReduce, 1, Floating, Sum, "row_sum / extent; NaN when empty")                   \
  X(ColSum, "col_sum", ColReduce, 1, Numeric, Sum, "sum over the second last axis, kept as 1")              \
  X(ColProd, "col_prod", ColReduce, 1, Numeric, Sum, "product over the second last axis")                   \
  X(ColMax, "col_max", ColReduce, 1, Numeric, Exact, "maximum over the second last axis")                   \
  X(ColMin, "col_min", ColReduce, 1, Numeric, Exact, "minimum over the second last axis")                   \
  X(ColMean, "col_mean", ColReduce, 1, Floating, Sum, "col_sum / extent")                                   \
  X(Check, "check", Debug, 2, Integer, Exact, "a fault unless 0 <= operand 0 < operand 1, both int64")      \
  X(BlockIdx, "block_idx", Identity, 0, Any, Exact, "number of this block of pl::spmd; 0 in a direct call") \
  X(BlockNum, "block_num", Identity, 0, Any, Exact, "how many blocks there are; 1 in a direct call")        \
  X(SubblockIdx, "subblock_idx", Identity, 0, Any, Exact,                                                   \
    "number of this vector core beside its cube core; 0 on the simulator")                                  \
  X(BarrierAll, "barrier_all", Synchronise, 0, Any, Exact,                                                  \
    "waits for every pipe of the core; nothing on the simulator")                                           \
  X(PipeBarrier, "pipe_barrier", Synchronise, 0, Any, Exact,                                                \
    "waits for the vector pipe of the core; nothing on the simulator")                                      \
  X(Print, "print", Debug, 1, Any, Exact, "prints tile or scalar operand 0 on the host")                    \
  X(Transpose, "transpose", Layout, 1, Any, Exact, "x with attributes.axis and attributes.axis2 exchanged") \
  X(Matmul, "matmul", Linear, 2, Product, Sum,                                                              \
    "sum over k of a(i, k) * b(k, j), in float, double or int32; attributes.trans_a, trans_b")              \
  X(MatmulAcc, "matmul_acc", Linear, 3, Product, Sum, "acc + matmul(a, b); operands acc, a, b")             \
  X(MatmulBias, "matmul_bias", Linear, 3, Product, Sum, "matmul(a, b) + bias, the same for every row")      \
  X(BatchMatmul, "batch_matmul", Linear, 2, Product, Sum, "matmul of the last two axes, others broadcast")  \
  X(Gemv, "gemv", Linear, 2, Product, Sum, "matmul of a matrix and a vector, in either order")              \
  X(Dot, "dot", Linear, 2, Product, Sum, "sum over k of a(k) * b(k), as a tile of one element")             \
  X(Arange, "arange", Generate, 3, Numeric, Exact,                                                          \
    "shape operand 0 (list); start + j * step along the last axis, each step rounded once")                 \
  X(Tri, "tri", Generate, 2, Any, Exact,                                                                    \
    "shape operand 0 (list of 2); 1 where j <= i + operand 1 (attributes.upper: j >= i + operand 1), else " \
    "0")                                                                                                    \
  X(Random, "random", Generate, 3, Numeric, Exact,                                                          \
    "shape operand 0 (list); Philox4x32-10 of seed operand 1 and counter operand 2; floats in [0, 1)")      \
  X(TileSlice, "tile_slice", Layout, 3, Any, Exact, "region of tile operand 0: offsets list, shape list")   \
  X(Assemble, "assemble", Layout, 3, Any, Exact,                                                            \
    "tile operand 0 with the region at offsets operand 2 (list) replaced by tile operand 1")                \
  X(Concat, "concat", Layout, -1, Any, Exact, "the tiles one behind the other along attributes.axis")       \
  X(Reshape, "reshape", Layout, 2, Any, Exact, "the elements in the shape operand 1 (list), row-major")     \
  X(Reinterpret, "reinterpret", Layout, 1, Numeric, Exact, "the bits as a dtype of the same size")          \
  X(Pad, "pad", Layout, 4, Any, Exact,                                                                      \
    "tile operand 0 between operand 1 (list) and operand 2 (list) elements of operand 3 on each axis")      \
  X(Expand, "expand", Layout, 2, Any, Exact, "tile operand 0 broadcast to the shape operand 1 (list)")      \
  X(Sum, "sum", Reduce, 1, Numeric, Sum, "sum over attributes.axis, kept as 1; 0 when empty")               \
  X(Prod, "prod", Reduce, 1, Numeric, Sum, "product over attributes.axis; 1 when empty")                    \
  X(Max, "max", Reduce, 1, Numeric, Exact, "maximum over attributes.axis; empty: -inf or the lowest")       \
  X(Min, "min", Reduce, 1, Numeric, Exact, "minimum over attributes.axis; empty: inf or the highest")       \
  X(Mean, "mean", Reduce, 1, Floating, Sum, "sum / extent over attributes.axis; NaN when empty")            \
  X(MoveTo, "move", Elementwise, 1, Any, Exact, "x; attributes.memory says where it should lie, a hint")    \
  X(Read, "read", Move, 2, Any, Exact,                                                                      \
    "scalar element of tile operand 0 at offsets operand 1; stands only as the root of an Assign")          \
  X(RowArgmax, "row_argmax", Index, 1, Numeric, Exact,                                                      \
    "int32 position of the maximum along the last axis: the first of equals, the first NaN if any; "        \
    "empty: -1")                                                                                            \
  X(RowArgmin, "row_argmin", Index, 1, Numeric, Exact,                                                      \
    "int32 position of the minimum along the last axis, as row_argmax")                                     \
  X(ColArgmax, "col_argmax", Index, 1, Numeric, Exact, "row_argmax over the second last axis")              \
  X(ColArgmin, "col_argmin", Index, 1, Numeric, Exact, "row_argmin over the second last axis")              \
  X(Cumsum, "cumsum", Index, 1, Numeric, Exact,                                                             \
    "sums of x up to and with each element along attributes.axis, in index order; floats are summed in "    \
    "double and each sum is rounded once; integers wrap")                                                   \
  X(Gather, "gather", Index, 2, Any, Exact,                                                                 \
    "r[.., j, ..] = x[.., idx[.., j, ..], ..] along attributes.axis; other extents of x and idx are equal") \
  X(GatherRow, "gather_row", Index, 2, Any, Exact, "r[j.., ...] = x[idx[j..], ...] of tile operand 0")      \
  X(LoadRow, "load_row", Index, 4, Any, Exact,                                                              \
    "gather_row of tensor operand 0 [offsets list : + shape list], indices operand 3; both lists empty: "   \
    "all of it; attributes.axis leading axes are dropped")                                                  \
  X(PagedGather, "paged_gather", Index, 7, Any, Exact,                                                      \
    "rows of sequences in pages: r[s.., i, ...] = pages[table[s.., t / P], t % P, ...] with "               \
    "t = start + i, zero where t >= lengths[s..]; operands: tensor, offsets, shape as load_row, table, "    \
    "lengths, count of rows, start")                                                                        \
  X(Scatter, "scatter", Index, 3, Any, Exact,                                                               \
    "x with r[.., idx[.., j, ..], ..] = src[.., j, ..] along attributes.axis; of equal indices the last "   \
    "in row-major order wins")                                                                              \
  X(ScatterAdd, "scatter_add", Index, 3, Numeric, Exact,                                                    \
    "x with src added instead, in row-major order, each sum rounded; integers wrap")                        \
  X(SortIndices, "sort_indices", Index, 1, Numeric, Exact,                                                  \
    "int32 positions along attributes.axis in ascending (attributes.flag: descending) order of x; "         \
    "stable, NaN last")                                                                                     \
  X(TopkIndices, "topk_indices", Index, 2, Numeric, Exact,                                                  \
    "int32 positions of the operand 1 smallest (attributes.flag: largest) along attributes.axis, best "     \
    "first; of equals the first index, NaN last")                                                           \
  X(Write, "write", Index, 3, Any, Exact,                                                                   \
    "tile operand 0 with the element at offsets operand 1 (list) = scalar operand 2")                       \
  X(Valid, "valid", Structure, 2, Any, Exact,                                                               \
    "captured only: valid extent of tile operand 0 along axis operand 1, int64")                            \
  X(SetValid, "set_valid", Move, 2, Any, Exact,                                                             \
    "captured only: tile operand 0, of which only the cells inside operand 1 (list) stay valid")            \
  X(Fillpad, "fillpad", Move, 1, Any, Exact,                                                                \
    "captured only: tile operand 0 with the cells outside its valid shape = attributes.fill, all valid")    \
  X(CommRank, "comm_rank", Remote, 1, Any, Exact,                                                           \
    "int32 number of this rank among those that share window operand 0")                                    \
  X(CommSize, "comm_size", Remote, 1, Any, Exact, "int32 count of the ranks that share window operand 0")   \
  X(RemoteLoad, "remote_load", Remote, 4, Any, Exact,                                                       \
    "tile = window operand 0 [offsets operand 2 : + shape operand 3] of rank operand 1; both lists empty: " \
    "all of it")                                                                                            \
  X(RemoteStore, "remote_store", Remote, 4, Any, Exact,                                                     \
    "window operand 1 [offsets operand 3 : + shape] of rank operand 2 = tile operand 0, or += it; empty "   \
    "list: offsets 0")                                                                                      \
  X(RemotePut, "put", Remote, 6, Any, Exact,                                                                \
    "window operand 0 [operand 3 : + shape operand 5] of rank operand 1 = tensor operand 2 [operand 4 : + " \
    "shape], or += it; the lists empty: all of operand 2, to offsets 0")                                    \
  X(RemoteGet, "get", Remote, 6, Any, Exact,                                                                \
    "tensor operand 0 [operand 4 : + shape operand 5] = window operand 1 [operand 3 : + shape] of rank "    \
    "operand 2; the lists empty: all of operand 0, from offsets 0")                                         \
  X(Notify, "notify", Remote, 4, Any, Exact,                                                                \
    "the cell of window operand 0 at offsets operand 2 of rank operand 1 = operand 3, or += it; what this " \
    "task wrote to that rank before is visible there first")                                                \
  X(Wait, "wait", Remote, 3, Any, Exact,                                                                    \
    "until this rank's own cell of window operand 0 at offsets operand 1 is >= operand 2, or == it")        \
  X(DeferWait, "defer_wait", Remote, 3, Any, Exact,                                                         \
    "what depends on this task starts when this rank's own cell of window operand 0 at offsets operand 1 "  \
    "is >= operand 2, too; the kernel goes on")                                                             \
  X(Fence, "fence", Remote, 0, Any, Exact, "orders the remote writes of this task before and behind it")    \
  X(Barrier, "barrier", Remote, 3, Any, Exact,                                                              \
    "until all ranks of window operand 0 are here; operands 1 and 2: the region, as of all collectives, "   \
    "which may have the cells of their signal as last operands: window, offsets, shape")                    \
  X(Allreduce, "allreduce", Remote, 3, Numeric, Exact,                                                      \
    "every rank's region of window operand 0 = the reduction of all ranks' regions, in the order of ranks") \
  X(Broadcast, "broadcast", Remote, 4, Any, Exact,                                                          \
    "every rank's region of window operand 0 = that of rank operand 3")                                     \
  X(Allgather, "allgather", Remote, 3, Any, Exact,                                                          \
    "row r of every rank's region of window operand 0 = row r of rank r")                                   \
  X(ReduceScatter, "reduce_scatter", Remote, 3, Numeric, Exact,                                             \
    "row r of rank r's region of window operand 0 = the reduction of all ranks' row r")                     \
  X(AllToAll, "all_to_all", Remote, 3, Any, Exact,                                                          \
    "row i of rank r's region of window operand 0 = what was row r of rank i")                              \
  X(AllToAllV, "all_to_all_v", Remote, 6, Any, Exact,                                                       \
    "all_to_all of the first items of each row, as many as the cells of window operand 3 [offsets operand " \
    "4 : + shape operand 5] say, which are exchanged, too")                                                 \
  X(CommReduce, "comm_reduce", Remote, 4, Numeric, Exact,                                                   \
    "the region of window operand 0 of rank operand 3 = the reduction of all ranks' regions")               \
  X(CommScatter, "comm_scatter", Remote, 4, Any, Exact,                                                     \
    "row r of rank r's region of window operand 0 = row r of rank operand 3")                               \
  X(CommGather, "comm_gather", Remote, 4, Any, Exact,                                                       \
    "row r of the region of window operand 0 of rank operand 3 = row r of rank r")                          \
  X(SendRecv, "send_recv", Remote, 5, Any, Exact,                                                           \
    "the region of window operand 0 of rank operand 4 = that of rank operand 3")

enum class Op : std::uint8_t {
#define X(enumerator, name, group, arity, dtypes, exactness, formula) enumerator,
  TRILITH_OPERATIONS(X)
#undef X
};

/// One row of the table.
struct Operation {
  Op op;
  std::string_view name;
  Group group;
  int arity;  ///< -1: any number of operands
  DTypes dtypes;
  Exactness exactness;
  std::string_view formula;
};

/// All rows, in the order of `Op`.
[[nodiscard]] std::span<const Operation> operations();
/// The row of one operation.
[[nodiscard]] const Operation& operation(Op op);
/// The row of a name ("add"), or nothing.
[[nodiscard]] std::optional<Op> operation_from_name(std::string_view name);
/// True for the operations of tile_call.hpp.
[[nodiscard]] constexpr bool is_tile_call(Group group) { return group >= Group::Generate; }
[[nodiscard]] inline bool is_tile_call(Op op) { return is_tile_call(operation(op).group); }
/// True when operands of this dtype fit the rule.
[[nodiscard]] bool accepts(DTypes rule, DType dtype);

}  // namespace trilith::codegen
