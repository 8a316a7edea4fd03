// For targets with constant extents: loops whose last round is shorter, and conditions that all other rounds decide alike.
#include "codegen/builder.hpp"
#include "codegen/passes/constant_extents.hpp"
#include "codegen/printer.hpp"
#include "codegen/specialise.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;

namespace {

Signature rows_of(std::int64_t rows) {
  Signature signature;
  for (int i = 0; i < 2; ++i)
    signature.arguments.push_back({.is_tensor = true, .dtype = DType::Float32, .extents = {rows, 8}});
  return signature;
}

/// y = x in pieces of `step` rows; the last piece has what is left.
Kernel pieces(int step, bool leaves) {
  KernelBuilder k("pieces");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr rows = k.let("rows", dim(x, 0));
  k.for_("i", 0, rows, step, [&](const Expr& i) {
    const Expr left = k.let("left", rows - i);
    const Expr count = k.let("count", call(Op::Minimum, {left, integer(step)}));
    if (leaves) k.if_(i > integer(5 * step), [&] { k.break_(); });
    k.store(load(x, {i, 0}, {count, 8}), {i, 0}, y);
  });
  return k.take();
}

std::string shown(const Kernel& captured, std::int64_t rows) {
  return to_text(specialise_to_constant_extents(captured, rows_of(rows)));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a last round that is shorter is written out, and the others have constant extents") {
  const std::string text = shown(pieces(100, false), 250);
  CAPTURE(text);
  CHECK(has(text, "for i in 0 .. 200 step 100"));
  CHECK(has(text, "load x[i, 0 : 100, 8]"));
  CHECK(has(text, "load x[200, 0 : 50, 8]"));
  CHECK(!has(text, "minimum"));
}

TEST_CASE("a loop that its step divides stays one, and one of a single short round becomes that") {
  const std::string even = shown(pieces(50, false), 250);
  CAPTURE(even);
  CHECK(has(even, "for i in 0 .. 250 step 50"));
  CHECK(has(even, "load x[i, 0 : 50, 8]"));
  const std::string single = shown(pieces(100, false), 30);
  CAPTURE(single);
  CHECK(!has(single, "for i"));
  CHECK(has(single, "load x[0, 0 : 30, 8]"));
}

TEST_CASE("a break leaves the loop and the round that is written out behind it") {
  const Kernel specialised = specialise_to_constant_extents(pieces(10, true), rows_of(95));
  const std::string text = to_text(specialised);
  CAPTURE(text);
  CHECK(has(text, "for i in 0 .. 90 step 10"));
  CHECK(has(text, "leave"));
}

TEST_CASE("for other targets the loop stays as it is written") {
  const std::string text = to_text(specialise(pieces(100, false), rows_of(250)));
  CAPTURE(text);
  CHECK(has(text, "for i in 0 .. 250 step 100"));
  CHECK(has(text, "minimum"));
}
