// codegen/reference/valid.hpp -- partly valid tiles, for the reference operations only: an operation on them is the same
// operation on boxes that fit each other (codegen/valid.hpp).
#pragma once

#include "codegen/reference.hpp"

#include <functional>

namespace trilith::codegen::reference {

[[nodiscard]] bool partly_valid(std::span<const CallOperand> operands);
[[nodiscard]] bool partly_valid(std::span<const Value> operands);

struct Boxes {
  std::vector<CallOperand> operands;
  Shape whole;  ///< the shape that the result is made with
};

/// `whole_shape` is the result's shape by the typing rule, given operands of the shapes they were made with.
[[nodiscard]] Boxes boxes_of(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
                             const pl::Location& location,
                             const std::function<Shape(std::span<const CallOperand>)>& whole_shape);

/// The result of an operation on boxes as the tile it is part of.
[[nodiscard]] Value made_with(Shape whole, Value box);

/// An operand as the typing rule sees it.
[[nodiscard]] Expr as_expression(const CallOperand& operand);

}  // namespace trilith::codegen::reference
