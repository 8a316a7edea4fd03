// codegen/passes/fold.hpp -- folds one scalar operation, with the arithmetic of the reference operations.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/value.hpp"

namespace trilith::codegen::passes {

/// The simplest expression with the value of `expression`, whose operands are folded already: constants are
/// computed (integers wrap, nothing traps), integer identities applied (x + 0, x * 1, (x + 2) + 3).
/// Operations that are exact only within some ulp stay, so that folding never changes a bit of a result.
[[nodiscard]] Expr fold(Expr expression);

[[nodiscard]] Value value_of(const Constant& constant);
[[nodiscard]] Constant constant_of(const Value& scalar);

/// An int64 constant.
[[nodiscard]] Expr int64_constant(std::int64_t value, SourceLocation location = {});
/// Any constant.
[[nodiscard]] Expr constant_expression(Constant value, SourceLocation location = {});
/// A list of int64 scalars: offsets or a shape.
[[nodiscard]] Expr list_expression(std::vector<Expr> items, SourceLocation location);
/// `op` on scalar operands, folded.
[[nodiscard]] Expr scalar_operation(Op op, DType dtype, std::vector<Expr> operands, SourceLocation location);
/// The scalar as `dtype`, as C++ converts it (a Cast, mode Trunc), folded.
[[nodiscard]] Expr converted(Expr scalar, DType dtype);

/// Equal but for where it was written.
[[nodiscard]] bool same_value(const Expr& a, const Expr& b);

}  // namespace trilith::codegen::passes
