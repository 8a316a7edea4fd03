// jit/capture/at_body.hpp -- private: what the body of pl::at may name beside tensors and scalars.
#pragma once

#include "jit/capture/walker.hpp"

namespace trilith::capture {

/// pl::TaskId, or what pl::submit and pl::spmd are, which derive from it.
[[nodiscard]] bool is_task_id(const clang::CXXRecordDecl* record);

}  // namespace trilith::capture
