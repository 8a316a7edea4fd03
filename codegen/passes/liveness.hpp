// codegen/passes/liveness.hpp -- which variables may still be read behind each statement.
#pragma once

#include "codegen/ir.hpp"

#include <unordered_map>
#include <vector>

namespace trilith::codegen::passes {

/// One flag per Kernel::variables.
using VariableSet = std::vector<bool>;

/// Sets are keyed by the statement's address: valid while the kernel is neither moved nor changed.
struct Liveness {
  std::unordered_map<const Statement*, VariableSet> after;    ///< live right behind the statement
  std::unordered_map<const Statement*, VariableSet> at_head;  ///< For, While: live when the loop is entered
                                                              ///< and at every further round
  std::unordered_map<const Statement*, VariableSet> at_step;  ///< While: live where `step_body` starts
};

/// Live variables of a kernel of either stage; a type's run-time extents count as read where a value of that
/// type is. Kernel parameters are not live at the end: what a kernel gives is what it stored.
[[nodiscard]] Liveness liveness_of(const Kernel& kernel);

/// Adds every variable that these statements assign (loop variables too).
void add_assigned(const std::vector<Statement>& statements, VariableSet& set);
/// Those of `wanted` that these statements assign, or that are in `assigned` already.
[[nodiscard]] VariableSet assigned_and(const std::vector<Statement>& statements, const VariableSet& wanted,
                                       VariableSet assigned = {});
/// Adds every variable that the expression reads.
void add_used(const Expr& expression, VariableSet& set);

}  // namespace trilith::codegen::passes
