// Transcendentals in float, whatever the dtype; half and bfloat16 are rounded at the end.
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

Tile float_of(Vector& v, const Tile& x) {
  return x.dtype == DType::Float32 ? x : v.cast(x, DType::Float32, "NONE");
}

Tile formula(Call& call, const Tile& x) {
  Vector& v = call.v;
  const auto plus = [&](const Tile& t, const char* scalar) { return v.with_scalar("Adds", t, scalar); };
  const auto times = [&](const Tile& t, const char* scalar) { return v.with_scalar("Muls", t, scalar); };
  const auto one = [&] { return v.duplicate(DType::Float32, "1.0f", x.rows, x.columns); };
  switch (call.op()) {
    case Op::Exp: return v.unary("Exp", x);
    case Op::Log: return v.unary("Ln", x);
    case Op::Sigmoid: return v.binary("Div", one(), plus(v.unary("Exp", times(x, "-1.0f")), "1.0f"));
    default: throw pl::InternalError("AscendC emitter: no formula of " + std::string(operation(call.op()).name));
  }
}

}  // namespace

Held lower_transcendental(Call& call) {
  Vector& v = call.v;
  const Tile x = float_of(v, call.tile(0));
  const Tile result = formula(call, x);
  if (call.dtype == DType::Float16) return {{.tile = v.cast(result, DType::Float16, "RINT")}, {}};
  return {{.tile = round_to(v, result, call.dtype)}, {}};
}

}  // namespace trilith::codegen::ascendc
