// test/device/against_reference.hpp -- one operation of the device header against the reference's, bit for bit.
//
// The file that includes this defines `vector_width`, the N of all vectors, first: one file compares the common
// dtypes at the width of a float register, another all of them at the width of an int8 register.
#pragma once

#include "codegen/reference.hpp"
#include "sweep.hpp"

#include <set>

namespace {

using namespace sweep;
using trilith::codegen::Attributes;
using trilith::codegen::dtype_of;
using trilith::codegen::Op;
using trilith::codegen::Value;
namespace codegen = trilith::codegen;

constexpr int N = vector_width;

std::set<Op>& compared() {
  static std::set<Op> ops;
  return ops;
}

template <class T>
Value tile(const std::vector<T>& values) {
  Value result(dtype_of<T>, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(result.bytes.data() + i * sizeof(T), &(const T&)values[i], sizeof(T));
  return result;
}
Value tile(const std::vector<bool>& values) {
  Value result(codegen::DType::Bool, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) result.data<bool>()[i] = values[i];
  return result;
}

template <class T>
std::vector<T> operands(unsigned seed) {
  std::vector<T> values;
  if constexpr (std::is_same_v<T, bool>) {
    std::mt19937 random(seed);
    for (int i = 0; i < 64 * N; ++i) values.push_back(random() % 2);
  } else {
    values = all_exponents<T>(std::is_integral_v<T> ? 64 : 4, 3);
    std::mt19937 random(seed);
    std::shuffle(values.begin(), values.end(), random);
    values.resize(values.size() / N * N);
  }
  return values;
}
/// Every pair of special values, then shuffled ones.
template <class T>
std::pair<std::vector<T>, std::vector<T>> operand_pairs() {
  std::pair<std::vector<T>, std::vector<T>> result{operands<T>(4), operands<T>(5)};
  if constexpr (!std::is_same_v<T, bool>) {
    const std::vector<T> special = special_values<T>();
    for (T a : special)
      for (T b : special) {
        result.first.push_back(a);
        result.second.push_back(b);
      }
    result.first.resize(result.first.size() / N * N);
    result.second.resize(result.first.size());
  }
  return result;
}

template <class T>
device::Vec<T, N> load(const Value& from, std::size_t i) {
  if constexpr (std::is_same_v<T, bool>)
    return device::load_mask<N>(from.data<bool>() + i);
  else
    return device::load<T, N>(from.data<T>() + i);
}

/// `vector` and `scalar` are the results of one block and one element; `expected` is the reference's.
template <class U, class Result>
void require_same(const char* name, const Result& vector, const Value& expected, std::size_t at) {
  REQUIRE(expected.dtype == dtype_of<U>);
  for (int j = 0; j < N; ++j) {
    const U want = expected.get<U>(static_cast<std::int64_t>(at) + j), got = device::element(vector, j);
    if (!same(got, want)) {
      INFO(std::string(name), ", element ", at + j, ": ", +got, " is not ", +want);
      REQUIRE(false);
    }
  }
}

template <class T, class F>
void unary(Op op, const char* name, F function) {
  compared().insert(op);
  const Value x = tile(operands<T>(1)), expected = codegen::reference::apply(op, {x});
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); i += N) {
    const auto result = function(load<T>(x, i));
    const auto scalar = function(x.get<T>(i));
    using U = std::remove_const_t<decltype(scalar)>;
    require_same<U>(name, result, expected, i);
    REQUIRE(same<U>(scalar, expected.get<U>(i)));
  }
}
template <class T, class F>
void binary(Op op, const char* name, F function) {
  compared().insert(op);
  const auto [first, second] = operand_pairs<T>();
  const Value a = tile(first), b = tile(second), expected = codegen::reference::apply(op, {a, b});
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); i += N) {
    const auto result = function(load<T>(a, i), load<T>(b, i));
    const auto scalar = function(a.get<T>(i), b.get<T>(i));
    using U = std::remove_const_t<decltype(scalar)>;
    require_same<U>(name, result, expected, i);
    REQUIRE(same<U>(scalar, expected.get<U>(i)));
  }
}
template <class C, class T, class F>
void ternary(Op op, const char* name, F function) {
  compared().insert(op);
  const auto [second, third] = operand_pairs<T>();
  std::vector<C> first;
  const std::vector<C> cycle = operands<C>(6);
  for (std::size_t i = 0; i < second.size(); ++i) first.push_back(cycle[i * 7 % cycle.size()]);
  const Value a = tile(first), b = tile(second), c = tile(third),
              expected = codegen::reference::apply(op, {a, b, c});
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); i += N) {
    require_same<T>(name, function(load<C>(a, i), load<T>(b, i), load<T>(c, i)), expected, i);
    REQUIRE(same<T>(function(a.get<C>(i), b.get<T>(i), c.get<T>(i)), expected.get<T>(i)));
  }
}

#define UNARY(T, op, name) unary<T>(Op::op, #name, [](const auto& x) { return device::name(x); })
#define BINARY(T, op, name) \
  binary<T>(Op::op, #name, [](const auto& a, const auto& b) { return device::name(a, b); })
#define TERNARY(C, T, op, name) \
  ternary<C, T>(Op::op, #name,  \
                [](const auto& a, const auto& b, const auto& c) { return device::name(a, b, c); })

template <class T>
void numeric() {
  UNARY(T, Neg, neg);
  UNARY(T, Abs, abs);
  UNARY(T, Square, square);
  UNARY(T, Sign, sign);
  UNARY(T, Relu, relu);
  BINARY(T, Add, add);
  BINARY(T, Sub, sub);
  BINARY(T, Mul, mul);
  BINARY(T, Div, div);
  BINARY(T, Fmod, fmod);
  BINARY(T, Rem, rem);
  BINARY(T, Maximum, maximum);
  BINARY(T, Minimum, minimum);
  TERNARY(T, T, Clamp, clamp);
  TERNARY(bool, T, Where, where);
  BINARY(T, Eq, eq);
  BINARY(T, Ne, ne);
  BINARY(T, Lt, lt);
  BINARY(T, Le, le);
  BINARY(T, Gt, gt);
  BINARY(T, Ge, ge);
}
template <class T>
void floating() {
  UNARY(T, Recip, recip);
  UNARY(T, Sqrt, sqrt);
  UNARY(T, Rsqrt, rsqrt);
  UNARY(T, Floor, floor);
  UNARY(T, Ceil, ceil);
  UNARY(T, Round, round);
  UNARY(T, Rint, rint);
  UNARY(T, Trunc, trunc);
  TERNARY(T, T, Fma, fma);
  UNARY(T, IsNan, isnan);
  UNARY(T, IsInf, isinf);
}
template <class T>
void integer() {
  BINARY(T, BitAnd, bit_and);
  BINARY(T, BitOr, bit_or);
  BINARY(T, BitXor, bit_xor);
  UNARY(T, BitNot, bit_not);
  BINARY(T, Shl, shl);
  BINARY(T, Shr, shr);
}

template <class T, class U, device::CastMode Mode>
void one_cast() {
  std::vector<T> values = operands<T>(2);
  if constexpr (std::is_floating_point_v<T>) {  // halves and what lies beside them and the bounds of integers
    for (double base : {0.0, 0x1p31, 0x1p63, 0x1p24, 0x1p53})
      for (int i = -40; i < 40; ++i) values.push_back(static_cast<T>(base + i * 0.25));
    for (double base : {-0x1p31, -0x1p63, 1e5})
      for (int i = -40; i < 40; ++i) values.push_back(static_cast<T>(base + i * 0.5));
    values.resize(values.size() / N * N);
  }
  const Value x = tile(values);
  Attributes attributes;
  attributes.mode = static_cast<codegen::CastMode>(Mode);
  const Value operand[] = {x};
  const Value expected = codegen::reference::apply(Op::Cast, operand, attributes, dtype_of<U>, {});
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); i += N) {
    require_same<U>("cast", device::cast<U, Mode>(load<T>(x, i)), expected, i);
    for (int j = 0; j < N; ++j)
      REQUIRE(same<U>(device::cast<U, Mode>(x.get<T>(i + j)), expected.get<U>(i + j)));
  }
}
template <class T, class U>
void casts() {
  compared().insert(Op::Cast);
  one_cast<T, U, device::CastMode::Rint>();
  one_cast<T, U, device::CastMode::Round>();
  one_cast<T, U, device::CastMode::Floor>();
  one_cast<T, U, device::CastMode::Ceil>();
  one_cast<T, U, device::CastMode::Trunc>();
  one_cast<T, U, device::CastMode::Odd>();
}
}  // namespace
