// Extents of one annotation, each in its own way: a constant, specialised at the call, at run time, a multiple.
#include "captured/agree.hpp"

using captured_test::Any;
using captured_test::Out;
using support::contains;
using support::message_of;

namespace {

constexpr auto n = pl::dynamic("N");
constexpr auto m = pl::dynamic("M", 8);
constexpr auto d = pl::specialised("D");

using Mixed = pl::Tensor<float, n, d, 4>;
using Multiple = pl::Tensor<float, m>;

}  // namespace

TEST_CASE("a run-time extent is not in the key, a specialised one beside it is") {
  const support::Jit jit;
  auto sum = pl::jit.incore([](Mixed x, pl::Out<pl::Tensor<float, n, 4>> y) {
    auto total = pl::load(x, {0, 0, 0}, {x.dim(0), 1, 4});
    for (auto i : pl::unroll(1, x.dim(1))) total = total + pl::load(x, {0, i, 0}, {x.dim(0), 1, 4});
    y = pl::store(pl::reshape(total, {x.dim(0), 4}), y);
  });
  for (const std::int64_t rows : {1, 3, 8})
    for (const std::int64_t depth : {1, 2, 5}) {
      pl::Array<float> x({rows, depth, 4}, 2.0f), y({rows, 4});
      sum(x, y);
      CHECK(y(rows - 1, 3) == 2.0f * static_cast<float>(depth));
      const support::Eager eager;
      pl::Array<float> natively({rows, 4});
      sum(x, natively);
      CHECK(natively(0, 0) == y(0, 0));
    }
  CHECK(jit.compiles() == 3);  // one for each D, whatever N
  pl::Array<float> x({3, 2, 4}), y({3, 4});
  CHECK(contains(sum.lower(x, y), "[N, 2, 4]"));
}

TEST_CASE("an extent that is a multiple has one code, and another extent is refused at the call") {
  const support::Jit jit;
  auto twice = pl::jit.incore([](Multiple x, pl::Out<Multiple> y) { y = pl::store(pl::load(x) * 2.0f, y); });
  for (const std::int64_t count : {0, 8, 16, 800}) {
    auto x = support::numbers({count});
    pl::Array<float> y({count});
    twice(x, y);
    if (count != 0) CHECK(y(count - 1) == 2.0f * static_cast<float>(count - 1));
  }
  CHECK(jit.compiles() == 1);
  pl::Array<float> x({12}), y({12});
  const std::string words =
      "a tensor float[12] was given where the annotation says float[M (a multiple of 8)]; pass a tensor of "
      "that shape";
  CHECK(contains(message_of<pl::ShapeError>([&] { twice(x, y); }), words));
  const support::Eager eager;
  CHECK(contains(message_of<pl::ShapeError>([&] { twice(x, y); }), words));
}

TEST_CASE("a specialised extent broadcasts where it is 1") {
  const support::Jit jit;
  auto add = pl::jit.incore(
      [](pl::Tensor<float, n, d> x, pl::Tensor<float, n, 6> z, pl::Out<pl::Tensor<float, n, 6>> y) {
        y = pl::store(pl::load(x) + pl::load(z) + pl::full<float>({x.dim(1)}, 1.0f), y);
      });
  for (const std::int64_t width : {1, 6}) {
    pl::Array<float> x({3, width}, 1.0f), z({3, 6}, 2.0f), y({3, 6});
    add(x, z, y);
    CHECK(y(2, 5) == 4.0f);
  }
  CHECK(jit.compiles() == 2);
  pl::Array<float> x({3, 2}), z({3, 6}), y({3, 6});
  CHECK(contains(message_of<pl::ShapeError>([&] { add(x, z, y); }), "do not broadcast"));
}

TEST_CASE("specialised extents count against the budget and become run-time values beyond it") {
  pl::RunConfig config = support::cached();
  config.specialisation_budget = 2;
  ++support::hash_round();
  const pl::Context context(config);
  const pl::ContextScope scope(context);
  auto twice = pl::jit.incore([](pl::Tensor<float, d, 4> x, pl::Out<pl::Tensor<float, d, 4>> y) {
    y = pl::store(pl::load(x) * 2.0f, y);
  });
  for (std::int64_t count = 2; count < 9; ++count) {
    pl::Array<float> x({count, 4}, 1.0f), y({count, 4});
    twice(x, y);
    CHECK(y(count - 1, 3) == 2.0f);
  }
  CHECK(context.statistics().specialisations.size() == 3);
}
