// runtime/error_text.hpp -- an exception as bytes, for the way from one process to another.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace pl::detail {

/// Trilith's errors keep their class and place, those of the standard library their class; others become the nearest
/// of these, with the name of their type in the message. All of them keep what().
[[nodiscard]] std::string encode_exception(const std::exception_ptr& failure);
[[nodiscard]] std::exception_ptr decode_exception(std::string_view bytes);

}  // namespace pl::detail
