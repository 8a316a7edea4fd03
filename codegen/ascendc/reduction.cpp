#include "codegen/ascendc/reduction.hpp"

#include "codegen/ascendc/lowering.hpp"
#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {

using Fold = Vector::Fold;

namespace {

Fold fold_of(Op op) {
  switch (op) {
    case Op::RowProd:
    case Op::ColProd: return Fold::Prod;
    case Op::RowMax:
    case Op::ColMax: return Fold::Max;
    case Op::RowMin:
    case Op::ColMin: return Fold::Min;
    default: return Fold::Sum;
  }
}

/// Every intermediate value of the fold is a whole number below 2^24.
bool exact_in_float(Fold fold, DType dtype, std::int64_t extent) {
  if (is_floating(dtype) || size_of(dtype) > 2 || fold == Fold::Prod) return false;
  if (fold != Fold::Sum) return true;
  return extent <= (size_of(dtype) == 1 ? std::int64_t{1} << 16 : std::int64_t{1} << 8);
}

/// What a fold of nothing is, for the run may find that there is nothing: the least (largest) of the elements' own dtype.
std::string neutral_of(const Reduction& reduction) {
  const DType held = reduction.accumulator;
  if (reduction.fold == Fold::MaxUnsigned) return literal(Constant::of(std::int64_t{0}));
  if (reduction.fold == Fold::MinUnsigned) return literal(Constant::of(std::int64_t{-1}));
  if (reduction.fold != Fold::Max && reduction.fold != Fold::Min)
    return literal(Constant::of(held, reduction.fold == Fold::Prod ? 1 : 0));
  const DType own = reduction.is_unsigned || is_floating(reduction.dtype) ? held : reduction.dtype;
  const Constant end = reduction.fold == Fold::Max ? Constant::lowest(own) : Constant::highest(own);
  if (own == held) return literal(end);
  return literal(held == DType::Float32 ? Constant::rounded(held, static_cast<double>(end.as_int64()))
                                        : Constant::of(static_cast<std::int32_t>(end.as_int64())));
}

}  // namespace

Reduction reduction_of(const Expr& expression, const Extent& extent) {
  Reduction reduction;
  reduction.fold = fold_of(expression.op);
  reduction.dtype = expression.type.dtype;
  reduction.extent = extent;
  reduction.mean = expression.op == Op::RowMean || expression.op == Op::ColMean;
  const bool adds = reduction.fold == Fold::Sum || reduction.fold == Fold::Prod;
  if (is_floating(reduction.dtype))
    reduction.accumulator = adds ? DType::Float32 : held_as(reduction.dtype);
  else
    reduction.accumulator = exact_in_float(reduction.fold, reduction.dtype, extent.most)
                                ? DType::Float32
                                : held_as(reduction.dtype);
  reduction.is_unsigned = reduction.dtype == DType::UInt32 && !adds;
  if (reduction.dtype == DType::UInt64 && !adds)
    reduction.fold = reduction.fold == Fold::Max ? Fold::MaxUnsigned : Fold::MinUnsigned;
  reduction.neutral = neutral_of(reduction);
  if (reduction.accumulator == DType::Float16)
    reduction.neutral = "static_cast<half>(" + reduction.neutral + ")";
  return reduction;
}

Tile prepare(Vector& v, const Reduction& reduction, const Tile& tile) {
  if (reduction.is_unsigned) return v.with_scalar("Adds", tile, "static_cast<int32_t>(0x80000000u)");
  if (tile.dtype == reduction.accumulator) return tile;
  return v.cast(tile, reduction.accumulator, tile.dtype == DType::Int32 ? "RINT" : "NONE");
}

void combine(Vector& v, const Reduction& reduction, const Tile& total, const Tile& part) {
  v.accumulate(reduction.fold, total, part);
}

void combine_rows(Vector& v, const Reduction& reduction, const Tile& total, const Tile& rows) {
  v.accumulate_rows(reduction.fold, total, rows);
}

Tile finish(Vector& v, const Reduction& reduction, const Tile& total) {
  Tile result = total;
  if (reduction.mean) {
    const std::string count =
        reduction.extent.is_constant()
            ? literal(Constant::rounded(DType::Float32, static_cast<double>(reduction.extent.most)))
            : "static_cast<float>(" + reduction.extent.name + ")";
    result = v.binary("Div", result, v.duplicate(DType::Float32, count, total.rows, total.columns));
  }
  if (reduction.is_unsigned) return v.with_scalar("Adds", result, "static_cast<int32_t>(0x80000000u)");
  if (reduction.dtype == DType::BFloat16) return round_to(v, result, DType::BFloat16);
  const DType held = held_as(reduction.dtype);
  if (result.dtype != held) result = v.cast(result, held, "RINT");
  if (!is_floating(reduction.dtype) && (reduction.fold == Fold::Sum || reduction.fold == Fold::Prod))
    result = wrap_to(v, result, reduction.dtype);
  return result;
}

std::string empty_result(const Reduction& reduction, DType dtype) {
  Constant constant = Constant::of(dtype, reduction.fold == Fold::Prod ? 1 : 0);
  if (reduction.fold == Fold::Max) constant = Constant::lowest(dtype);
  if (reduction.fold == Fold::Min) constant = Constant::highest(dtype);
  if (reduction.mean)
    return dtype == DType::Float16 ? "static_cast<half>(__builtin_nanf(\"\"))" : "__builtin_nanf(\"\")";
  if (is_integer(dtype) && size_of(dtype) == 8) return reduction.neutral;
  if (is_integer(dtype)) return literal(Constant::of(static_cast<std::int32_t>(constant.as_int64())));
  const std::string text = literal(constant);
  return dtype == DType::Float16 ? "static_cast<half>(" + text + ")" : text;
}

}  // namespace trilith::codegen::ascendc
