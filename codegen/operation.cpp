#include "codegen/operation.hpp"

namespace trilith::codegen {
namespace {

constexpr Operation table[] = {
#define X(enumerator, name, group, arity, dtypes, exactness, formula) \
  {Op::enumerator, name, Group::group, arity, DTypes::dtypes, Exactness::exactness, formula},
    TRILITH_OPERATIONS(X)
#undef X
};

}  // namespace

std::span<const Operation> operations() { return table; }

const Operation& operation(Op op) { return table[static_cast<std::size_t>(op)]; }

std::optional<Op> operation_from_name(std::string_view name) {
  for (const Operation& row : table)
    if (row.name == name) return row.op;
  return std::nullopt;
}

bool accepts(DTypes rule, DType dtype) {
  switch (rule) {
    case DTypes::Any: return true;
    case DTypes::Numeric: return dtype != DType::Bool;
    case DTypes::Floating: return is_floating(dtype);
    case DTypes::Integer: return is_integer(dtype);
    case DTypes::Boolean: return dtype == DType::Bool;
    case DTypes::Product: return is_floating(dtype) || dtype == DType::Int8;
    case DTypes::IntegerOrBoolean: return is_integer(dtype) || dtype == DType::Bool;
  }
  return false;
}

}  // namespace trilith::codegen
