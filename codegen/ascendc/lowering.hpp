// codegen/ascendc/lowering.hpp -- the table of lowerings: one row for every operation of codegen/operation.hpp.
//
// A row either lowers or says why not, by dtype. The table test walks all rows, so none can be forgotten.
#pragma once

#include "codegen/ascendc/nest.hpp"

#include <string>
#include <vector>

namespace trilith::codegen::ascendc {

/// One elementwise operation on one block.
struct Call {
  Vector& v;
  Context& c;
  const Expr& expr;
  DType dtype;  ///< of the operands (of `where`: of the two values)
  std::vector<Held> operands;

  [[nodiscard]] Op op() const { return expr.op; }
  [[nodiscard]] bool is_scalar(std::size_t i) const { return operands[i].operand.is_scalar(); }
  [[nodiscard]] const std::string& scalar(std::size_t i) const { return operands[i].operand.scalar; }
  /// The operand as a tile; a scalar fills one of the result's axes.
  Tile tile(std::size_t i);
  [[nodiscard]] std::vector<Operand> all() const;
  /// Axes that some operand has.
  [[nodiscard]] bool rows() const;
  [[nodiscard]] bool columns() const;
};

using Lower = Held (*)(Call&);
/// Why an operation on a dtype has no lowering; "" where it has one.
using Reason = std::string (*)(DType);

enum class Place : std::uint8_t {
  Structure,    ///< the frame itself knows it: constants, control flow, loads, stores, reductions
  Elementwise,  ///< `lower` works on blocks
  Call,         ///< an operation on whole tiles (tile_call)
  Refused,      ///< whatever the dtype
};

struct Lowering {
  Op op;
  Place place;
  Lower lower = nullptr;
  Reason reason = nullptr;
};

/// The row of an operation.
[[nodiscard]] const Lowering& lowering(Op op);
/// "" where the operation on tiles of this dtype is lowered.
[[nodiscard]] std::string refusal(Op op, DType dtype);

/// The elementwise operation of a call, in whichever way its dtype has.
Held lower(Call& call);

// wide.cpp: 64-bit integers
Held lower_wide(Call& call);
// elementwise.cpp
Held lower_arithmetic(Call& call);
Held lower_rounding(Call& call);
Held lower_extremum(Call& call);
// integer.cpp
Held lower_division(Call& call);
Held lower_bits(Call& call);
Held lower_shift(Call& call);
// by_bits.cpp: fma, fmod and rem of floats
Held lower_by_bits(Call& call);
// compare.cpp
Held lower_compare(Call& call);
Held lower_logic(Call& call);
Held lower_where(Call& call);
// cast.cpp
Held lower_cast(Call& call);
// transcendental.cpp
Held lower_transcendental(Call& call);
// power.cpp
Held lower_power(Call& call);

/// After an operation in float: the bfloat16 that a float of its value is rounded to, held as float.
Tile round_to(Vector& v, const Tile& tile, DType dtype);
/// After an operation in int32: the value modulo the width of a shorter dtype.
Tile wrap_to(Vector& v, const Tile& tile, DType dtype);
/// The larger (or smaller) with the reference's rules for NaN and zeros of two signs.
Tile extremum(Vector& v, bool larger, const Tile& a, const Tile& b, DType dtype);
/// A comparison as bits, by the rules of the dtype that the tiles hold.
Mask compare_tiles(Vector& v, Op op, const Tile& a, const Tile& b, DType dtype);
/// The bits of a bool operand, and bits as half 0 or 1.
Mask mask_of(Vector& v, const Held& held, bool rows, bool columns);
Tile number_of(Vector& v, const Mask& mask);

}  // namespace trilith::codegen::ascendc
