// Words of mistakes at the border between a program and Trilith: views, shapes, targets.
#include "hand_captured.hpp"
#include "support.hpp"

using support::contains;
using support::message_of;

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<Any>;

auto copy = pl::jit.incore([](Any x, AnyOut y) { y = pl::store(pl::load(x), y); });

}  // namespace

TEST_CASE("views that cannot be: extents, ranks, strides, and containers that are too small") {
  float memory[4] = {};
  const auto shape_error = [](auto make) { return message_of<pl::ShapeError>(make); };
  CHECK(contains(shape_error([&] { (void)pl::tensor(memory, {2, -1}); }),
                 "pl::tensor: expected extents of 0 or more, got -1"));
  CHECK(contains(shape_error([&] { (void)pl::tensor(memory, {1, 1, 1, 1, 1, 1, 1, 1, 1}); }),
                 "pl::tensor: expected rank 0 to 8, got 9"));
  CHECK(contains(shape_error([&] { (void)pl::tensor(memory, {2, 2}, {1}); }),
                 "pl::tensor: expected as many strides as dims, got 1"));
  CHECK(
      contains(shape_error([&] { (void)pl::tensor(memory, {std::int64_t{1} << 40, std::int64_t{1} << 40}); }),
               "has more than 2^59 elements"));
  std::vector<float> few(5);
  CHECK(contains(shape_error([&] { (void)pl::tensor(few, {2, 3}); }),
                 "pl::tensor: the shape [2, 3] needs 6 elements, the container has 5"));
}

TEST_CASE("a tensor of elements without memory is refused at the call, one of none is not") {
  const support::Eager eager;
  pl::Array<float> y({4}), none({0});
  float* nothing = nullptr;
  CHECK(contains(message_of<pl::ShapeError>([&] { copy(pl::tensor(nothing, {4}), y); }),
                 "has no memory; give a pointer to its elements"));
  copy(pl::tensor(nothing, {0}), none);
}

TEST_CASE("a tile of a negative extent is refused") {
  CHECK(contains(message_of<pl::ShapeError>([] { (void)pl::full<float>({2, -3}, 1.0f); }),
                 "pl::full: an extent is -3; expected 0 or more"));
}

TEST_CASE("an unknown target is refused with those that there are") {
  namespace codegen = trilith::codegen;
  codegen::build::KernelBuilder k("copied");
  const auto from = k.tensor("x", codegen::Access::In, codegen::DType::Float32);
  const auto to = k.tensor("y", codegen::Access::Out, codegen::DType::Float32);
  k.store(codegen::build::load(from), {}, to);
  const support::Jit jit;
  const auto copied = support::hand_kernel([](Any x, AnyOut y) { y = pl::store(pl::load(x), y); }, k.take());
  pl::Array<float> x({4}), y({4});
  CHECK(contains(message_of<pl::UserError>([&] { (void)copied.emit("ptx", x, y); }),
                 "emit: unknown target \"ptx\"; expected \"xsimd\", \"ascendc\", \"ir\" or \"json\""));
}

TEST_CASE("a view of another dtype than the annotation says") {
  pl::Array<float> x({4});
  const pl::Tensor<> any = x.view();
  CHECK(contains(message_of<pl::DtypeError>([&] { (void)pl::Tensor<double>(any); }),
                 " was given where the annotation says dtype double"));
}
