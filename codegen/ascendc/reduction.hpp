// codegen/ascendc/reduction.hpp -- what each reduction folds with, in which dtype, and how its result is finished.
#pragma once

#include "codegen/ascendc/vector.hpp"

namespace trilith::codegen::ascendc {

struct Reduction {
  Vector::Fold fold = Vector::Fold::Sum;
  DType dtype = DType::Float32;        ///< of operand and result
  DType accumulator = DType::Float32;  ///< elements while it is folded
  std::string neutral;                 ///< of that dtype
  bool mean = false;
  bool is_unsigned = false;  ///< 32 bits: compared with the sign bit turned
  Extent extent = 0;         ///< elements that are reduced
};

/// Sums and products of floats are kept in float. Short integers are, too, where every sum is exact in it.
[[nodiscard]] Reduction reduction_of(const Expr& expression, const Extent& extent);
/// The operand as elements of the accumulator.
Tile prepare(Vector& v, const Reduction& reduction, const Tile& tile);
/// total = fold(total, part), element by element, or with every row of `rows`.
void combine(Vector& v, const Reduction& reduction, const Tile& total, const Tile& part);
void combine_rows(Vector& v, const Reduction& reduction, const Tile& total, const Tile& rows);
Tile finish(Vector& v, const Reduction& reduction, const Tile& total);
/// The scalar that a reduction of nothing gives.
[[nodiscard]] std::string empty_result(const Reduction& reduction, DType dtype);

}  // namespace trilith::codegen::ascendc
