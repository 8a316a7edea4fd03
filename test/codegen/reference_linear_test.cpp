// The reference's products against numbers worked out by hand.
#include "codegen/reference.hpp"
#include "values.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace trilith::codegen;

namespace {

template <class T>
Value tile(Shape shape, std::initializer_list<double> elements) {
  Value value(dtype_of<T>, std::move(shape));
  std::size_t i = 0;
  for (const double element : elements) value.data<T>()[i++] = static_cast<T>(element);
  return value;
}

Value run(Op op, std::initializer_list<Value> operands, bool trans_a = false, bool trans_b = false) {
  std::vector<reference::CallOperand> list(operands.begin(), operands.end());
  Attributes attributes;
  attributes.trans_a = trans_a;
  attributes.trans_b = trans_b;
  return reference::tile_call(op, list, attributes, {}, {});
}

template <class T>
void check(const Value& value, const Shape& shape, std::initializer_list<double> elements) {
  CHECK(value.dtype == dtype_of<T>);
  CHECK(value.shape == shape);
  std::int64_t i = 0;
  for (const double element : elements) CHECK(static_cast<double>(value.get<T>(i++)) == element);
}

}  // namespace

TEST_CASE("matmul, transposed or not, with a start") {
  const Value a = tile<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b = tile<float>({3, 2}, {7, 8, 9, 10, 11, 12});
  check<float>(run(Op::Matmul, {a, b}), {2, 2}, {58, 64, 139, 154});
  check<float>(run(Op::Matmul, {a, a}, false, true), {2, 2}, {14, 32, 32, 77});
  check<float>(run(Op::Matmul, {a, a}, true, false), {3, 3}, {17, 22, 27, 22, 29, 36, 27, 36, 45});
  check<float>(run(Op::Matmul, {b, a}, true, true), {2, 2}, {58, 139, 64, 154});
  check<float>(run(Op::MatmulAcc, {tile<float>({2, 2}, {1, 2, 3, 4}), a, b}), {2, 2}, {59, 66, 142, 158});
  check<float>(run(Op::MatmulBias, {a, b, tile<float>({2}, {10, 20})}), {2, 2}, {68, 84, 149, 174});
}

TEST_CASE("batches broadcast, vectors have no axis of their own") {
  const Value a = tile<double>({2, 1, 2}, {1, 2, 3, 4}), b = tile<double>({2, 2}, {5, 6, 7, 8});
  check<double>(run(Op::BatchMatmul, {a, b}), {2, 1, 2}, {19, 22, 43, 50});
  check<double>(run(Op::Gemv, {b, tile<double>({2}, {1, 10})}), {2}, {65, 87});
  check<double>(run(Op::Gemv, {tile<double>({2}, {1, 10}), b}), {2}, {75, 86});
  check<double>(run(Op::Dot, {tile<double>({2}, {1, 10}), tile<double>({2}, {3, 4})}), {1}, {43});
}

TEST_CASE("an empty sum is the start, to the sign of a zero") {
  check<float>(run(Op::Matmul, {tile<float>({1, 0}, {}), tile<float>({0, 2}, {})}), {1, 2}, {0, 0});
  const Value kept =
      run(Op::MatmulBias, {tile<float>({1, 0}, {}), tile<float>({0, 1}, {}), tile<float>({1}, {-0.0})});
  CHECK(std::signbit(kept.get<float>()));
}

TEST_CASE("int8 is summed in int32 and NaN stays in its row") {
  check<std::int32_t>(
      run(Op::Matmul, {tile<std::int8_t>({1, 2}, {-128, 127}), tile<std::int8_t>({2, 1}, {-128, -128})}),
      {1, 1}, {16384 - 127 * 128});
  const Value c = run(Op::Matmul, {tile<float>({2, 2}, {1, NAN, 1, 1}), tile<float>({2, 1}, {0, 2})});
  CHECK(std::isnan(c.get<float>(0)));
  CHECK(c.get<float>(1) == 2);
}
