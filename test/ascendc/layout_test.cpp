// Operations that move elements, on the model, against the interpreter: every dtype that moves, odd and empty extents,
// tiles between nests and regions of tensors.
#include "ascendc/on_model.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;
using emitter_test::ArgumentSpec;
using emitter_test::Options;
using emitter_test::TensorSpec;
using namespace trilith::codegen::build;

namespace {

using Extents = std::vector<std::int64_t>;

constexpr DType moved[] = {DType::Bool,   DType::Int8,    DType::Int16,    DType::Int32,
                           DType::Int64,  DType::UInt8,   DType::UInt16,   DType::UInt32,
                           DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32};

Attributes axes(std::int32_t axis, std::int32_t axis2 = 0) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.axis2 = axis2;
  return attributes;
}

/// y = call(operands…): regions of tensors at both ends, or (`computed`) tiles of nests.
struct LayoutKernel {
  KernelBuilder k{"layout"};
  DType dtype;
  bool computed;
  std::vector<ArgumentSpec> arguments = {};

  LayoutKernel(DType dtype_, bool computed_) : dtype(dtype_), computed(computed_) {}

  Expr input(const std::string& name, const Extents& extents) {
    arguments.emplace_back(TensorSpec{extents, dtype});
    const Expr x = k.let(name + "_tile", load(k.tensor(name, Access::In, dtype)));
    return computed ? k.let(name + "_own", call(Op::Maximum, {x, x})) : x;
  }
  void check(Op op, std::vector<Expr> operands, const Extents& extents, const Attributes& attributes = {},
             DType result = DType::Bool, bool changes = false) {
    const DType of = changes ? result : dtype;
    const Expr y = k.tensor("y", Access::Out, of);
    arguments.emplace_back(TensorSpec{extents, of});
    Expr value = k.let("moved", tile_call(op, std::move(operands), attributes, of));
    if (computed) value = k.let("after", call(Op::Minimum, {value, value}));
    k.store(value, Items(extents.size(), Item(0)), y);
    CAPTURE(operation(op).name);
    CAPTURE(name_of(dtype));
    CAPTURE(computed);
    agrees(k.take(), arguments);
  }
};

bool computes(DType dtype) { return dtype != DType::Bool && size_of(dtype) < 8; }

}  // namespace

TEST_CASE("transposes agree with the reference, of every dtype") {
  for (const bool computed : {false, true})
    for (const DType dtype : moved) {
      if (computed && !computes(dtype)) continue;
      LayoutKernel a(dtype, computed);
      const Expr x = a.input("x", {17, 31});
      a.check(Op::Transpose, {x}, {31, 17}, axes(0, 1));
    }
  for (const auto& [first, second] : {std::pair{0, 2}, {1, 2}, {0, 1}}) {
    LayoutKernel a(DType::Float32, false);
    Extents extents{3, 16, 15}, result = extents;
    std::swap(result[static_cast<std::size_t>(first)], result[static_cast<std::size_t>(second)]);
    const Expr x = a.input("x", extents);
    a.check(Op::Transpose, {x}, result, axes(first, second - 3));
  }
  for (const Extents& extents : {Extents{0, 5}, {1, 1}, {1, 16}, {4099, 2}}) {
    LayoutKernel a(DType::Float16, false);
    const Expr x = a.input("x", extents);
    a.check(Op::Transpose, {x}, {extents[1], extents[0]}, axes(0, 1));
  }
}

TEST_CASE("slices, insertions and concatenations agree with the reference, of every dtype") {
  int turn = 0;
  for (const bool computed : {false, true})
    for (const DType dtype : moved) {
      if (computed && !computes(dtype)) continue;
      const bool first = ++turn % 2 == 0;
      if (first) {
        LayoutKernel a(dtype, computed);
        const Expr x = a.input("x", {17, 31});
        a.check(Op::TileSlice, {x, list({2, 3}), list({13, 1 + turn})}, {13, 1 + turn});
        LayoutKernel b(dtype, computed);
        const Expr u = b.input("u", {9, 13}), v = b.input("v", {9, 16});
        b.check(Op::Concat, {u, v}, {9, 29}, axes(1));
      } else {
        LayoutKernel b(dtype, computed);
        const Expr u = b.input("u", {9, 13}), v = b.input("v", {3, 5});
        b.check(Op::Assemble, {u, v, list({6, 8})}, {9, 13});
        LayoutKernel c(dtype, computed);
        const Expr p = c.input("p", {2, 7, 3}), q = c.input("q", {2, 1, 3}), r = c.input("r", {2, 0, 3});
        c.check(Op::Concat, {p, q, r}, {2, 8, 3}, axes(-2));
      }
    }
}

TEST_CASE("reshapes, pads and expansions agree with the reference, of every dtype") {
  int turn = 0;
  for (const bool computed : {false, true})
    for (const DType dtype : moved) {
      if (computed && !computes(dtype)) continue;
      if (++turn % 2 == 0) {
        LayoutKernel a(dtype, computed);
        const Expr x = a.input("x", {6, 35});
        a.check(Op::Reshape, {x, list({14, 15})}, {14, 15});
      } else {
        LayoutKernel b(dtype, computed);
        const Expr x = b.input("x", {5, 1});
        b.check(Op::Expand, {x, list({3, 5, 17})}, {3, 5, 17});
      }
      LayoutKernel c(dtype, computed);
      const Expr x = c.input("x", {3, 5});
      const Constant seven = is_floating(dtype) ? Constant::rounded(dtype, 1.5) : Constant::of(dtype, 1);
      c.check(Op::Pad, {x, list({1, 0}), list({2, 12}), constant(seven)}, {6, 17});
    }
}

TEST_CASE("bits are reinterpreted as another dtype of the same size") {
  for (const bool computed : {false, true})
    for (const auto& [from, to] : {std::pair{DType::Float32, DType::Int32},
                                   {DType::UInt32, DType::Float32},
                                   {DType::Float16, DType::Int16},
                                   {DType::BFloat16, DType::UInt16},
                                   {DType::Int8, DType::UInt8},
                                   {DType::Float16, DType::BFloat16}}) {
      CAPTURE(name_of(to));
      LayoutKernel a(from, computed);
      const Expr x = a.input("x", {5, 13});
      a.check(Op::Reinterpret, {x}, {5, 13}, {}, to, true);
    }
}
