// codegen/passes/literal.hpp -- the dtype rules between a tile and the scalars written beside it.
#pragma once

#include "codegen/ir.hpp"

#include <string_view>
#include <vector>

namespace trilith::codegen::passes {

/// The constant as `dtype`: floats round, integers must fit. Throws DtypeError naming pl::cast for an integer
/// out of range, a floating constant beside integers, and bool beside numbers.
[[nodiscard]] Expr literal_as(const Kernel& kernel, Expr literal, DType dtype, std::string_view operation);

/// Gives the operands of one operation one dtype: that of the first tile, else of the first scalar that is no
/// literal, else `fallback`. Literals follow it; anything else of another dtype is a DtypeError that names
/// pl::cast. `where`'s condition (operand 0) is left alone.
void unify_dtypes(const Kernel& kernel, Op op, std::vector<Expr>& operands, DType fallback,
                  const SourceLocation& location);

}  // namespace trilith::codegen::passes
