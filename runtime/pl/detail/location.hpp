// runtime/pl/detail/location.hpp -- a call's std::source_location as the location of an error.
#pragma once

#include "codegen/error.hpp"

#include <source_location>

namespace pl::detail {

/// Without file where the line is 0: nobody knows the call.
[[nodiscard]] inline Location location_of(const std::source_location& where) {
  return {where.line() == 0 ? "" : where.file_name(), where.line(), where.column()};
}

}  // namespace pl::detail
