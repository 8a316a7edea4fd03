// The device header against the reference operations: every Exact operation of the table, bit for bit.
#include "sweep.hpp"

namespace {
constexpr int vector_width = trilith::device::lanes<float>;  // as in a kernel that mixes float and double
}
#include "against_reference.hpp"

namespace {

template <class T>
void casts_from() {
  casts<T, bool>();
  casts<T, std::int32_t>();
  casts<T, std::int64_t>();
  casts<T, float>();
  casts<T, double>();
}

TEST_CASE("every exact elementwise operation gives the reference's bits") {
  numeric<float>();
  numeric<double>();
  numeric<std::int32_t>();
  numeric<std::int64_t>();
  floating<float>();
  floating<double>();
  integer<std::int32_t>();
  integer<std::int64_t>();
  BINARY(bool, LogicalAnd, logical_and);
  BINARY(bool, LogicalOr, logical_or);
  UNARY(bool, LogicalNot, logical_not);
  BINARY(bool, BitAnd, bit_and);
  BINARY(bool, BitOr, bit_or);
  BINARY(bool, BitXor, bit_xor);
  UNARY(bool, BitNot, bit_not);
  BINARY(bool, Eq, eq);
  BINARY(bool, Ne, ne);
  TERNARY(bool, bool, Where, where);
  casts_from<bool>();
  casts_from<std::int32_t>();
  casts_from<std::int64_t>();
  casts_from<float>();
  casts_from<double>();

  // An operation added to the table must be added here.
  for (const codegen::Operation& row : codegen::operations()) {
    using codegen::Group;
    const bool elementwise = row.group == Group::Elementwise || row.group == Group::Compare ||
                             row.group == Group::Logic || row.group == Group::Bits ||
                             row.group == Group::Cast;
    // `move` is a copy to the emitter and has no function.
    if (!elementwise || row.exactness != codegen::Exactness::Exact || row.op == codegen::Op::MoveTo) continue;
    INFO(std::string(row.name));
    CHECK(compared().count(row.op) == 1);
  }
}

}  // namespace
