#include "codegen/reference/support.hpp"

#include <limits>

namespace trilith::codegen::reference {
namespace {

template <class T>
bool holds(const Value& literal) {
  return visit_integer(literal.dtype, [&]<class From>() { return std::in_range<T>(literal.get<From>()); });
}

[[noreturn]] void refuse(const Value& literal, const char* kind, DType dtype, std::string_view operation,
                         const pl::Location& location) {
  std::string text = to_text(literal);
  text.erase(0, text.find(' ') + 1);
  throw pl::DtypeError(std::string(operation) + ": the " + kind + " constant " + text + " stands beside " +
                           std::string(name_of(dtype)) + ", which cannot hold it; convert with pl::cast<" +
                           (is_floating(literal.dtype) ? "float" : "std::int64_t") + ">(...)",
                       location);
}

}  // namespace

Value literal_as(const Value& literal, DType dtype, std::string_view operation,
                 const pl::Location& location) {
  if (literal.dtype == dtype) return literal;
  const bool from_float = is_floating(literal.dtype);
  if (is_integer(dtype) && from_float) refuse(literal, "floating", dtype, operation, location);
  if (is_integer(dtype) && literal.dtype != DType::Bool &&
      !visit_integer(dtype, [&]<class T>() { return holds<T>(literal); }))
    refuse(literal, "integer", dtype, operation, location);
  // A bool counts as 0 or 1, as in C++; no number counts as a bool.
  if (dtype == DType::Bool) refuse(literal, from_float ? "floating" : "integer", dtype, operation, location);
  Value result = Value(dtype, {});
  result.is_scalar = true;
  cast(literal, CastMode::Rint, result);
  return result;
}

}  // namespace trilith::codegen::reference
