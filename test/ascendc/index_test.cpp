// Tiles made from numbers, and elements chosen by position or found by value, on the model against the interpreter.
#include "ascendc/on_model.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;
using emitter_test::ArgumentSpec;
using emitter_test::TensorSpec;
using namespace trilith::codegen::build;

namespace {

using Extents = std::vector<std::int64_t>;

constexpr DType numbers[] = {DType::Int8,   DType::Int16,   DType::Int32,    DType::UInt8,  DType::UInt16,
                             DType::UInt32, DType::Float16, DType::BFloat16, DType::Float32};

Attributes along(std::int32_t axis, bool flag = false) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.flag = flag;
  return attributes;
}

/// y = op(x0, more…)
void check(Op op, DType dtype, const Extents& x, const Extents& y, DType result, std::vector<Expr> more = {},
           const Attributes& attributes = {}, double tolerance = 0) {
  CAPTURE(operation(op).name);
  CAPTURE(name_of(dtype));
  KernelBuilder k("index");
  std::vector<Expr> operands{k.let("tile", load(k.tensor("x", Access::In, dtype)))};
  for (Expr& operand : more) operands.push_back(std::move(operand));
  const Expr out = k.tensor("y", Access::Out, result);
  k.store(k.let("found", tile_call(op, std::move(operands), attributes, result)), Items(y.size(), Item(0)),
          out);
  agrees(k.take(), {TensorSpec{x, dtype}, TensorSpec{y, result}}, {.tolerance = tolerance});
}

/// Indices inside [0, bound), computed from a tile of any int32.
Expr indices(KernelBuilder& k, const Expr& tensor, int bound) {
  const Expr raw = k.let("raw", load(tensor));
  return k.let("indices", call(Op::Rem, {raw, literal(bound)}));
}

}  // namespace

TEST_CASE(
    "positions of extremes, sums and orders along either axis agree with the reference, of every dtype") {
  for (const DType dtype : numbers) {
    check(Op::RowArgmax, dtype, {5, 17}, {5, 1}, DType::Int32);
    check(Op::ColArgmin, dtype, {13, 3}, {1, 3}, DType::Int32);
    check(Op::Cumsum, dtype, {3, 15}, {3, 15}, dtype, {}, along(dtype == DType::Float32 ? 0 : 1));
    check(Op::Cumsum, dtype, {2, 601}, {2, 601}, dtype, {}, along(1));
    check(Op::SortIndices, dtype, {3, 31}, {3, 31}, DType::Int32, {}, along(-1, size_of(dtype) == 2));
    check(Op::TopkIndices, dtype, {19, 3}, {7, 3}, DType::Int32, {integer(7)}, along(0, size_of(dtype) != 2));
  }
}

TEST_CASE("running sums are those of double arithmetic, whatever cancels or overflows a float on the way") {
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32})
    for (const int power : {1, dtype == DType::Float16 ? 5 : 62}) {
      CAPTURE(name_of(dtype));
      CAPTURE(power);
      KernelBuilder k("sums");
      const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
      const Expr tile = k.let("tile", load(x));
      Expr product = tile;
      for (int i = 1; i < power; ++i) product = product * tile;
      const Expr wide = k.let("wide", product);
      k.store(k.let("sums", tile_call(Op::Cumsum, {wide}, along(1))), {0, 0}, y);
      const Kernel kernel = k.take();
      for (const bool special : {false, true})
        agrees(kernel, {TensorSpec{{6, special ? 5 : 601}, dtype}, TensorSpec{{6, special ? 5 : 601}, dtype}},
               {.special_values = special});
    }
}

TEST_CASE("rows and elements at indices agree with the reference, and so does what is put there") {
  for (const DType dtype : {DType::Int8, DType::Int64, DType::UInt16, DType::BFloat16, DType::Float32})
    for (const std::int32_t axis : {0, 1}) {
      CAPTURE(name_of(dtype));
      CAPTURE(axis);
      KernelBuilder k("choose");
      const Expr x = k.tensor("x", Access::In, dtype), i = k.tensor("i", Access::In, DType::Int32),
                 s = k.tensor("s", Access::In, dtype), g = k.tensor("g", Access::Out, dtype),
                 p = k.tensor("p", Access::Out, dtype), q = k.tensor("q", Access::Out, dtype);
      const Expr tile = k.let("tile", load(x)), at = indices(k, i, 13), source = k.let("source", load(s));
      k.store(k.let("chosen", tile_call(Op::Gather, {tile, at}, along(axis))), {0, 0}, g);
      k.store(k.let("put", tile_call(Op::Scatter, {tile, at, source}, along(axis))), {0, 0}, p);
      k.store(k.let("added", tile_call(Op::ScatterAdd, {tile, at, source}, along(axis))), {0, 0}, q);
      agrees(k.take(),
             {TensorSpec{{13, 13}, dtype}, TensorSpec{{13, 13}, DType::Int32}, TensorSpec{{13, 13}, dtype},
              TensorSpec{{13, 13}, dtype}, TensorSpec{{13, 13}, dtype}, TensorSpec{{13, 13}, dtype}});
    }
  KernelBuilder k("rows");
  const Expr x = k.tensor("x", Access::In, DType::Float16), i = k.tensor("i", Access::In, DType::Int32),
             y = k.tensor("y", Access::Out, DType::Float16);
  const Expr table = k.let("table", load(x)), at = indices(k, i, 11);
  k.store(k.let("rows", tile_call(Op::GatherRow, {table, at})), {0, 0}, y);
  agrees(k.take(), {TensorSpec{{11, 37}, DType::Float16}, TensorSpec{{17}, DType::Int32},
                    TensorSpec{{17, 37}, DType::Float16}});
}

TEST_CASE(
    "rows of sequences that lie in pages are those of the reference, with a length for all and one for "
    "each") {
  for (const DType dtype : {DType::BFloat16, DType::Float32, DType::UInt8})
    for (const bool each : {false, true}) {
      CAPTURE(name_of(dtype));
      CAPTURE(each);
      KernelBuilder k("pages");
      const Expr pages = k.tensor("pages", Access::In, dtype), t = k.tensor("t", Access::In, DType::Int32),
                 l = k.tensor("l", Access::In, DType::Int32), y = k.tensor("y", Access::Out, dtype);
      const Expr table = indices(k, t, 5);
      const Expr length = each ? k.let("lengths", call(Op::Rem, {k.let("raw_lengths", load(l)), literal(12)}))
                               : k.let("length", integer(7));
      // 4 pages of 3 rows each for a sequence; 6 rows from number 2 on.
      k.store(k.let("rows",
                    tile_call(Op::PagedGather,
                              {pages, list({}), list({}), table, length, integer(6), integer(2)}, {}, dtype)),
              {0, 0, 0}, y);
      agrees(k.take(), {TensorSpec{{5, 3, 17}, dtype}, TensorSpec{{2, 4}, DType::Int32},
                        TensorSpec{{2}, DType::Int32}, TensorSpec{{2, 6, 17}, dtype}});
    }
}

TEST_CASE("counting tiles, triangles and random numbers are those of the reference") {
  for (const DType dtype : numbers) {
    CAPTURE(name_of(dtype));
    KernelBuilder k("numbers");
    const Expr a = k.tensor("a", Access::Out, dtype), t = k.tensor("t", Access::Out, dtype),
               r = k.tensor("r", Access::Out, dtype);
    const auto of = [&](int value) {
      return constant(is_floating(dtype) ? Constant::rounded(dtype, value * 0.25)
                                         : Constant::of(dtype, value));
    };
    k.store(k.let("count", tile_call(Op::Arange, {list({3, 17}), of(5), of(3)}, {}, dtype)), {0, 0}, a);
    k.store(k.let("half", tile_call(Op::Tri, {list({9, 7}), integer(-2)}, {}, dtype)), {0, 0}, t);
    k.store(k.let("any", tile_call(Op::Random, {list({5, 13}), integer(42), integer(7)}, {}, dtype)), {0, 0},
            r);
    agrees(k.take(), {TensorSpec{{3, 17}, dtype}, TensorSpec{{9, 7}, dtype}, TensorSpec{{5, 13}, dtype}});
  }
}
