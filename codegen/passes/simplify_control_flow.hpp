// codegen/passes/simplify_control_flow.hpp -- jumps that only fall through become structure.
#pragma once

#include "codegen/ir.hpp"

namespace trilith::codegen::passes {

/// In a specialised kernel: a Leave where its Block ends anyway is dropped (`if (c) { …; leave } rest`
/// becomes if/else), a Block nothing leaves is opened, a Continue at the end of its loop and statements
/// behind a jump are dropped, an If without statements goes.
void simplify_control_flow(Kernel& kernel);

}  // namespace trilith::codegen::passes
