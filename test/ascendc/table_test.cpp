// The table of lowerings: every operation has a row, and every dtype that the operation takes is emitted or refused by
// an error that names the operation, the dtype and the reason.
#include "ascendc/emitted.hpp"
#include "codegen/ascendc/lowering.hpp"
#include "codegen/error.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;

namespace {

constexpr DType all_dtypes[] = {DType::Bool,     DType::Int8,    DType::Int16,  DType::Int32,  DType::Int64,
                                DType::UInt8,    DType::UInt16,  DType::UInt32, DType::UInt64, DType::Float16,
                                DType::BFloat16, DType::Float32, DType::Float64};

bool is_on_tiles(Op op) {
  switch (operation(op).group) {
    case Group::Elementwise:
    case Group::Compare:
    case Group::Logic:
    case Group::Bits:
    case Group::RowReduce:
    case Group::ColReduce: return op != Op::MoveTo;
    default: return false;
  }
}

ascendc::Emitted emit_one(Op op, DType dtype) {
  const Operation& row = operation(op);
  const std::vector<std::int64_t> shape{9, 7};
  if (row.group == Group::RowReduce) return emit(reduction(op, dtype), {{dtype, shape}, {dtype, {9, 1}}});
  if (row.group == Group::ColReduce) return emit(reduction(op, dtype), {{dtype, shape}, {dtype, {1, 7}}});
  const DType result = row.group == Group::Compare || row.group == Group::Logic ? DType::Bool : dtype;
  std::vector<Given> arguments;
  for (int i = 0; i < row.arity; ++i)
    arguments.push_back({op == Op::Where && i == 0 ? DType::Bool : dtype, shape});
  arguments.push_back({result, shape});
  return emit(elementwise(op, dtype, row.arity, result), arguments);
}

}  // namespace

TEST_CASE("every operation has a row, with a lowering or a reason") {
  for (const Operation& row : operations()) {
    CAPTURE(row.name);
    const ascendc::Lowering& lowering = ascendc::lowering(row.op);
    CHECK(lowering.op == row.op);
    CHECK((lowering.place == ascendc::Place::Elementwise) == (lowering.lower != nullptr));
    if (lowering.place == ascendc::Place::Refused) CHECK(ascendc::refusal(row.op, DType::Float32) != "");
  }
}

TEST_CASE("every operation on tiles is emitted, or refused by name, for every dtype it takes") {
  for (const Operation& row : operations()) {
    if (!is_on_tiles(row.op)) continue;
    for (const DType dtype : all_dtypes) {
      if (!accepts(row.dtypes, dtype)) continue;
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      const std::string reason = ascendc::refusal(row.op, dtype);
      try {
        const std::string text = emit_one(row.op, dtype).text;
        CHECK(text.find("kernel_operator.h") != std::string::npos);
        CHECK(reason == "");
      } catch (const pl::UserError& error) {
        const std::string message = error.what();
        CHECK(reason != "");
        // Doubles are refused before that, where they are loaded.
        const std::string refused = dtype == DType::Float64 ? "load" : std::string(row.name);
        CHECK(message.find(refused) != std::string::npos);
        CHECK(message.find(std::string(name_of(dtype))) != std::string::npos);
        CHECK(message.find("kernel.cpp:") != std::string::npos);
      }
    }
  }
}

TEST_CASE("a cast is emitted, or refused by name, for every pair of dtypes") {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      if (from == to) continue;
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      KernelBuilder k("convert");
      const Expr x = k.tensor("x", Access::In, from), y = k.tensor("y", Access::Out, to);
      k.store(cast(to, load(x)), {0, 0}, y);
      const bool refused = ascendc::refusal(Op::Cast, from) != "" || ascendc::refusal(Op::Cast, to) != "";
      if (refused)
        CHECK_THROWS_AS((void)emit(k.take(), {{from, {9, 7}}, {to, {9, 7}}}), pl::UserError);
      else
        CHECK_NOTHROW((void)emit(k.take(), {{from, {9, 7}}, {to, {9, 7}}}));
    }
}
