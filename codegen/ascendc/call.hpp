// codegen/ascendc/call.hpp -- lowers operations on whole tiles (codegen/tile_call.hpp), which stand between nests.
//
// Their operands and results lie in device memory, with the elements of their own dtypes: regions of tensors where a tile
// is only loaded for them (or only stored behind them), the workspace else. Each becomes a call of a function that is
// printed in front of the kernel, between barriers of all pipes; products run on the cube core.
#pragma once

#include "codegen/ascendc/context.hpp"

#include <string>
#include <vector>

namespace trilith::codegen::ascendc {

/// One operation: its operands and its result.
struct TileCall {
  Context& c;
  const Statement& statement;
  const Expr& expr;
  View result;

  [[nodiscard]] Op op() const { return expr.op; }
  [[nodiscard]] View operand(std::size_t i) const { return c.view_of(expr.operands[i].variable); }
  [[nodiscard]] bool is_variable(std::size_t i) const { return expr.operands[i].op == Op::Variable; }
  /// An axis counted from 0.
  [[nodiscard]] static std::size_t axis(std::int64_t given, std::size_t rank) {
    return static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(rank) : given);
  }
};

/// "name[12]"
[[nodiscard]] std::string text_of(const View& view);

// copy.cpp: the same extents at both ends
void copy(TileCall& call, const View& to, const View& from);
/// Every element of a view is the scalar.
void fill(TileCall& call, const View& to, const std::string& value);

/// Dense elements of the workspace, with the extents of another view.
[[nodiscard]] View new_view(TileCall& call, const View& like);
/// The view, or its elements copied to the workspace where they do not lie densely (or must be there).
[[nodiscard]] View dense(TileCall& call, const View& from, bool in_workspace = false);
/// Texts of the functions CopyRows and FillRows.
extern const char* const copy_rows;
extern const char* const fill_rows;

// product.cpp, layout.cpp, generate.cpp, index.cpp
void lower_product(TileCall& call);
void lower_layout(TileCall& call);
void lower_generate(TileCall& call);
void lower_index(TileCall& call);

// Why an operation on a dtype has no lowering; "" where it has one.
[[nodiscard]] std::string product_reason(DType dtype);

}  // namespace trilith::codegen::ascendc
