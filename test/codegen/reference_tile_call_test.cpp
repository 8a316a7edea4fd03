// Operations on whole tiles: numbers by hand, and what they refuse.
#include "codegen/tile_call.hpp"
#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using reference::CallOperand;

namespace {

const pl::Location place{"kernel.cpp", 12, 3};

Value call(Op op, const std::vector<CallOperand>& operands, const Attributes& attributes = {},
           std::optional<DType> wanted = {}) {
  return reference::tile_call(op, operands, attributes, wanted, place);
}

Attributes along(int axis, int axis2 = 0) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.axis2 = axis2;
  return attributes;
}

Value two_by_three() { return tile<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}); }

std::string refused(Op op, const std::vector<CallOperand>& operands, const Attributes& attributes = {},
                    std::optional<DType> wanted = {}) {
  try {
    (void)call(op, operands, attributes, wanted);
  } catch (const pl::UserError& error) {
    CHECK(error.location().line == 12);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("layout operations move elements where they say") {
  CHECK(same(call(Op::Transpose, {two_by_three()}, along(0, 1)),
             tile<std::int32_t>({3, 2}, {1, 4, 2, 5, 3, 6})));
  CHECK(same(call(Op::Transpose, {two_by_three()}, along(-2, -1)),
             tile<std::int32_t>({3, 2}, {1, 4, 2, 5, 3, 6})));
  CHECK(same(call(Op::TileSlice, {two_by_three(), Shape{1, 1}, Shape{1, 2}}),
             tile<std::int32_t>({1, 2}, {5, 6})));
  CHECK(
      same(call(Op::TileSlice, {two_by_three(), Shape{2, 3}, Shape{0, 0}}), tile<std::int32_t>({0, 0}, {})));
  CHECK(same(call(Op::Assemble, {two_by_three(), tile<std::int32_t>({1, 2}, {8, 9}), Shape{1, 1}}),
             tile<std::int32_t>({2, 3}, {1, 2, 3, 4, 8, 9})));
  CHECK(same(call(Op::Concat, {two_by_three(), tile<std::int32_t>({2, 1}, {8, 9})}, along(1)),
             tile<std::int32_t>({2, 4}, {1, 2, 3, 8, 4, 5, 6, 9})));
  CHECK(same(call(Op::Concat, {two_by_three(), tile<std::int32_t>({1, 3}, {7, 8, 9})}, along(-2)),
             tile<std::int32_t>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})));
  CHECK(same(call(Op::Reshape, {two_by_three(), Shape{3, 1, 2}}),
             tile<std::int32_t>({3, 1, 2}, {1, 2, 3, 4, 5, 6})));
  CHECK(same(call(Op::Reshape, {tile<float>({1, 1}, {2.5f}), Shape{}}), tile<float>({}, {2.5f})));
  CHECK(same(call(Op::Reinterpret, {row<float>({1.0f, -0.0f})}, {}, DType::Int32),
             row<std::int32_t>({0x3f800000, static_cast<std::int32_t>(0x80000000u)})));
  CHECK(same(call(Op::Pad, {row<float>({1, 2}), Shape{1}, Shape{2}, Value::scalar(-1.0f)}),
             row<float>({-1, 1, 2, -1, -1})));
  CHECK(same(call(Op::Expand, {tile<float>({2, 1}, {1, 2}), Shape{2, 2, 3}}),
             tile<float>({2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2})));
  CHECK(same(call(Op::Expand, {tile<float>({}, {7}), Shape{2}}), row<float>({7, 7})));
}

TEST_CASE("arange and tri count as they say") {
  const auto arange = [](auto start, auto step, const Shape& shape) {
    return call(Op::Arange, {shape, Value::scalar(start), Value::scalar(step)}, {},
                dtype_of<decltype(start)>);
  };
  CHECK(same(arange(std::int32_t{3}, std::int32_t{-2}, {2, 3}),
             tile<std::int32_t>({2, 3}, {3, 1, -1, 3, 1, -1})));
  CHECK(same(arange(0.5f, 0.1f, {3}), row<float>({0.5f, 0.5f + 0.1f, 0.5f + 2.0f * 0.1f})));
  CHECK(same(arange(std::numeric_limits<std::int64_t>::max(), std::int64_t{1}, {2}),
             row<std::int64_t>({std::numeric_limits<std::int64_t>::max(), lowest64})));
  const auto tri = [](std::int64_t diagonal, bool upper) {
    Attributes attributes;
    attributes.upper = upper;
    return call(Op::Tri, {Shape{3, 4}, Value::scalar(diagonal)}, attributes, DType::Int32);
  };
  CHECK(same(tri(0, false), tile<std::int32_t>({3, 4}, {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0})));
  CHECK(same(tri(-1, false), tile<std::int32_t>({3, 4}, {0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0})));
  CHECK(same(tri(1, true), tile<std::int32_t>({3, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1})));
  CHECK(same(tri(std::numeric_limits<std::int64_t>::max(), false),
             tile<std::int32_t>({3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})));
  CHECK(same(tri(std::numeric_limits<std::int64_t>::max(), true),
             tile<std::int32_t>({3, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST_CASE("random is Philox4x32-10, whose published first block is known") {
  const auto random = [](DType dtype, std::int64_t count, std::int64_t seed, std::int64_t counter) {
    return call(Op::Random, {Shape{count}, Value::scalar(seed), Value::scalar(counter)}, {}, dtype);
  };
  const Value words = random(DType::Int32, 5, 0, 0);
  const std::uint32_t known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) CHECK(static_cast<std::uint32_t>(words.get<std::int32_t>(i)) == known[i]);
  // The next element begins the block of the next counter; a tile may start there.
  CHECK(words.get<std::int32_t>(4) == random(DType::Int32, 1, 0, 1).get<std::int32_t>());
  // Seed and counter fill 64 bits each.
  CHECK(static_cast<std::uint32_t>(
            random(DType::Int32, 1, (2ll << 32) | 7, (1ll << 32) | 5).get<std::int32_t>()) == 0x7cd0a562);
  CHECK(static_cast<std::uint64_t>(random(DType::Int64, 1, 0, 0).get<std::int64_t>()) == 0xe169c58d6627e8d5u);
  CHECK(random(DType::Float32, 1, 0, 0).get<float>() == static_cast<float>(0x6627e8d5 >> 8) * 0x1p-24f);
  CHECK(random(DType::Float64, 1, 0, 0).get<double>() ==
        static_cast<double>(0xe169c58d6627e8d5u >> 11) * 0x1p-53);
  const Value many = random(DType::Float32, 20000, 42, -3);
  double sum = 0;
  for (std::int64_t i = 0; i < many.size(); ++i) {
    const float x = many.get<float>(i);
    CHECK_MESSAGE((x >= 0 && x < 1), x);
    sum += x;
  }
  CHECK(std::abs(sum / 20000 - 0.5) < 0.01);
}

TEST_CASE("reductions over any axis are those of rows and columns, and keep the axis as 1") {
  const Value x = tile<std::int32_t>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto reduce = [&](Op op, int axis) {
    return reference::apply(op, std::span(&x, 1), along(axis), DType::Int32, place);
  };
  CHECK(same(reduce(Op::Sum, 0), tile<std::int32_t>({1, 3, 2}, {8, 10, 12, 14, 16, 18})));
  CHECK(same(reduce(Op::Sum, -2), tile<std::int32_t>({2, 1, 2}, {9, 12, 27, 30})));
  CHECK(same(reduce(Op::Prod, 2), tile<std::int32_t>({2, 3, 1}, {2, 12, 30, 56, 90, 132})));
  CHECK(same(reduce(Op::Max, 0), tile<std::int32_t>({1, 3, 2}, {7, 8, 9, 10, 11, 12})));
  CHECK(same(reduce(Op::Min, 1), tile<std::int32_t>({2, 1, 2}, {1, 2, 7, 8})));
  const Value f = tile<float>({2, 1, 1}, {1, 4});
  CHECK(same(reference::apply(Op::Mean, std::span(&f, 1), along(0), DType::Float32, place),
             tile<float>({1, 1, 1}, {2.5f})));
}

TEST_CASE("what does not fit is refused with what was given, what was expected and how to mend it") {
  const auto has = [](const std::string& message, const std::string& part) {
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  const Value wide = tile<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  has(refused(Op::Transpose, {wide}, along(0, 2)),
      "transpose: axis 2 of a tile of rank 2; axes are 0 to rank - 1");
  has(refused(Op::Transpose, {Value::scalar(1.0f)}), "transpose: operand 0 must be a tile, not a scalar");
  has(refused(Op::TileSlice, {wide, Shape{0, 2}, Shape{2, 2}}),
      "tile_slice: axis 1: offset 2 with extent 2 is not inside the extent 3; make the region smaller");
  has(refused(Op::TileSlice, {wide, Shape{0}, Shape{2, 2}}),
      "tile_slice: 1 offsets for rank 2; give one for each");
  has(refused(Op::TileSlice, {wide, Shape{0, -1}, Shape{2, 2}}), "offset -1 with extent 2 is not inside");
  has(refused(Op::TileSlice, {wide, Shape{0, 0}, Shape{2, -2}}), "axis 1 has the negative extent -2");
  has(refused(Op::Assemble, {wide, row<float>({1}), Shape{0, 0}}),
      "assemble: a block of shape [1] in a tile of shape [2, 3]; both must have one rank");
  has(refused(Op::Assemble, {wide, tile<double>({1, 1}, {1}), Shape{0, 0}}),
      "assemble: the operands are float and double, and dtypes are not mixed; convert one with "
      "pl::cast<float>");
  has(refused(Op::Concat, {wide, tile<float>({1, 3}, {1, 2, 3})}, along(1)),
      "concat: the extents along axis 0 are 2 and 1 and must be equal");
  has(refused(Op::Concat, {wide, row<float>({1})}),
      "concat: tiles of shapes [2, 3] and [1]; all must have one rank");
  has(refused(Op::Reshape, {wide, Shape{4, 2}}),
      "reshape: the elements of the tile and of the new shape are 6 and 8 and must be equal");
  has(refused(Op::Reshape, {wide, Shape{1, 1, 1, 1, 1, 1, 1, 2, 3}}),
      "a result of rank 9 is above the largest, 8");
  has(refused(Op::Reinterpret, {wide}, {}, DType::Float64),
      "float has 4 bytes and double 8; only dtypes of one size");
  has(refused(Op::Reinterpret, {tile<bool>({1}, {true})}, {}, DType::Int8), "the tile is bool");
  has(refused(Op::Pad, {wide, Shape{0, 0}, Shape{-1, 0}, Value::scalar(0.0f)}),
      "pad: elements behind, axis 0 is -1 and must be 0 or more");
  has(refused(Op::Pad, {wide, Shape{0, 0}, Shape{0, 0}, Value::scalar(0)}),
      "operand 3 is int32 and must be float");
  has(refused(Op::Expand, {wide, Shape{2, 4}}),
      "expand: the extents along axis 1 are 3 and 4 and must be equal");
  has(refused(Op::Expand, {wide, Shape{3}}), "the new shape must have at least the rank of the tile");
  has(refused(Op::Tri, {Shape{2}, Value::scalar(std::int64_t{0})}, {}, DType::Float32),
      "a triangle has 2 axes, not 1");
  has(refused(Op::Random, {Shape{-2}, Value::scalar(std::int64_t{0}), Value::scalar(std::int64_t{0})}, {},
              DType::Float32),
      "random: extent of the result, axis 0 is -2 and must be 0 or more");
}

TEST_CASE("what index and layout operations refuse: block tables, lengths, sources, no tile at all") {
  Value pages(DType::Float32, {4, 2, 3});
  const TensorView view{DType::Float32, pages.bytes.data(), {4, 2, 3}, {6, 3, 1}};
  const auto paged = [&](const Value& table, const Value& lengths) {
    return refused(Op::PagedGather, {view, Shape{}, Shape{}, table, lengths, Value::scalar(std::int64_t{2}),
                                     Value::scalar(std::int64_t{0})});
  };
  const Value table = tile<std::int32_t>({2, 2}, {0, 1, 2, 3});
  CHECK(paged(table, tile<std::int32_t>({2, 1}, {1, 1}))
            .find("needs lengths of rank 1 or one scalar, not lengths of shape [2, 1]") != std::string::npos);
  CHECK(paged(tile<std::int32_t>({}, {0}), row<std::int32_t>({1}))
            .find("the block table has rank 0 and must have an axis of entries") != std::string::npos);
  CHECK(refused(Op::Scatter, {two_by_three(), tile<std::int32_t>({2, 1}, {0, 1}), row<std::int32_t>({1})},
                along(-1))
            .find("must have one shape") != std::string::npos);
  CHECK(refused(Op::Concat, {}, along(0)).find("there is no tile; give at least one") != std::string::npos);
  CHECK(refused(Op::GatherRow, {tile<float>({}, {1.0f}), row<std::int32_t>({0})})
            .find("gather_row: a tile of rank 0 has no rows") != std::string::npos);
  CHECK(refused(Op::ColArgmax, {row<float>({1, 2})})
            .find("col_argmax: needs a tile of rank 2 or more, not shape [2]") != std::string::npos);
  CHECK(refused(Op::Pad, {row<float>({1, 2}), Shape{1}, Shape{1}, row<float>({1})})
            .find("operand 3 must be a scalar, not a tile of shape [1]") != std::string::npos);
  CHECK(refused(Op::Write, {row<float>({1, 2}), Shape{1}, row<float>({1})})
            .find("the element must be a scalar, not a tile of shape [1]") != std::string::npos);
  CHECK(refused(Op::Arange, {Shape{3}, Value::scalar(true), Value::scalar(true)}, {}, DType::Bool)
            .find("arange: there is no such tile of bool") != std::string::npos);
}

TEST_CASE("a reduction over an axis of a scalar, and the valid extents of one, are refused") {
  Attributes attributes;
  const Value scalar = Value::scalar(1.0f);
  CHECK(message_of<pl::ShapeError>([&] {
          (void)reference::apply(Op::Sum, std::span(&scalar, 1), attributes, DType::Float32, place);
        }).find("sum needs a tile, not a scalar") != std::string::npos);
  CHECK(message_of<pl::ShapeError>([&] {
          (void)reference::fillpad(scalar, Fill::Zero, place);
        }).find("fillpad: a scalar has no shape") != std::string::npos);
  CHECK(message_of<pl::ShapeError>([&] {
          (void)reference::set_valid(scalar, {1}, place);
        }).find("set_valid: a scalar has no shape") != std::string::npos);
}
