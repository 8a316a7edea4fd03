// Each rule of the verifier, broken once by hand.
#include "codegen/error.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

Kernel captured() {
  KernelBuilder k("good");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr c = k.const_scalar("c", DType::Int64);
  const Expr t = k.let("t", load(x));
  k.for_("i", 0, n, 1, [&](const Expr&) { k.assign(t, t + t); });
  k.block([&](std::int32_t block) {
    k.if_(n < c, [&] { k.leave(block); });
    k.print(n);
  });
  k.store(t, {c, 0}, y);
  return k.take();
}

Kernel specialised() {
  return specialise(captured(), signature({floats({4, -1}), floats({4, -1}), scalar_argument(DType::Int64),
                                           const_argument(Constant::of(std::int64_t{0}))}));
}

std::string broken_by(Kernel kernel, const std::function<void(Kernel&)>& change) {
  change(kernel);
  return broken_rule(kernel);
}
std::string captured_with(const std::function<void(Kernel&)>& change) {
  return broken_by(captured(), change);
}
std::string specialised_with(const std::function<void(Kernel&)>& change) {
  return broken_by(specialised(), change);
}

}  // namespace

TEST_CASE("what is well formed passes, in both stages") {
  CHECK(captured_with([](Kernel&) {}) == "");
  CHECK(specialised_with([](Kernel&) {}) == "");
}

TEST_CASE("the verifier says the kernel, its stage and the place") {
  Kernel kernel = captured();
  kernel.body[0].variable = 99;
  try {
    verify(kernel);
    FAIL("nothing was thrown");
  } catch (const pl::InternalError& error) {
    CHECK(std::string(error.what()) ==
          "kernel.cpp:2:3: verify: an assignment to a variable that does not exist, in the captured kernel "
          "good; please report this");
  }
}

TEST_CASE("rules of both stages") {
  CHECK(captured_with([](Kernel& k) { k.parameters[0].variable = 4; }) ==
        "a parameter that is no Parameter variable");
  CHECK(captured_with([](Kernel& k) { k.captures.push_back({0, 0}); }) ==
        "a capture that is no Capture variable");
  CHECK(captured_with([](Kernel& k) { k.returned_parameter = 7; }) ==
        "the returned parameter does not exist");
  CHECK(captured_with([](Kernel& k) { k.body[0].value.operands.pop_back(); }) ==
        "'load' with 2 operands, it takes 3");
  CHECK(captured_with([](Kernel& k) { k.body[0].value.operands[0].variable = -3; }) ==
        "a variable that does not exist");
  CHECK(captured_with([](Kernel& k) { k.body[0].value.operands[1].op = Op::Rank; }) ==
        "offsets or a shape that are no list");
  CHECK(captured_with([](Kernel& k) { k.body[1].begin.value.dtype = DType::Int32; }) ==
        "a constant of another type than its value");
  CHECK(captured_with([](Kernel& k) { k.body[1].variable = 0; }) ==
        "a loop variable that is no local scalar");
  CHECK(captured_with([](Kernel& k) { k.body[2].block = 5; }) == "leave of block 1 outside of it");
  CHECK(captured_with([](Kernel& k) { k.body[2].block = 0; }) == "a block without a number");
  CHECK(captured_with([](Kernel& k) { k.body[0].kind = StatementKind::Break; }) ==
        "a break or continue outside of a loop");
  CHECK(captured_with([](Kernel& k) { k.body[0].location.file = 3; }) == "a place in an unknown file");
  CHECK(captured_with([](Kernel& k) { k.variables[0].type.shape.push_back({1}); }) ==
        "a type of any shape that has a shape");
  CHECK(captured_with([](Kernel& k) {
          k.variables[0].type.any_shape = false;
          k.variables[0].type.shape.push_back({-4});
        }) == "an extent that cannot be");
}

TEST_CASE("rules of the specialised form") {
  // t = load; for { t = t + t }; if (n >= 0) print; store
  CHECK(specialised_with([](Kernel& k) { k.variables[0].type.any_dtype = true; }) ==
        "variable x has no complete type");
  CHECK(specialised_with([](Kernel& k) { k.body[0].value.type.dtype = DType::Int32; }) ==
        "t is float[4, x_1] and assigned int32[4, x_1]");
  CHECK(specialised_with([](Kernel& k) { k.body[0].value.operands[2].operands[0].value.bits = 3; }) ==
        "a shape list that is not the tile's shape");
  CHECK(specialised_with([](Kernel& k) { k.body[0].value.operands[1].operands.pop_back(); }) ==
        "a list of 1 instead of 2");
  CHECK(specialised_with([](Kernel& k) { k.body[1].loop = LoopKind::Unroll; }) ==
        "an unroll loop that is not written out");
  CHECK(specialised_with([](Kernel& k) { k.body[1].body[0].value.operands[0] = k.body[0].value; }) ==
        "an operand that is neither a tile's variable nor a scalar");
  CHECK(specialised_with([](Kernel& k) { k.body[1].body[0].value.op = Op::Lt; }) ==
        "'lt' gives bool[4, x_1], not float[4, x_1]");
  CHECK(specialised_with([](Kernel& k) { k.body[1].body[0].value.operands.pop_back(); }) ==
        "'add' with 1 operands, it takes 2");
  CHECK(specialised_with([](Kernel& k) { k.body[2].value = integer(1); }) == "a condition that is no bool");
  CHECK(specialised_with([](Kernel& k) { k.body.erase(k.body.begin()); }) ==
        "t is read where it may have no value");
  CHECK(specialised_with([](Kernel& k) { k.body[3].value = k.body[0].value; }) == "'load' as a statement");
  CHECK(specialised_with([](Kernel& k) {
          k.body[2].body[0].value.operands[0].variable = k.parameters[3].variable;
        }) == "c is read where it may have no value");
}
