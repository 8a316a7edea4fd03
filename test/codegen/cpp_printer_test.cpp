#include "codegen/cpp_printer.hpp"
#include "codegen/builder.hpp"
#include "codegen/error.hpp"
#include "codegen/random_program.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;

TEST_CASE("a kernel is printed as the C++ that a person would write") {
  KernelBuilder k("scale");
  const Dim n = k.dynamic("N");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {n, {8}});
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {n, {8}});
  const Expr s = k.capture("s", DType::Float32);
  const Expr t = k.let("t", load(x));
  k.for_("i", 0, 3, 1, [&](const Expr&) {
    k.if_(call(Op::Gt, {s, literal(0.5)}), [&] { k.assign(t, t * literal(0.1) + s); }, [&] { k.break_(); });
  });
  k.store(cast(DType::Float32, t, CastMode::Floor), {0, 0}, y);
  k.returns(y);
  CHECK(to_cpp(k.take()) ==
        "constexpr auto N = pl::dynamic(\"N\");\n"
        "auto scale = [](float s) {\n"
        "  return pl::jit.incore([s](pl::Tensor<float, N, 8> x, pl::Out<pl::Tensor<float, N, 8>> y) {\n"
        "    auto t = pl::load(x);\n"
        "    for (auto i : pl::range(0, 3, 1)) {\n"
        "      if (pl::gt(s, static_cast<float>(0.5))) {\n"
        "        t = pl::add(pl::mul(t, 0.1), s);\n"
        "      } else {\n"
        "        break;\n"
        "      }\n"
        "    }\n"
        "    (void)pl::store(pl::cast<float>(t, {.mode = pl::CastMode::floor}), {0, 0}, y);\n"
        "    return y;\n"
        "  });\n"
        "};\n");
}

TEST_CASE("what C++ cannot say is refused and not printed wrongly") {
  KernelBuilder k("jump");
  const Expr c = k.scalar("c", DType::Bool);
  k.block([&](std::int32_t outer) { k.block([&](std::int32_t) { k.if_(c, [&] { k.leave(outer); }); }); });
  CHECK_THROWS_WITH_AS((void)to_cpp(k.take()),
                       "this kernel cannot be printed as C++: a jump out of more than one block",
                       pl::UserError);
}

TEST_CASE("nearly every random program can be printed") {
  RandomOptions options;
  options.any_dtype = false;
  int printed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    try {
      (void)to_cpp(random_kernel(seed, options));
      ++printed;
    } catch (const pl::UserError&) {
    }
  }
  CHECK(printed > 150);
}
