// A call that is nearly the first one of its kernel: what the first was checked for is checked again where it differs.
#include "hand_captured.hpp"
#include "support.hpp"

using support::contains;
using support::hand_kernel;
using support::Jit;
using support::message_of;
using support::numbers;

namespace build = trilith::codegen::build;
using trilith::codegen::Access;
using trilith::codegen::DType;
using trilith::codegen::Op;

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<pl::Tensor<float>>;

// y = a * s, z = b * s
auto scale_two() {
  build::KernelBuilder k("scale_two");
  auto a = k.tensor("a", Access::In, DType::Float32);
  auto b = k.tensor("b", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto z = k.tensor("z", Access::Out, DType::Float32);
  auto s = k.scalar("s", DType::Float32);
  k.store(build::call(Op::Mul, {k.let("t", build::load(a)), s}), {}, y);
  k.store(build::call(Op::Mul, {k.let("u", build::load(b)), s}), {}, z);
  return hand_kernel(
      [](Any p, Any q, AnyOut r, AnyOut t, pl::Scalar<float> f) {
        (void)pl::store(pl::load(p) * f, r);
        (void)pl::store(pl::load(q) * f, t);
      },
      k.take());
}

/// A kernel that has been called with four tensors of 3 by 4.
struct Called {
  Jit jit;
  decltype(scale_two()) kernel = scale_two();
  pl::Array<float> a = numbers({3, 4}), b = numbers({3, 4});
  pl::Array<float> y{{3, 4}}, z{{3, 4}};
  Called() { kernel(a, b, y, z, 2.0f); }
};

}  // namespace

TEST_CASE("the first call again, with other memory and another scalar, gives what it should") {
  Called first;
  const auto before = pl::statistics();
  pl::Array<float> a({3, 4}, 5.0f), b({3, 4}, 7.0f), y({3, 4}), z({3, 4});
  first.kernel(a, b, y, z, 3.0f);
  CHECK(y(2, 3) == 15.0f);
  CHECK(z(2, 3) == 21.0f);
  CHECK(pl::statistics().memory_hits == before.memory_hits + 1);
}

TEST_CASE("as the first call, but with a strided input, reads the right elements") {
  Called first;
  const auto wide = numbers({3, 8});
  pl::Array<float> y({3, 4}), z({3, 4});
  first.kernel(wide.view().slice({0, 4}, {3, 4}), first.b, y, z, 1.0f);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) {
      CHECK(y(row, column) == wide(row, column + 4));
      CHECK(z(row, column) == first.b(row, column));
    }
}

TEST_CASE("as the first call, but with a tensor without memory, is refused") {
  Called first;
  pl::Array<float> y({3, 4}), z({3, 4});
  const auto nothing = pl::tensor(static_cast<const float*>(nullptr), {3, 4});
  CHECK(contains(message_of<pl::ShapeError>([&] { first.kernel(first.a, nothing, y, z, 1.0f); }),
                 "has no memory"));
}

TEST_CASE("as the first call, but with an output that shares one element, is refused from either side") {
  Called first;
  pl::Array<float> memory({36}), apart({3, 4});
  const auto at = [&](int offset) { return pl::tensor(memory.data() + offset, {3, 4}); };
  for (const int offset : {1, 23}) {
    CAPTURE(offset);
    // With an input, with the other output.
    CHECK(contains(
        message_of<pl::ShapeError>([&] { first.kernel(at(12), apart, at(offset), first.z.view(), 1.0f); }),
        "overlaps"));
    CHECK(contains(
        message_of<pl::ShapeError>([&] { first.kernel(first.a, first.b, at(12), at(offset), 1.0f); }),
        "overlaps"));
  }
  // Beside each other they share nothing.
  CHECK_NOTHROW(first.kernel(at(0), at(24), at(12), apart.view(), 1.0f));
}

TEST_CASE("as the first call, but in place, runs where the kernel is elementwise") {
  Called first;
  pl::Array<float> a({3, 4}, 5.0f), z({3, 4});
  first.kernel(a, first.b, a.view(), z, 2.0f);
  CHECK(a(1, 1) == 10.0f);
}

TEST_CASE("a handle of the first call refuses another shape after the first was called") {
  Called first;
  const auto held = first.kernel.compile(first.a, first.b, first.y.view(), first.z.view(), 1.0f);
  pl::Array<float> y({4, 3}), z({4, 3});
  const auto other = numbers({4, 3});
  CHECK(contains(message_of<pl::ShapeError>([&] { held(other, other, y, z, 1.0f); }), "was compiled for"));
}
