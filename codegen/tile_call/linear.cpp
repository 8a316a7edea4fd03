// The typing rule of the operations of linear algebra.
#include "codegen/tile_call/linear.hpp"

#include "codegen/message.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/tile_call.hpp"

#include <utility>

namespace trilith::codegen::rules {
namespace {

bool is_one(const Expr& extent) { return extent.is_constant() && extent.value.as_int64() == 1; }
bool differ(const Expr& a, const Expr& b) {
  return a.is_constant() && b.is_constant() && a.value.as_int64() != b.value.as_int64();
}

/// "a [8, 4]", "b [4, 5] transposed".
std::string operand_text(const CallRule& rule, const ProductAxes& axes, bool first) {
  const bool transposed = first ? rule.attributes().trans_a : rule.attributes().trans_b;
  return (first ? "a " : "b ") + rule.shape_text(first ? axes.a : axes.b) + (transposed ? " transposed" : "");
}

void check_ranks(const CallRule& rule, const ProductAxes& axes) {
  const Op op = rule.call().op;
  const std::size_t a = rule.rank(axes.a), b = rule.rank(axes.b);
  const std::string given = operand_text(rule, axes, true) + " and " + operand_text(rule, axes, false);
  const auto vector_or_matrix = [](std::size_t rank) { return rank == 1 || rank == 2; };
  if (op == Op::Dot && (a != 1 || b != 1))
    rule.shape_error("the operands must be vectors (rank 1), not " + given +
                     "; multiply matrices with pl::matmul");
  if (op == Op::Gemv && (!vector_or_matrix(a) || !vector_or_matrix(b) || a + b == 2))
    rule.shape_error("the operands must be a matrix and a vector, not " + given +
                     (a + b == 2 ? "; two vectors are multiplied with pl::dot" : ""));
  if (op == Op::BatchMatmul && (a < 2 || b < 2))
    rule.shape_error("the operands must have rank 2 or more, not " + given +
                     "; the last two axes are the matrices");
  if ((op == Op::Matmul || op == Op::MatmulAcc || op == Op::MatmulBias) && (a != 2 || b != 2))
    rule.shape_error("the operands must be matrices (rank 2), not " + given +
                     (a > 2 || b > 2 ? "; leading batch axes are taken by pl::batch_matmul"
                                     : "; a matrix and a vector are multiplied with pl::gemv"));
}

Expr axis_extent(const CallRule& rule, std::size_t operand, int axis) {
  return axis < 0 ? CallRule::number(1) : rule.extent(operand, static_cast<std::size_t>(axis));
}

/// Leading axes as in NumPy; a run-time extent meets its equal or a constant 1.
std::vector<Expr> batch_shape(CallRule& rule, const ProductAxes& axes) {
  const std::size_t rank_a = rule.rank(axes.a) - 2, rank_b = rule.rank(axes.b) - 2;
  const std::size_t rank = std::max(rank_a, rank_b);
  std::vector<Expr> shape;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto extent = [&](std::size_t operand, std::size_t own) {
      return axis + own < rank ? CallRule::number(1) : rule.extent(operand, axis + own - rank);
    };
    Expr x = extent(axes.a, rank_a), y = extent(axes.b, rank_b);
    if (is_one(y)) {
      shape.push_back(std::move(x));
    } else if (is_one(x)) {
      shape.push_back(std::move(y));
    } else {
      if (differ(x, y))
        rule.shape_error("the batch axes of " + operand_text(rule, axes, true) + " and " +
                         operand_text(rule, axes, false) +
                         " do not broadcast; leading extents must be equal or 1");
      rule.equal(x, y, "batch extents along axis " + std::to_string(axis));
      shape.push_back(x.is_constant() ? std::move(x) : std::move(y));
    }
  }
  return shape;
}

void check_start(CallRule& rule, const ProductAxes& axes, const std::vector<Expr>& shape, DType dtype) {
  const auto operand = static_cast<std::size_t>(axes.start);
  const bool bias = rule.call().op == Op::MatmulBias;
  const std::string name = bias ? "the bias" : "the accumulator";
  const DType given = rule.tile(operand).dtype;
  if (given != dtype)
    rule.dtype_error(name + " is " + std::string(name_of(given)) + ", and products of " +
                     std::string(name_of(rule.tile(axes.a).dtype)) + " are summed in " +
                     std::string(name_of(dtype)) + "; convert it with pl::cast<" +
                     std::string(cpp_name_of(dtype)) + ">(...)");
  const std::size_t rank = rule.rank(operand);
  std::vector<Expr> own = rule.extents(operand);
  if (bias) {
    if ((rank != 1 && rank != 2) || (rank == 2 && !is_one(own[0])) || differ(own.back(), shape[1]))
      rule.shape_error("the bias is " + rule.shape_text(operand) + " and must be [N] or [1, N], where N = " +
                       rule.extent_text(shape[1]) + " is the product's number of columns");
    return rule.equal(own.back(), shape[1], "extents of the bias and of the product's rows");
  }
  if (rank != 2 || differ(own[0], shape[0]) || differ(own[1], shape[1]))
    rule.shape_error("the accumulator is " + rule.shape_text(operand) +
                     " and must have the product's shape [" + rule.extent_text(shape[0]) + ", " +
                     rule.extent_text(shape[1]) + "]");
  for (std::size_t axis = 0; axis < 2; ++axis)
    rule.equal(own[axis], shape[axis],
               "extents of the accumulator and of the product along axis " + std::to_string(axis));
}

}  // namespace

TileCallType linear(CallRule& rule) {
  const Op op = rule.call().op;
  const std::size_t first = op == Op::MatmulAcc ? 1 : 0;
  const ProductAxes axes = product_axes(op, rule.attributes(), rule.rank(first), rule.rank(first + 1));
  rule.accept(axes.a);
  rule.accept(axes.b);
  rule.same_dtype(axes.a, axes.b);
  check_ranks(rule, axes);
  const Expr m = axis_extent(rule, axes.a, axes.m), n = axis_extent(rule, axes.b, axes.n);
  const Expr a_k = axis_extent(rule, axes.a, axes.a_k), b_k = axis_extent(rule, axes.b, axes.b_k);
  const std::string inner =
      "the inner extents of " + operand_text(rule, axes, true) + " and " + operand_text(rule, axes, false);
  if (differ(a_k, b_k)) {
    std::string what = message::must_be_equal(inner, rule.extent_text(a_k), rule.extent_text(b_k));
    const bool matrices = axes.m >= 0 && axes.n >= 0 && op != Op::Gemv;
    if (matrices && !differ(n, a_k))
      what += std::string("; b fits with {.trans_b = ") + (rule.attributes().trans_b ? "false}" : "true}");
    else if (matrices && !differ(m, b_k))
      what += std::string("; a fits with {.trans_a = ") + (rule.attributes().trans_a ? "false}" : "true}");
    else
      what += "; give a as many columns as b has rows";
    rule.shape_error(what);
  }
  rule.equal(a_k, b_k, "the inner extents");
  if (op == Op::Gemv && axes.m >= 0 && axes.n >= 0 && !is_one(m) && !is_one(n))
    rule.shape_error("neither " + operand_text(rule, axes, true) + " nor " + operand_text(rule, axes, false) +
                     " is a vector; multiply matrices with pl::matmul");
  const DType dtype = product_dtype(rule.tile(axes.a).dtype);
  std::vector<Expr> shape;
  if (op == Op::BatchMatmul) shape = batch_shape(rule, axes);
  if (axes.m >= 0) shape.push_back(m);
  if (axes.n >= 0) shape.push_back(n);
  if (shape.empty()) shape.push_back(CallRule::number(1));
  if (axes.start >= 0) check_start(rule, axes, shape, dtype);
  return rule.result(dtype, std::move(shape));
}

}  // namespace trilith::codegen::rules
