// codegen/passes/literal.hpp -- the dtype rules between a tile and the scalars written beside it.
#pragma once

#include "codegen/ir.hpp"

#include <string_view>
#include <vector>

namespace trilith::codegen::passes {

/// The constant as `dtype`: floats round, integers must fit. Throws DtypeError naming pl::cast for an integer
/// out of range, a floating constant beside integers, and bool beside numbers.
[[nodiscard]] Expr literal_as(const Kernel& kernel, Expr literal, DType dtype, std::string_view operation);

/// Literals among the operands of one operation take the dtype of the first that is none, else C++'s common
/// type of them all. Any other mix of dtypes is refused by `result_type`. `where`'s condition is left alone.
void unify_literals(const Kernel& kernel, Op op, std::vector<Expr>& operands);

}  // namespace trilith::codegen::passes
