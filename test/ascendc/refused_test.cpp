// What the AscendC emitter refuses, and how it says so.
#include "ascendc/emitted.hpp"
#include "codegen/error.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;

namespace {

std::string refusal_of(const Kernel& kernel, const std::vector<Given>& arguments) {
  try {
    (void)emit(kernel, arguments);
  } catch (const pl::UserError& error) {
    return error.what();
  }
  return "emitted";
}

bool says(const std::string& message, const char* words) { return message.find(words) != std::string::npos; }

constexpr DType f32 = DType::Float32;

}  // namespace

TEST_CASE("an operation without a lowering is refused by name, dtype and reason") {
  const DType f64 = DType::Float64;
  const std::string message =
      refusal_of(elementwise(Op::Pow, f64, 2, f64), {{f64, {8, 8}}, {f64, {8, 8}}, {f64, {8, 8}}});
  CAPTURE(message);
  CHECK(says(message,
             "AscendC: load of double cannot be emitted: the vector unit of this class has no double"));
  CHECK(says(message, "kernel.cpp:2"));
}

TEST_CASE("scalars of double are refused") {
  KernelBuilder k("scaled");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr factor = k.scalar("factor", DType::Float64);
  k.store(load(x) * cast(f32, factor + factor), {0, 0}, y);
  const std::string message = refusal_of(k.take(), {{f32, {8, 8}}, {f32, {8, 8}}, scalar(DType::Float64)});
  CAPTURE(message);
  CHECK(says(message, "the device has no double; use float"));
}

TEST_CASE("a collective of a part of a window of a length that only the run knows is refused") {
  KernelBuilder k("part");
  const Expr w = k.window("w", f32, {{8}}), n = k.scalar("n", DType::Int64);
  k.remote(Op::Allreduce, {build::slice(w, {0}, {n}), build::list({}), build::list({})});
  const std::string message = refusal_of(k.take(), {{f32, {8}}, scalar(DType::Int64)});
  CAPTURE(message);
  CHECK(says(message, "AscendC: pld::allreduce of a part of a window whose extent"));
  CHECK(says(message, "is computed when the kernel runs; give it constant extents"));
}

TEST_CASE("operations on whole tiles are refused by name where they have no lowering") {
  KernelBuilder k("sorted");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, DType::Int32);
  Attributes rows;
  rows.axis = -1;
  k.store(k.let("order", tile_call(Op::SortIndices, {k.let("tile", load(x))}, rows, DType::Int32)), {0, 0},
          y);
  const std::string message = refusal_of(k.take(), {{f32, {2, 20000}}, {DType::Int32, {2, 20000}}});
  CAPTURE(message);
  CHECK(says(message,
             "a line of 20000 elements along its axis does not fit into 49152 bytes of the unified buffer"));
  KernelBuilder d("doubles");
  const Expr a = d.tensor("a", Access::In, DType::Float64), c = d.tensor("c", Access::Out, DType::Float64);
  const Expr tile = d.let("tile", load(a));
  d.store(d.let("product", tile_call(Op::Matmul, {tile, tile})), {0, 0}, c);
  const std::string cube = refusal_of(d.take(), {{DType::Float64, {8, 8}}, {DType::Float64, {8, 8}}});
  CAPTURE(cube);
  CHECK(says(cube, "the cube unit of this class has no double; use float"));
}

TEST_CASE("a product in control flow that depends on an element of a tile is refused") {
  KernelBuilder k("guarded");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr tile = k.let("tile", load(x));
  const Expr doubled = k.let("doubled", tile + tile);
  const Expr first = k.let("first", read(doubled, {0, 0}));
  k.if_(first > literal(0.5),
        [&] { k.store(k.let("product", tile_call(Op::Matmul, {tile, tile})), {0, 0}, y); });
  const std::string message = refusal_of(k.take(), {{f32, {8, 8}}, {f32, {8, 8}}});
  CAPTURE(message);
  CHECK(says(message, "that depends on an element of a tile, which the cube core cannot see"));
}

TEST_CASE("tiles that cannot be in the unified buffer at once are named with their sizes") {
  KernelBuilder k("deep");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  constexpr int terms = 760;
  std::vector<Expr> loaded;
  for (int i = 0; i < terms; ++i)
    loaded.push_back(k.let("row" + std::to_string(i), load(x, {i, 0}, {1, 64})));
  Expr sum = loaded.back();
  for (int i = terms - 1; i-- > 0;)
    sum = k.let("sum" + std::to_string(i), loaded[static_cast<std::size_t>(i)] + sum);
  k.store(sum, {0, 0}, y);
  const std::string message = refusal_of(k.take(), {{f32, {terms, 64}}, {f32, {1, 64}}});
  CAPTURE(message.substr(0, 200));
  CHECK(says(message, "bytes of unified buffer, of which there are 188160"));
  CHECK(says(message, "row7: 256 bytes"));
  CHECK(says(message, "Load tiles of fewer rows in a loop"));
}

TEST_CASE("an atomic store of a dtype that device memory does not add is refused") {
  for (const DType dtype : {DType::Int64, DType::UInt32}) {
    KernelBuilder k("adds");
    const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::InOut, dtype);
    k.store(load(x), {0, 0}, y, Atomic::Add);
    const std::string message = refusal_of(k.take(), {{dtype, {8, 8}}, {dtype, {8, 8}}});
    CAPTURE(message);
    CHECK(says(message, "device memory adds float, half, bfloat16, int32, int16 and int8 alone"));
  }
}
