// codegen/operation_words.hpp -- the half of the operation table that is for people: how each row is written in C++, its
// shape rule, and what it means where the row's formula counts the operands of the IR.
//
// The operation reference (runtime/operations.md) is printed from these and the table. A row without words is a
// failing test.
#pragma once

#include "codegen/operation.hpp"

#include <span>
#include <string_view>

namespace trilith::codegen {

/// How a row reads.
struct OperationWords {
  Op op;
  std::string_view call;     ///< "add(a, b)", in namespace pl; empty: no C++ function
  std::string_view written;  ///< by an operator or a member: "a + b"; empty: by name alone
  std::string_view shapes;   ///< empty: the rule of the group
  std::string_view meaning;  ///< empty: the row's formula
};

/// A function of namespace pl that has no row of its own: it is written in the operations of the table.
struct ComposedFunction {
  std::string_view call;
  std::string_view written_in;  ///< the operations it is made of
  std::string_view dtypes;
  std::string_view shapes;
};

/// The words of a row; nothing where the row is plumbing that a user never writes.
[[nodiscard]] const OperationWords* words(Op op);
/// The shape rule of a row: its own, or its group's.
[[nodiscard]] std::string_view shape_rule(Op op);
/// What a row means, in the names of its words.
[[nodiscard]] std::string_view meaning(Op op);
/// "floats", "integers and floats", ...
[[nodiscard]] std::string_view text_of(DTypes dtypes);
[[nodiscard]] std::span<const ComposedFunction> composed_functions();

}  // namespace trilith::codegen
