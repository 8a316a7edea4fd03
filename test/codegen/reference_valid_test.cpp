// Partly valid tiles: numbers by hand, and how a kernel with them reads as text, as C++ and as JSON.
#include "codegen/builder.hpp"
#include "codegen/cpp_printer.hpp"
#include "codegen/json.hpp"
#include "codegen/printer.hpp"
#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using reference::fillpad;
using reference::set_valid;

namespace {

const pl::Location place{"kernel.cpp", 12, 3};

Value ones_to(std::int64_t rows, std::int64_t columns) {
  Value value(DType::Int32, {rows, columns});
  for (std::int64_t i = 0; i < value.size(); ++i)
    value.data<std::int32_t>()[i] = static_cast<std::int32_t>(i + 1);
  return value;
}

/// [[1 2 3] [4 5 6]], of which `rows` and `columns` are valid.
Value part(std::int64_t rows, std::int64_t columns) {
  return set_valid(ones_to(2, 3), {rows, columns}, place);
}

Value reduced(Op op, const Value& x, int axis) {
  Attributes attributes;
  attributes.axis = axis;
  return reference::apply(op, std::span(&x, 1), attributes, x.dtype, place);
}

Value zeros_behind(const Value& x) { return fillpad(x, Fill::Zero, place); }

}  // namespace

TEST_CASE("set_valid keeps a box at the origin, and only makes it smaller") {
  CHECK(same(part(1, 2), tile<std::int32_t>({1, 2}, {1, 2})));
  CHECK(part(1, 2).whole_shape() == Shape{2, 3});
  CHECK(part(9, 9).physical.empty());
  CHECK(part(-4, 2).shape == Shape{0, 2});
  CHECK(set_valid(part(1, 2), {2, 1}, place).shape == Shape{1, 1});
  CHECK(set_valid(part(1, 2), {2, 1}, place).whole_shape() == Shape{2, 3});
}

TEST_CASE("fillpad writes what it is told behind the valid box") {
  CHECK(same(zeros_behind(part(1, 2)), tile<std::int32_t>({2, 3}, {1, 2, 0, 0, 0, 0})));
  CHECK(same(fillpad(part(2, 1), Fill::Max, place),
             tile<std::int32_t>({2, 3}, {1, INT32_MAX, INT32_MAX, 4, INT32_MAX, INT32_MAX})));
  const Value x = set_valid(tile<float>({2}, {1, 2}), {1}, place);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(same(fillpad(x, Fill::Min, place), tile<float>({2}, {1, -infinity})));
  const Value b = set_valid(tile<bool>({3}, {true, true, true}), {1}, place);
  CHECK(same(fillpad(b, Fill::Max, place), tile<bool>({3}, {true, true, true})));
  CHECK(same(fillpad(b, Fill::Min, place), tile<bool>({3}, {true, false, false})));
}

TEST_CASE("a load is valid as far as its tensor goes, and as far as it is told") {
  Value x = ones_to(2, 3);
  const TensorView view = view_of(x);
  const auto loaded = [&](const Shape& offsets, bool clamp, std::optional<Shape> valid = {}) {
    return reference::load(view, offsets, {2, 4}, clamp, valid, place);
  };
  CHECK(same(loaded({1, 1}, true), tile<std::int32_t>({1, 2}, {5, 6})));
  CHECK(loaded({1, 1}, true).whole_shape() == Shape{2, 4});
  CHECK(loaded({7, 0}, true).shape == Shape{0, 3});
  CHECK(same(loaded({0, 1}, false, Shape{2, 1}), tile<std::int32_t>({2, 1}, {2, 5})));
  CHECK(same(loaded({0, 2}, true, Shape{1, 4}), tile<std::int32_t>({1, 1}, {3})));
  CHECK_THROWS_AS((void)loaded({-1, 0}, true), pl::ShapeError);
  CHECK_THROWS_AS((void)loaded({0, 1}, false, Shape{2, 3}), pl::ShapeError);
}

TEST_CASE("an operation gives what is valid in all operands; an axis of extent 1 repeats") {
  const Value sum = reference::apply(Op::Add, {part(1, 3), part(2, 2)}, place);
  CHECK(same(sum, tile<std::int32_t>({1, 2}, {2, 4})));
  CHECK(sum.whole_shape() == Shape{2, 3});
  const Value row = set_valid(tile<std::int32_t>({1, 3}, {10, 20, 30}), {1, 2}, place);
  CHECK(same(reference::apply(Op::Add, {part(2, 3), row}, place),
             tile<std::int32_t>({2, 2}, {11, 22, 14, 25})));
  const Value nothing = set_valid(row, {0, 3}, place);
  CHECK(reference::apply(Op::Add, {part(2, 3), nothing}, place).shape == Shape{0, 2});
  CHECK(reference::apply(Op::Add, {part(2, 3), nothing}, place).whole_shape() == Shape{2, 3});
}

TEST_CASE("reductions see valid cells only") {
  CHECK(same(reduced(Op::Sum, part(2, 2), 1), tile<std::int32_t>({2, 1}, {3, 9})));
  CHECK(same(reduced(Op::Sum, part(1, 2), 0), tile<std::int32_t>({1, 2}, {1, 2})));
  CHECK(reduced(Op::Sum, part(1, 2), 0).whole_shape() == Shape{1, 3});
  CHECK(same(reduced(Op::Max, part(2, 0), 1), tile<std::int32_t>({2, 1}, {INT32_MIN, INT32_MIN})));
  const Value x = part(2, 2);
  CHECK(same(reference::apply(Op::RowMax, {x}, place), tile<std::int32_t>({2, 1}, {2, 5})));
  CHECK(reference::apply(Op::RowMax, {x}, place).physical.empty());
}

TEST_CASE("tile calls move, order and multiply valid cells") {
  Attributes axes;
  axes.axis2 = 1;
  const Value turned =
      reference::tile_call(Op::Transpose, std::vector<reference::CallOperand>{part(1, 2)}, axes, {}, place);
  CHECK(same(turned, tile<std::int32_t>({2, 1}, {1, 2})));
  CHECK(turned.whole_shape() == Shape{3, 2});
  Value a = tile<float>({2, 2}, {1, 2, 3, 4}), b = tile<float>({2, 2}, {5, 6, 7, 8});
  const Value product = reference::tile_call(
      Op::Matmul,
      std::vector<reference::CallOperand>{set_valid(a, {2, 1}, place), set_valid(b, {2, 1}, place)}, {}, {},
      place);
  CHECK(same(product, tile<float>({2, 1}, {5, 15})));
  CHECK(product.whole_shape() == Shape{2, 2});
  Attributes last;
  last.axis = 1;
  const Value order =
      reference::tile_call(Op::SortIndices, std::vector<reference::CallOperand>{part(1, 2)}, last, {}, place);
  CHECK(same(order, tile<std::int32_t>({1, 2}, {0, 1})));
}

TEST_CASE("a store writes the valid cells only") {
  Value y(DType::Int32, {2, 3});
  reference::store(part(2, 1), {0, 2}, view_of(y), place);
  CHECK(same(y, tile<std::int32_t>({2, 3}, {0, 0, 1, 0, 0, 4})));
}

TEST_CASE("how a kernel with partly valid tiles reads") {
  using namespace build;
  KernelBuilder k("cut");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr t = k.let("t", load(x, {4}, {8}, true, {integer(7)}));
  k.store(fillpad(set_valid(t, {valid(t, 0) - integer(1)}), Fill::Max), {0}, y);
  const Kernel kernel = k.take();
  const std::string text = to_text(kernel), cpp = to_cpp(kernel);
  CHECK(text.find("t = load x[4 : 8] clamp valid [7]") != std::string::npos);
  CHECK(text.find("fillpad(set_valid(t, [valid(t, 0) - 1]), max)") != std::string::npos);
  CHECK(cpp.find("pl::load(x, {4}, {8}, {.clamp = true, .valid = {7}})") != std::string::npos);
  CHECK(cpp.find("pl::fillpad(pl::set_valid(t, {pl::sub(t.valid(0), std::int64_t{1})}), pl::Pad::max)") !=
        std::string::npos);
  CHECK(kernel_from_json(to_json(kernel)) == kernel);
}
