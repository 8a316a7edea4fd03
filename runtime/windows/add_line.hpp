// runtime/windows/add_line.hpp -- additions to memory that others add to at the same time.
#pragma once

#include "codegen/dtype.hpp"

#include <cstdint>

namespace pl::detail {

/// Elements of `dtype`; steps in elements. Each is added in one indivisible step, also beside additions of kernels.
/// Throws DtypeError for bools.
void add_line(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t count,
              trilith::codegen::DType dtype);

}  // namespace pl::detail
