// Partly valid tiles in the specialised form: boxes alone, constants where they can be, and every refusal.
#include "run_both.hpp"

#include "codegen/random_program.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

std::string refused(const std::function<Expr(KernelBuilder&, const Expr&)>& function) {
  const Kernel kernel = unary([&](KernelBuilder& k, const Expr& x, const Expr& y) {
    const Expr t = k.let("t", set_valid(load(x), {3, 5}));
    k.store(function(k, t), {0, 0}, y);
  });
  const std::string message = message_of<pl::ShapeError>(kernel, two({4, 6}, {8, 12}));
  const std::size_t place = message.find(": ");
  return place == std::string::npos ? message : message.substr(place + 2);
}

}  // namespace

TEST_CASE("a load that is cut to its tensor is a load of what is there") {
  const Kernel kernel = unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.store(fillpad(load(x, {4, 0}, {4, 8}, true), Fill::Min), {0, 0}, y);
  });
  CHECK(body_text(specialise(kernel, two({6, 8}, {4, 8}))) ==
        "y_load: float[2, 8] = load x[4, 0 : 2, 8]\n"
        "y_pad: float[4, 8] = pad(y_load, [0, 0], [2, 0], -inf)\n"
        "store y[0, 0] = y_pad\n");
  CHECK(body_text(specialise(kernel, two({9, 8}, {4, 8}))) ==
        "y_load: float[4, 8] = load x[4, 0 : 4, 8]\nstore y[0, 0] = y_load\n");
  CHECK(same_results(kernel, two({6, 8}, {4, 8})));
  CHECK(same_results(kernel, two({3, 8}, {4, 8})));
}

TEST_CASE("a loop whose chunks fill its tensor has constant extents, one whose last is ragged a minimum") {
  const auto chunks = [](std::int64_t rows, std::int64_t first) {
    const Kernel kernel = unary([&](KernelBuilder& k, const Expr& x, const Expr& y) {
      k.for_("i", 0, rows, 4,
             [&](const Expr& i) { k.store(load(x, {i + integer(first), 0}, {4, 8}, true), {i, 0}, y); });
    });
    CHECK(same_results(kernel, two({rows + first, 8}, {rows, 8})));
    return body_text(specialise(kernel, two({rows + first, 8}, {rows, 8})));
  };
  CHECK(chunks(12, 0).find("minimum") == std::string::npos);
  CHECK(chunks(12, 3).find("minimum") == std::string::npos);
  const std::string ragged = chunks(11, 0);
  INFO(ragged);
  CHECK(ragged.find("extent = minimum(11 - i, 4)") != std::string::npos);
  CHECK(ragged.find("minimum(i") == std::string::npos);
}

TEST_CASE("operands that are valid alike are not copied") {
  const Kernel kernel = unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.for_("i", 0, dim(x, 0), 4, [&](const Expr& i) {
      const Expr a = k.let("a", load(x, {i, 0}, {4, 8}, true));
      const Expr b = k.let("b", load(x, {i, 0}, {4, 8}, true));
      const Expr row = k.let("row", load(x, {0, 0}, {1, 8}));
      k.store(a * b + row, {i, 0}, y);
    });
  });
  CHECK(body_text(specialise(kernel, two({-1, 8}, {-1, 8}))).find("tile_slice") == std::string::npos);
  CHECK(same_results(kernel, two({7, 8}, {7, 8})));
}

TEST_CASE("random programs with partly valid tiles mean the same after specialisation") {
  RandomOptions options;
  options.control_flow = false;
  for (std::uint64_t seed = 5000; seed < 5200; ++seed) {
    const RandomProgram program = random_program(seed, options);
    RandomArguments expected = random_arguments(program), given = random_arguments(program);
    interpret(program.kernel, expected.arguments, expected.captures);
    const Kernel specialised = specialise(program.kernel, signature_of(program, given));
    CAPTURE(to_text(program.kernel));
    interpret(specialised, given.arguments, given.captures);
    CHECK(difference(program, expected, given) == "");
  }
}

TEST_CASE("operations that need all of a tile name fillpad") {
  Attributes last;
  last.axis = -1;
  CHECK(refused([](KernelBuilder&, const Expr& t) { return tile_call(Op::Reshape, {t, list({6, 4})}); }) ==
        "reshape: the tile is valid up to 3 of 4 along axis 0, and all of it is needed there; fill the rest "
        "with "
        "pl::fillpad(tile, pl::Pad::zero)");
  CHECK(refused([](KernelBuilder&, const Expr& t) {
          return tile_call(Op::Pad, {t, list({0, 0}), list({1, 1}), literal(0)});
        }).find("pad: the tile is valid up to 3 of 4 along axis 0") == 0);
  CHECK(refused([&](KernelBuilder&, const Expr& t) {
          return tile_call(Op::Concat, {t, t}, last);
        }).find("concat: the tile is valid up to 5 of 6 along axis 1") == 0);
  CHECK(refused([&](KernelBuilder&, const Expr& t) {
          Expr column = tile_call(Op::TileSlice, {t, list({0, 0}), list({4, 1})});
          return tile_call(Op::Expand, {set_valid(column, {3, 0}), list({4, 6})});
        }).find("expand: the tile is valid up to 0 of 1 along axis 1") == 0);
  CHECK(refused([&](KernelBuilder& k, const Expr& t) {
          const Expr order = k.let("order", tile_call(Op::SortIndices, {t}, last));
          return tile_call(Op::Scatter, {t, order, t}, last);
        }).find("scatter: the tile is valid up to 3 of 4 along axis 0") == 0);
}

TEST_CASE("shapes are checked by what tiles were made with") {
  CHECK(refused([](KernelBuilder&, const Expr& t) {
          return t + set_valid(full(DType::Float32, {8, 6}, literal(1)), {3, 5});
        }) ==
        "add: shapes [4, 6] and [8, 6] do not broadcast: axis 0 has 4 and 8; extents must be equal or 1");
  CHECK(refused([](KernelBuilder&, const Expr& t) { return set_valid(t, {3}); }) ==
        "set_valid: 1 valid extents for a tile of rank 2; give one for each axis");
  CHECK(refused([](KernelBuilder&, const Expr& t) {
          return tile_call(Op::TileSlice, {t, list({1, 0}), list({3, 5})});
        }).find("tile_slice: axis 0: offset 1 with extent 3 is not inside the extent 3") == 0);
  const Kernel rank = unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.store(load(x, {0, 0}, {4, 6}, false, {2}), {0, 0}, y);
  });
  CHECK(message_of<pl::ShapeError>(rank, two({4, 6}, {4, 6})) ==
        "kernel.cpp:2:3: load: 1 valid extents for a tile of rank 2; give one for each axis");
}

TEST_CASE("run-time extents beside a partly valid tile are refused, since no code would compare them") {
  const Kernel kernel = unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.store(load(x) + load(x, {0, 0}, {8, 6}, true), {0, 0}, y);
  });
  CHECK(message_of<pl::ShapeError>(kernel, two({-1, 6}, {8, 6})) ==
        "kernel.cpp:2:3: add: a tile that is valid only in part meets one whose extents are known only when "
        "the "
        "kernel runs; give both constant shapes, or fill one with pl::fillpad");
  CHECK(same_results(kernel, two({8, 6}, {8, 6})));
}

TEST_CASE("a load that is cut starts inside of its tensor, and without clamp its valid part lies inside") {
  const auto loaded = [](std::int64_t offset, bool clamp, std::int64_t valid) {
    const Kernel kernel = unary([&](KernelBuilder& k, const Expr& x, const Expr& y) {
      k.store(load(x, {offset}, {8}, clamp, {valid}), {0}, y);
    });
    return message_of<pl::ShapeError>(kernel, two({10}, {8}));
  };
  CHECK(loaded(-1, true, 8).find("load: offset -1 with extent 8 on axis 0 is not inside the tensor") !=
        std::string::npos);
  CHECK(loaded(5, true, 8) == "");
  CHECK(loaded(50, true, 8) == "");
  CHECK(loaded(5, false, 5) == "");
  CHECK(loaded(5, false, 6).find("load: offset 5 with extent 6 on axis 0 is not inside the tensor") !=
        std::string::npos);
}

TEST_CASE("a variable keeps its valid shape through a loop and a branch") {
  const Kernel loop = unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
    const Expr sum = k.let("sum", full(DType::Float32, {4, 6}, literal(0.0)));
    k.for_("i", 0, 10, 4, [&](const Expr& i) { k.assign(sum, sum + load(x, {i, 0}, {4, 6}, true)); });
    k.store(sum, {0, 0}, y);
  });
  CHECK(
      message_of<pl::ShapeError>(loop, two({10, 6}, {4, 6})) ==
      "kernel.cpp:4:3: the tile `sum` is valid in [min(10 - i, 4), 6] here and in [4, 6] on another path "
      "(kernel.cpp:2:3); a tile carried through a branch or a loop keeps its valid shape, fill the rest with "
      "pl::fillpad(tile, pl::Pad::zero)");
  CHECK(message_of<pl::ShapeError>(loop, two({16, 6}, {4, 6})) == "");
  const Kernel branch = unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
    const Expr t = k.let("t", load(x));
    k.if_(call(Op::Gt, {call(Op::BlockIdx, {}), literal(0)}), [&] { k.assign(t, set_valid(t, {2, 6})); });
    k.store(t, {0, 0}, y);
  });
  CHECK(message_of<pl::ShapeError>(branch, two({4, 6}, {4, 6}))
            .find("the tile `t` is valid in [4, 6] here and in [2, 6] on another path") != std::string::npos);
}
