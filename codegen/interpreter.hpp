// codegen/interpreter.hpp -- runs kernel IR, captured or specialised, with the reference operations.
//
// Slow on purpose: types are found as it goes, so it needs no specialisation and checks the specialiser.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/value.hpp"

#include <functional>
#include <span>
#include <string>
#include <variant>

namespace trilith::codegen {

/// One argument per Kernel::parameters: a tensor view, or a scalar.
using Argument = std::variant<TensorView, Value>;

/// Which block of `pl::spmd` runs.
struct Block {
  std::int32_t index = 0;
  std::int32_t count = 1;
};

/// `captures`: one scalar per Kernel::captures. `print` receives the text of `pl::print`.
/// Throws pl::ShapeError, pl::DtypeError with the kernel's source location.
void interpret(const Kernel& kernel, std::span<const Argument> arguments, std::span<const Value> captures,
               const std::function<void(const std::string&)>& print = {}, const Block& block = {});

}  // namespace trilith::codegen
