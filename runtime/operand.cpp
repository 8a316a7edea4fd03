#include "pl/detail/operand.hpp"

namespace pl::detail {

Value number_as(DType dtype, const Value& number, std::string_view operation,
                const std::source_location& where) {
  // A C++ number is a bool as in C++: what is not 0 is true.
  if (dtype == DType::Bool && !trilith::codegen::is_floating(number.dtype))
    return trilith::codegen::reference::apply(Op::Cast, std::span(&number, 1), {}, dtype, location_of(where));
  return trilith::codegen::reference::literal_as(number, dtype, operation, location_of(where));
}

}  // namespace pl::detail
