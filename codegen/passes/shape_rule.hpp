// codegen/passes/shape_rule.hpp -- result types with run-time extents: the symbolic twin of
// reference::result_type, with the same rules and the same messages.
#pragma once

#include "codegen/error.hpp"
#include "codegen/ir.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trilith::codegen::passes {

/// NumPy broadcast of two shapes. A run-time extent against 1 keeps the run-time extent, against another
/// constant gives the constant (checked when run), against another run-time extent gives the first (checked
/// when run). Throws ShapeError where two constants do not fit.
[[nodiscard]] std::vector<Dim> broadcast(const Kernel& kernel, const std::vector<Dim>& a,
                                         const std::vector<Dim>& b, std::string_view operation,
                                         const pl::Location& location);

/// Type of `op` on operands whose dtypes are unified already (see literal.hpp). Every group but Structure,
/// Create, Move and Debug. `cast_to` is used by Cast alone. Throws ShapeError and DtypeError.
[[nodiscard]] Type result_type(const Kernel& kernel, Op op, const std::vector<Expr>& operands, DType cast_to,
                               const pl::Location& location);

/// Two run-time extents of this operation that only the run can find equal (see `broadcast`).
[[nodiscard]] bool needs_shape_check(const std::vector<Expr>& operands);

/// What the run has to find of an elementwise operation or `full` of a specialised kernel (`fault_shape`).
struct ShapeCheck {
  Dim given;
  std::optional<Dim> expected;  ///< equal to this; none: not negative
  std::string what;             ///< as pl::abi::Fault::what
};
[[nodiscard]] std::vector<ShapeCheck> shape_checks(const Kernel& kernel, const Expr& value);

}  // namespace trilith::codegen::passes
