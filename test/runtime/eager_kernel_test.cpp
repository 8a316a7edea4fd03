// Kernels run as plain C++: what TRILITH_EAGER=1 gives.
#include "pl/pl.hpp"

#include <doctest/doctest.h>

namespace {

constexpr int ROWS = 8, COLS = 8;

auto scale_by_rank =
    pl::jit.incore([](pl::Tensor<float, ROWS, COLS> x, pl::Out<pl::Tensor<float, ROWS, COLS>> y,
                      pl::Scalar<std::int32_t> rank) {
      auto tile = pl::load(x, {0, 0}, {ROWS, COLS});
      auto scaled = pl::mul(tile, pl::cast<float>(rank));
      y = pl::store(pl::add(scaled, tile), {0, 0}, y);
      return y;
    });

struct Eager {
  pl::Context context{{.eager = true}};
  pl::ContextScope scope{context};
};

pl::Array<float> numbers(const pl::Index& dims) {
  pl::Array<float> result(dims);
  float next = 0;
  for (float& element : result) element = next++;
  return result;
}

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
