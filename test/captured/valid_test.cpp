// Partly valid tiles in C++: cut loads, valid extents, fillpad; captured and compiled, and run natively.
#include "captured/agree.hpp"

using captured_test::agrees;
using captured_test::Any;
using captured_test::Out;
using support::contains;
using support::message_of;

namespace {

using Int = pl::Scalar<std::int32_t>;

/// What a compiled and an eager run of kernel(x, y, scalars...) write are equal; y starts as -7.
template <class T, class Kernel, class... Scalars>
bool same(const Kernel& kernel, const pl::Index& from, const pl::Index& to, Scalars... scalars) {
  pl::Array<T> x(from), compiled(to, T(-7)), natively(to, T(-7));
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<T>(static_cast<int>(i * 37 % 101) - 50);
  {
    const support::Jit jit;
    kernel(x, compiled, scalars...);
    if (jit.context.statistics().eager_calls != 0) return false;
  }
  const support::Eager eager;
  kernel(x, natively, scalars...);
  return std::memcmp(compiled.data(), natively.data(), compiled.size() * sizeof(T)) == 0;
}

/// The text of both runs, which must be one text.
template <class Kernel, class... Arguments>
std::string refusal(const Kernel& kernel, Arguments&&... arguments) {
  std::string compiled, natively;
  {
    const support::Jit jit;
    compiled = message_of<pl::ShapeError>([&] { kernel(arguments...); });
  }
  {
    const support::Eager eager;
    natively = message_of<pl::ShapeError>([&] { kernel(arguments...); });
  }
  const auto words = [](const std::string& text) { return text.substr(text.find(": ") + 2); };
  CHECK(words(compiled) == words(natively));
  return compiled;
}

template <class T>
auto ragged() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    for (auto i : pl::range(0, x.dim(0), 4)) {
      auto t = pl::load(x, {i, 0}, {4, 19}, {.clamp = true});
      y = pl::store(pl::maximum(t, -t), {i, 0}, y);
    }
    return y;
  });
}

}  // namespace

TEST_CASE("a ragged loop writes exactly what there is") {
  const auto kernel = ragged<float>();
  for (const int rows : {0, 1, 4, 7, 8}) CHECK(same<float>(kernel, {rows, 19}, {rows, 19}));
  CHECK(same<float>(kernel, {6, 19}, {9, 19}));
  CHECK(same<std::int8_t>(ragged<std::int8_t>(), {7, 19}, {7, 19}));
  CHECK(same<std::uint64_t>(ragged<std::uint64_t>(), {7, 19}, {7, 19}));
  CHECK(same<pl::half>(ragged<pl::half>(), {7, 19}, {7, 19}));
  CHECK(same<double>(ragged<double>(), {7, 19}, {7, 19}));
  auto whole = pl::jit.incore([](pl::Tensor<float, pl::dynamic("N"), 19> x, pl::Out<pl::Tensor<float>> y) {
    for (int i = 0; i < x.dim(0); i += 4) {
      const auto t = pl::load(x, {i, 0}, {4, 19}, {.clamp = true});
      y = pl::store(pl::exp2(pl::rint(t * 0.1f)), {i, 0}, y);
    }
  });
  for (const int rows : {1, 5, 8}) CHECK(same<float>(whole, {rows, 19}, {rows, 19}));
}

TEST_CASE("valid extents that the run decides: loads, reductions, fillpad, and what a kernel asks of them") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int rows, Int columns) {
    constexpr int ROWS = 12, COLUMNS = 33;
    auto t = pl::load(x, {0, 0}, {ROWS, COLUMNS}, {.valid = {rows, columns}});
    auto u = pl::set_valid(pl::load(x, {0, 0}, {ROWS, COLUMNS}), {rows.value() + 1, COLUMNS - 2});
    auto both = t + u * 2.0f;
    auto largest = pl::fillpad(pl::row_max(both), pl::Pad::min);
    auto padded = pl::fillpad(both, pl::Pad::max) - pl::fillpad(pl::col_min(t), pl::Pad::zero);
    const auto count = both.valid(0) * 100 + both.valid(1);
    if (both.dim(0) == ROWS && both.dim(1) == COLUMNS) padded = padded + pl::cast<float>(count);
    y = pl::store(pl::maximum(padded, largest), y);
  });
  for (const int rows : {-1, 0, 1, 11, 12, 50})
    for (const int columns : {0, 1, 30, 31, 32, 33})
      CHECK(same<float>(kernel, {12, 33}, {12, 33}, rows, columns));
}

TEST_CASE("what is loaded behind the valid part need not exist") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int rows) {
    auto t = pl::load(x, {0, 0}, {128, 64}, {.clamp = true, .valid = {rows, 60}});
    y = pl::store(pl::fillpad(t, pl::Pad::zero) + 1.0f, y);
  });
  for (const int rows : {0, 100, 127}) CHECK(same<float>(kernel, {100, 60}, {128, 64}, rows));
}

TEST_CASE("tiles of any dtype, helpers and templates") {
  const auto tail = [](const auto& x, auto at) { return pl::load(x, {at}, {16}, {.clamp = true}); };
  auto kernel = pl::jit.incore([tail](pl::Tensor<> x, pl::Out<pl::Tensor<std::int32_t>> y, Int at) {
    auto t = tail(x, at);
    y = pl::store(pl::cast<std::int32_t>(pl::fillpad(t, pl::Pad::min)), y);
  });
  for (const int at : {0, 3, 10, 11, 99}) CHECK(same<std::int32_t>(kernel, {11}, {16}, at));
}

TEST_CASE("valid extents of products, moved and sorted tiles") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto a = pl::load(x, {0, 0}, {16, 16}, {.valid = {n, n}});
    auto b = pl::transpose(pl::set_valid(pl::load(x), {9, 7}));
    auto product = pl::matmul(a, b) + pl::transpose(a);
    auto sorted = pl::sort(product, {.axis = 1});
    y = pl::store(pl::fillpad(sorted.values + pl::cumsum(a, {.axis = 0}), pl::Pad::min), y);
  });
  for (const int n : {0, 1, 5, 7, 8, 16}) CHECK(same<float>(kernel, {16, 16}, {16, 16}, n));
}

TEST_CASE("refusals have one text, compiled and natively") {
  auto given = support::numbers({12, 8});
  pl::Array<float> written({12, 8});
  auto reshaped = pl::jit.incore([](Any x, Out y) {
    auto t = pl::load(x, {8, 0}, {8, 8}, {.clamp = true});
    y = pl::store(pl::reshape(t, {4, 16}), y);
  });
  CHECK(contains(
      refusal(reshaped, given, written),
      "reshape: the tile is valid up to 4 of 8 along axis 0, and all of it is needed there; fill the "
      "rest with pl::fillpad(tile, pl::Pad::zero)"));
  auto before = pl::jit.incore(
      [](Any x, Out y, Int at) { y = pl::store(pl::load(x, {at, 0}, {4, 8}, {.clamp = true}), y); });
  CHECK(contains(refusal(before, given, written, -1),
                 "load: offset -1 with extent 4 on axis 0 is not inside the tensor"));
  auto beyond = pl::jit.incore(
      [](Any x, Out y, Int rows) { y = pl::store(pl::load(x, {6, 0}, {10, 8}, {.valid = {rows, 8}}), y); });
  CHECK(contains(refusal(beyond, given, written, 7),
                 "load: offset 6 with extent 7 on axis 0 is not inside the tensor"));
  auto ranks = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::set_valid(pl::load(x), {3}), y); });
  CHECK(contains(refusal(ranks, given, written),
                 "set_valid: 1 valid extents for a tile of rank 2; give one for each axis"));
  auto element = pl::jit.incore([](Any x, Out y, Int row) {
    auto t = pl::set_valid(pl::load(x), {3, 8});
    y = pl::store(pl::full<float>({1, 1}, pl::read(t, {row, 0})), y);
  });
  CHECK(contains(refusal(element, given, written, 3), "read: axis 0: index 3 is not inside [0, 3)"));
}
