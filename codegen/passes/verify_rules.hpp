// codegen/passes/verify_rules.hpp -- the two sets of rules `verify` checks.
#pragma once

#include "codegen/ir.hpp"

#include <string>

namespace trilith::codegen::passes {

/// Rules of both stages: every index names something, operands are as many and of the kinds the operation
/// takes, jumps have a construct to jump to, types are those a variable of its kind may have.
void verify_structure(const Kernel& kernel);
/// Rules of the specialised form (codegen/README.md). Run behind `verify_structure`.
void verify_specialised_form(const Kernel& kernel);

/// Throws pl::InternalError: "verify: <rule>, in kernel <name>", at the place.
[[noreturn]] void broken(const Kernel& kernel, const std::string& rule, const SourceLocation& location);

}  // namespace trilith::codegen::passes
