// Kernels run as plain C++: what TRILITH_EAGER=1 gives, with the checks that every call makes.
#include "support.hpp"

#include <limits>
#include <stdexcept>

using support::contains;
using support::Eager;
using support::message_of;
using support::numbers;

namespace {

constexpr int ROWS = 8, COLS = 8;
constexpr auto N = pl::dynamic("N");

auto scale_by_rank =
    pl::jit.incore([](pl::Tensor<float, ROWS, COLS> x, pl::Out<pl::Tensor<float, ROWS, COLS>> y,
                      pl::Scalar<std::int32_t> rank) {
      auto tile = pl::load(x, {0, 0}, {ROWS, COLS});
      auto scaled = pl::mul(tile, pl::cast<float>(rank));
      y = pl::store(pl::add(scaled, tile), {0, 0}, y);
      return y;
    });

auto copy_any =
    pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { y = pl::store(pl::load(x), y); });

auto add_named =
    pl::jit.incore([](pl::Tensor<float, N, 4> a, pl::Tensor<float, N, 4> b,
                      pl::Out<pl::Tensor<float, N, 4>> y) { y = pl::store(pl::load(a) + pl::load(b), y); });

}  // namespace

TEST_CASE("an eager kernel gives its result and returns the output it wrote") {
  const Eager eager;
  auto x = numbers({ROWS, COLS});
  pl::Array<float> y({ROWS, COLS});
  auto result = scale_by_rank(x, y, 3);
  CHECK(result.data() == y.data());
  for (int i = 0; i < ROWS * COLS; ++i) CHECK(y.begin()[i] == 4.0f * static_cast<float>(i));
  CHECK(eager.context.statistics().eager_calls == 1);
  CHECK(eager.context.statistics().compiles == 0);
}

TEST_CASE("a handle compiled in an eager context runs natively") {
  const Eager eager;
  auto x = numbers({ROWS, COLS});
  pl::Array<float> y({ROWS, COLS});
  auto handle = scale_by_rank.compile(x, y, 1);
  handle(x, y, 1);
  CHECK(y(1, 0) == 16.0f);
}

TEST_CASE("a pl::Kernel is nameable, copyable and says when it is empty") {
  const Eager eager;
  using Signature = void(pl::Tensor<float>, pl::Out<pl::Tensor<float>>, std::int32_t);
  pl::Kernel<Signature> kernel;
  auto x = numbers({ROWS, COLS});
  pl::Array<float> y({ROWS, COLS});
  CHECK_FALSE(static_cast<bool>(kernel));
  CHECK(contains(message_of<pl::UserError>([&] { kernel(x, y, 1); }), "empty pl::Kernel"));
  kernel = scale_by_rank;
  const pl::Kernel<Signature> copy = kernel;
  copy(x, y, 1);
  CHECK(y(0, 1) == 2.0f);
}

TEST_CASE("a generic lambda is a kernel for each list of argument types") {
  const Eager eager;
  auto twice = pl::jit.incore([](auto x, auto y) { return pl::store(pl::load(x) + pl::load(x), y); });
  auto x = numbers({2, 3});
  pl::Array<float> y({2, 3});
  twice(x, pl::Out<pl::Tensor<float>>(y.view()));
  CHECK(y(1, 2) == 10.0f);
  pl::Array<std::int32_t> i({4}, 21);
  pl::Array<std::int32_t> j({4});
  twice(i, pl::Out<pl::Tensor<std::int32_t>>(j.view()));
  CHECK(j(3) == 42);
}

TEST_CASE("two kernels of one lambda type keep their own captures") {
  const Eager eager;
  const auto make = [](float k) {
    return pl::jit.incore(
        [k](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { y = pl::store(pl::load(x) * k, y); });
  };
  auto two = make(2), three = make(3);
  pl::Array<float> x({4}, 1.0f), y({4});
  two(x, y);
  CHECK(y(0) == 2.0f);
  three(x, y);
  CHECK(y(0) == 3.0f);
  two(x, y);
  CHECK(y(3) == 2.0f);
}

TEST_CASE("a shape that does not fit the annotation is refused with both printed") {
  const Eager eager;
  pl::Array<float> x({ROWS, 4}), y({ROWS, COLS});
  const std::string message = message_of<pl::ShapeError>([&] { scale_by_rank(x, y, 1); });
  CHECK(contains(message, "float[8, 4]"));
  CHECK(contains(message, "float[8, 8]"));
  CHECK(contains(message, "eager_kernel_test.cpp:"));
}

TEST_CASE("a dtype that does not fit the annotation is refused with both printed") {
  const Eager eager;
  pl::Array<std::int32_t> x({4});
  pl::Array<float> y({4});
  const pl::Tensor<> erased = x.view();
  const std::string message = message_of<pl::DtypeError>([&] { copy_any(erased, y); });
  CHECK(contains(message, "int32[4]"));
  CHECK(contains(message, "float"));
}

TEST_CASE("extents of one name must agree, and the message gives both arguments") {
  const Eager eager;
  pl::Array<float> a({5, 4}), b({6, 4}), y({5, 4});
  add_named(a, a, y);
  const std::string message = message_of<pl::ShapeError>([&] { add_named(a, b, y); });
  CHECK(contains(message, "\"N\""));
  CHECK(contains(message, "5"));
  CHECK(contains(message, "float[6, 4]"));
  CHECK(contains(message, "eager_kernel_test.cpp:"));
}

TEST_CASE("an output that overlaps an input in part is refused") {
  const Eager eager;
  auto x = numbers({8});
  pl::Tensor<float> all = x.view();
  const std::string message =
      message_of<pl::ShapeError>([&] { copy_any(all.slice({0}, {4}), all.slice({2}, {4})); });
  CHECK(contains(message, "overlaps"));
  copy_any(all.slice({0}, {4}), all.slice({4}, {4}));
  CHECK(x(7) == 3.0f);
}

TEST_CASE("interleaved columns of one matrix do not overlap") {
  const Eager eager;
  auto x = numbers({4, 2});
  const pl::Tensor<float> left = pl::tensor(x.data(), {4, 1}, {2, 1});
  const pl::Tensor<float> right = pl::tensor(x.data() + 1, {4, 1}, {2, 1});
  copy_any(left, right);
  for (int row = 0; row < 4; ++row) CHECK(x(row, 1) == x(row, 0));
}

TEST_CASE("zero and negative strides are for inputs only") {
  const Eager eager;
  auto x = numbers({4});
  pl::Array<float> y({4});
  copy_any(pl::tensor(x.data() + 3, {4}, {-1}), y);
  CHECK(y(0) == 3.0f);
  copy_any(pl::tensor(x.data() + 2, {4}, {0}), y);
  CHECK(y(3) == 2.0f);
  CHECK(contains(message_of<pl::ShapeError>([&] { copy_any(x, pl::tensor(y.data() + 3, {4}, {-1})); }),
                 "stride -1"));
  CHECK(
      contains(message_of<pl::ShapeError>([&] { copy_any(x, pl::tensor(y.data(), {4}, {0})); }), "stride 0"));
  pl::Array<float> square({2, 2});
  CHECK(contains(message_of<pl::ShapeError>([&] { copy_any(square, pl::tensor(y.data(), {2, 2}, {1, 1})); }),
                 "lie on each other"));
}

TEST_CASE("an empty tensor needs no memory, any other does") {
  const Eager eager;
  float* nothing = nullptr;
  copy_any(pl::tensor(nothing, {0, 4}), pl::tensor(nothing, {0, 4}));
  pl::Array<float> y({4});
  CHECK(contains(message_of<pl::ShapeError>([&] { copy_any(pl::tensor(nothing, {4}), y); }), "no memory"));
}

TEST_CASE("memory of const is refused for an output") {
  const Eager eager;
  const pl::Array<float> x({4});
  CHECK_THROWS_AS(copy_any(x, x), pl::UserError);
}

TEST_CASE("an exception of the lambda reaches the caller and the kernel stays usable") {
  const Eager eager;
  bool fail = true;
  auto kernel = pl::jit.incore([&fail](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
    if (fail) throw std::runtime_error("from the lambda");
    y = pl::store(pl::load(x), y);
  });
  pl::Array<float> x({2}, 1.0f), y({2});
  CHECK(message_of<std::runtime_error>([&] { kernel(x, y); }) == "from the lambda");
  CHECK(pl::detail::current_level() == pl::detail::Level::None);
  fail = false;
  kernel(x, y);
  CHECK(y(1) == 1.0f);
}

TEST_CASE("pl::print goes to the sink that was set") {
  const Eager eager;
  std::string text;
  auto previous = pl::set_print_sink([&](std::string_view part) { text += part; });
  auto show = pl::jit.incore([](pl::Tensor<float> x) { pl::print(pl::load(x)); });
  show(numbers({3}));
  pl::set_print_sink(previous);
  CHECK(contains(text, "float"));
  CHECK(contains(text, "2"));
}

TEST_CASE("a shape whose elements cannot be counted in memory is refused before anything is allocated") {
  const std::int64_t huge = std::int64_t{1} << 40;
  const auto refused = [](const auto& make) { return message_of<pl::ShapeError>(make); };
  CHECK(contains(refused([&] { (void)pl::Array<float>({huge, huge}); }),
                 "[1099511627776, 1099511627776] has more than 2^59 elements"));
  CHECK(
      contains(refused([] { (void)pl::Array<float>({std::int64_t{1} << 62}); }), "more than 2^59 elements"));
  CHECK(contains(refused([] {
                   float one = 0;
                   (void)pl::tensor(&one, {std::int64_t{1} << 62});
                 }),
                 "more than 2^59 elements"));
}
