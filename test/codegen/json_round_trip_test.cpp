#include "codegen/builder.hpp"
#include "codegen/error.hpp"
#include "codegen/json.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace trilith::codegen;
using namespace trilith::codegen::build;

namespace {

/// A kernel with every statement kind, type kind, variable kind, loop kind and access.
Kernel everything() {
  KernelBuilder k("everything \"quoted\" \xc3\xa9", "dir/a file.cpp");
  const Dim n = k.dynamic("N");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {n, {8}, {0}});
  const Expr y = k.tensor("y", Access::Out, DType::Float64);
  const Expr z = k.tensor("z", Access::InOut, DType::Bool, {});
  const Expr w = k.any_tensor("w", Access::In);
  const Expr s = k.scalar("s", DType::Int32);
  const Expr c = k.const_scalar("c", DType::UInt8);
  const Expr a = k.capture("a", DType::Int64);
  const Expr row = k.let("row", index(slice(x, {0, 0, a}, {4, 8, 1}), 2));
  const Expr t = k.let("t", load(row, {0, 0}, {8, 1}));
  const Expr whole = k.let("whole", load(w));
  k.if_(s > literal(3), [&] { k.assign(t, t * literal(0.1)); }, [&] { k.return_(); });
  k.for_(
      "i", 0, dim(x, 0), 2, [&](Expr i) { k.assign(t, t + cast(DType::Float32, i, CastMode::Odd)); },
      LoopKind::Pipeline);
  for (LoopKind loop : {LoopKind::Sequential, LoopKind::Parallel, LoopKind::Unroll})
    k.for_("j", 3, 0, -1, [&](Expr) { k.continue_(); }, loop);
  k.while_(s < c, [&] { k.break_(); }, [&] { k.assign(s, s + literal(1)); });
  k.block([&](std::int32_t number) { k.leave(number); });
  k.print(call(Op::Where, {call(Op::IsNan, {t}), full(DType::Float32, {8, 1}, literal(0)), t}));
  k.store(whole, {}, z);
  k.store(t, {0, 0}, y);
  k.returns(y);
  Kernel kernel = k.take();
  kernel.files.push_back("other.hpp");
  kernel.body.back().location = {1, 7, 9};
  kernel.body.back().value.operands[0].attributes.clamp = true;
  Attributes& attributes = kernel.body.back().value.attributes;
  attributes.axis = -3;
  attributes.axis2 = 7;
  attributes.upper = true;
  attributes.memory = MemorySpace::Bias;
  attributes.atomic = Atomic::Add;
  attributes.chunk = 128;
  attributes.pipeline = 3;
  return kernel;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  try {
    (void)kernel_from_json(text);
  } catch (const pl::CaptureError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a kernel with every construct survives JSON, equal to the byte") {
  Kernel kernel = everything();
  for (bool specialised : {false, true}) {
    kernel.specialised = kernel.fast_math = specialised;
    const std::string text = to_json(kernel);
    const Kernel back = kernel_from_json(text);
    CHECK(back == kernel);
    CHECK(to_json(back) == text);
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("every operation, dtype and cast mode has a JSON form") {
  for (const Operation& row : operations()) {
    KernelBuilder k("op");
    const Expr v = k.scalar("v", DType::Int64);
    Expr expression =
        call(row.op, std::vector<Expr>(row.arity < 0 ? 3 : static_cast<std::size_t>(row.arity), v));
    if (row.op == Op::Variable) expression = v;
    k.let("r", expression);
    const Kernel kernel = k.take();
    CAPTURE(row.name);
    CHECK(kernel_from_json(to_json(kernel)) == kernel);
  }
  for (int i = 0; i < dtype_count; ++i)
    for (int mode = 0; mode <= static_cast<int>(CastMode::Odd); ++mode) {
      KernelBuilder k("cast");
      k.let("r", cast(static_cast<DType>(i), integer(1), static_cast<CastMode>(mode)));
      const Kernel kernel = k.take();
      CHECK(kernel_from_json(to_json(kernel)) == kernel);
    }
}

TEST_CASE("constants keep every bit: NaN payloads, denormals, signed zeros, the extremes") {
  KernelBuilder k("constants");
  using D = std::numeric_limits<double>;
  for (double value : {-0.0, D::denorm_min(), D::max(), D::infinity(), 0.1})
    k.let("d", constant(Constant::of(value)));
  k.let("payload", constant({DType::Float32, 0x7fc01234u}));
  k.let("signalling", constant({DType::Float64, 0x7ff0000000000001u}));
  k.let("lowest", constant(Constant::of(std::numeric_limits<std::int64_t>::min())));
  k.let("highest", constant({DType::UInt64, ~std::uint64_t{0}}));
  const Kernel kernel = k.take();
  CHECK(kernel_from_json(to_json(kernel)) == kernel);
}

TEST_CASE("a newer format version is refused, naming both versions") {
  const std::string text = replaced(to_json(everything()), "\"trilith_ir\":1", "\"trilith_ir\":7");
  CHECK(refusal(text).find("version 7") != std::string::npos);
  CHECK(refusal(text).find("up to 1") != std::string::npos);
}

TEST_CASE("text that is no kernel is refused with the place and the reason") {
  const std::string good = to_json(everything());
  CHECK(refusal("").find("this text is no Trilith kernel: it is not valid JSON") != std::string::npos);
  CHECK(refusal("[]").find("trilith_ir") != std::string::npos);
  CHECK(refusal("{\"trilith_ir\":1}").find("'name' is missing") != std::string::npos);
  CHECK(refusal(replaced(good, "\"op\":\"index\"", "\"op\":\"indexx\"")).find("unknown operation 'indexx'") !=
        std::string::npos);
  CHECK(refusal(replaced(good, "\"op\":\"index\"", "\"op\":\"rank\"")).find("takes 1 operands, not 2") !=
        std::string::npos);
  CHECK(refusal(replaced(good, "\"closure_size\":", "\"closure_sise\":")).find("'closure_size' is missing") !=
        std::string::npos);
  CHECK(refusal(replaced(good, "\"captures\":", "\"new_thing\":1,\"captures\":")).find("not known") !=
        std::string::npos);
  CHECK(refusal(replaced(good, "\"bits\":\"0x", "\"bits\":\"0xzz")).find("bits") != std::string::npos);
  CHECK(refusal(replaced(good, "{\"op\":\"variable\"", "{\"variable\":99,\"op\":\"variable\"")) != "");
  CHECK(refusal(replaced(good, "\"at\":[0,1,3]", "\"at\":[9,1,3]")).find("file number 9") !=
        std::string::npos);
  CHECK(refusal(replaced(good, "\"dtype\":\"double\"", "\"dtype\":\"dubble\""))
            .find("unknown dtype 'dubble'") != std::string::npos);
}

TEST_CASE("a member of the wrong kind is refused with what was expected") {
  const std::string good = to_json(everything());
  const auto says = [&](const std::string& from, const std::string& to, const std::string& words) {
    const std::string message = refusal(replaced(good, from, to));
    CHECK_MESSAGE(message.find(words) != std::string::npos, from, " -> ", to, ": ", message);
  };
  says("\"type\":{", "\"type\":3,\"x\":{", "expected an object");
  says("\"name\":\"", "\"name\":3,\"x\":\"", "expected a string");
  says("\"literal\":true", "\"literal\":1", "expected true or false");
  says("\"kind\":\"", "\"kind\":\"x", "unknown word 'x");
  says("\"closure_size\":", "\"closure_size\":\"a\",\"x\":", "expected an integer from 0 to ");
  says("\"variables\":[", "\"variables\":3,\"x\":[", "expected a list");
  says("\"files\":[", "\"files\":[3,", "expected strings");
  says("\"at\":[0,1,3]", "\"at\":[0,1]", "expected [file, line, column]");
  says("\"bits\":\"0x", "\"bits\":\"1", "expected 0x");
}

TEST_CASE("damaged text never crashes the reader") {
  const std::string good = to_json(everything());
  for (std::size_t length = 0; length < good.size(); length += 7)
    CHECK(refusal(good.substr(0, length)) != "accepted");
  std::uint64_t state = 1;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int i = 0; i < 2; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text[(state >> 20) % text.size()] = static_cast<char>(state >> 56);
    }
    refused += refusal(text) != "accepted";  // a change inside a name is no damage
  }
  CHECK(refused > 1000);
}

TEST_CASE("text nested without end is refused before the stack is") {
  const std::string type = "\"type\":{\"kind\":\"void\"},\"at\":[0,0,0]";
  std::string value = "{\"op\":\"list\"," + type + "}";
  std::string before, after;
  for (int i = 0; i < 100000; ++i) {
    before += "{\"op\":\"neg\"," + type + ",\"operands\":[";
    after += "]}";
  }
  const std::string text =
      replaced(to_json(KernelBuilder("k").take()), "\"body\":[]",
               "\"body\":[{\"kind\":\"evaluate\",\"at\":[0,0,0],\"value\":" + before + value + after + "}]");
  CHECK(refusal(text).find("nested deeper than 1000") != std::string::npos);
  CHECK(refusal(std::string(1000000, '[')).find("not valid JSON") != std::string::npos);
}
