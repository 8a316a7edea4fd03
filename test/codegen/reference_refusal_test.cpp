#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;

namespace {
const pl::Location place{"kernel.cpp", 7, 3};

std::string shape_error(Op op, std::vector<Value> operands) {
  return message_of<pl::ShapeError>([&] { (void)reference::apply(op, operands, {}, DType::Float32, place); });
}
std::string dtype_error(Op op, std::vector<Value> operands, DType result = DType::Float32) {
  return message_of<pl::DtypeError>([&] { (void)reference::apply(op, operands, {}, result, place); });
}
Value zeros(Shape shape) { return Value(DType::Float32, std::move(shape)); }
}  // namespace

TEST_CASE("shapes that do not broadcast are an error with both shapes and the axis") {
  CHECK(shape_error(Op::Add, {zeros({8, 4}), zeros({8, 3})}) ==
        "kernel.cpp:7:3: add: shapes [8, 4] and [8, 3] do not broadcast: axis 1 has 4 and 3; extents must be "
        "equal "
        "or 1");
  CHECK_CONTAINS(shape_error(Op::Fma, {zeros({1}), zeros({2}), zeros({0})}), "axis 0 has 2 and 0");
}

TEST_CASE("mixed dtypes are an error that names pl::cast") {
  CHECK(dtype_error(Op::Add, {row({1.0f}), row<std::int32_t>({1})}) ==
        "kernel.cpp:7:3: add: the operands are float and int32, and dtypes are not mixed; convert one with "
        "pl::cast<float>(...)");
  CHECK_CONTAINS(dtype_error(Op::Where, {row({true}), row({1.0f}), row({1.0})}), "float and double");
  CHECK_CONTAINS(dtype_error(Op::Where, {row({1.0f}), row({1.0f}), row({1.0f})}),
                 "the condition is float and must be bool");
}

TEST_CASE("a dtype that an operation does not take is an error that lists those it takes") {
  CHECK(dtype_error(Op::Exp, {row<std::int32_t>({1})}) ==
        "kernel.cpp:7:3: exp takes floats, not int32; convert with pl::cast<float>(...)");
  CHECK_CONTAINS(dtype_error(Op::Add, {row({true}), row({true})}), "add takes integers and floats, not bool");
  CHECK_CONTAINS(dtype_error(Op::LogicalAnd, {row({1.0f}), row({1.0f})}), "takes bool, not float");
  CHECK_CONTAINS(dtype_error(Op::Shl, {row({1.0f}), row({1.0f})}), "pl::cast<std::int32_t>");
}

TEST_CASE("a reduction needs the axis it reduces") {
  CHECK_CONTAINS(shape_error(Op::ColSum, {zeros({3})}),
                 "col_sum needs a tile of rank 2 or more, not shape [3]");
  CHECK_CONTAINS(shape_error(Op::RowSum, {zeros({})}), "rank 1 or more, not shape []");
  CHECK_CONTAINS(shape_error(Op::RowMax, {Value::scalar(1.0f)}), "not a scalar");
}

TEST_CASE("a region outside its tensor is an error with the axis and the numbers") {
  Value memory = zeros({4, 8});
  const TensorView x = view_of(memory);
  const auto load_error = [&](Shape offsets, Shape shape) {
    return message_of<pl::ShapeError>([&] { (void)reference::load(x, offsets, shape, place); });
  };
  CHECK(load_error({0, 4}, {4, 5}) ==
        "kernel.cpp:7:3: load: offset 4 with extent 5 on axis 1 is not inside the tensor, whose extent is 8; "
        "make the region smaller or move it inside");
  CHECK_CONTAINS(load_error({-1, 0}, {1, 1}), "offset -1");
  CHECK_CONTAINS(load_error({5, 0}, {0, 1}), "offset 5");
  CHECK_CONTAINS(load_error({highest64, 0}, {2, 1}), "is not inside");
  CHECK_CONTAINS(load_error({0, 0}, {highest64, 1}), "more elements than memory can hold");
  CHECK_CONTAINS(load_error({0, 0}, {-1, 1}), "negative extent");
  CHECK_CONTAINS(load_error({0}, {4}), "the tensor has rank 2, but 1 offsets and a shape of rank 1");
}

TEST_CASE("a store of the wrong thing is an error and writes nothing") {
  Value memory = zeros({2, 2});
  const TensorView y = view_of(memory);
  CHECK_CONTAINS(message_of<pl::ShapeError>([&] { reference::store(Value::scalar(1.0f), {0, 0}, y, place); }),
                 "a scalar is no tile; make one of the shape to be written with pl::full");
  CHECK_CONTAINS(
      message_of<pl::DtypeError>([&] { reference::store(tile<double>({1, 1}, {1}), {0, 0}, y, place); }),
      "the tile is double and the tensor float; convert the tile with pl::cast<float>");
  CHECK_CONTAINS(
      message_of<pl::ShapeError>([&] { reference::store(tile<float>({1, 2}, {1, 2}), {0, 1}, y, place); }),
      "store: offset 1 with extent 2 on axis 1");
  CHECK_SAME(memory, zeros({2, 2}));
}

TEST_CASE("shapes beyond reason are refused before memory is asked for") {
  const auto full_error = [](Shape shape) {
    return message_of<pl::ShapeError>([&] { (void)reference::full(shape, Value::scalar(1.0f)); });
  };
  CHECK_CONTAINS(full_error({highest64, 2}), "more elements than memory can hold");
  CHECK_CONTAINS(full_error({-2}), "negative extent");
  CHECK_CONTAINS(full_error(Shape(9, 1)), "rank 9 is above 8");
  CHECK_CONTAINS(message_of<pl::ShapeError>([] { (void)reference::full({2}, Value(DType::Float32, {3})); }),
                 "full: the element must be a scalar, not a tile of shape [3]");
}
