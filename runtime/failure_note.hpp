// runtime/failure_note.hpp -- adds to an error in which task and on which rank it happened.
#pragma once

#include <exception>
#include <string>

namespace pl::detail {

/// The same error, of the same type and place, with `note` behind its message. What is none of Trilith's own
/// types stays as it is.
[[nodiscard]] std::exception_ptr with_note(std::exception_ptr failure, const std::string& note);

}  // namespace pl::detail
