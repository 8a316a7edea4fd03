// runtime/pl/detail/tile_call.hpp -- how eager operations on whole tiles reach the reference.
#pragma once

#include "pl/detail/operand.hpp"

namespace pl::detail {

using trilith::codegen::Attributes;
using CallOperand = trilith::codegen::reference::CallOperand;
using CallOperands = std::initializer_list<CallOperand>;

/// A tile call (codegen/tile_call.hpp) whose result has the dtype R; void: what follows from the operands.
template <class R>
[[nodiscard]] Tile<R> tile_call(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
                                const std::source_location& where) {
  require_core(trilith::codegen::operation(op).name, where);
  std::optional<DType> wanted;
  if constexpr (!std::is_void_v<R>) wanted = trilith::codegen::dtype_of<R>;
  return Tile<R>(
      trilith::codegen::reference::tile_call(op, operands, attributes, wanted, location_of(where)));
}

template <class R>
[[nodiscard]] Tile<R> tile_call(Op op, std::initializer_list<CallOperand> operands,
                                const Attributes& attributes, const std::source_location& where) {
  return tile_call<R>(op, std::span(operands.begin(), operands.size()), attributes, where);
}

}  // namespace pl::detail
