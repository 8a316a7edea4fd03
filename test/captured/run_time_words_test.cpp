// What only a run can tell is told in the words of the specialiser and of native runs, with the numbers.
#include "captured/agree.hpp"
#include "runtime/support.hpp"

#include <array>

namespace {

using captured_test::Any;
using captured_test::Out;
using Int = pl::Scalar<int>;

constexpr auto N = pl::dynamic("N");
using Rows = pl::Tensor<float, N, 8>;
using RowsOut = pl::Out<pl::Tensor<float, N, 8>>;

/// The message of the compiled kernel; "differs" and both where the native run says another.
template <class Call>
std::string said(const Call& call) {
  std::string compiled, natively;
  {
    const support::Jit jit;
    compiled = support::message_of<pl::UserError>(call);
    if (jit.context.statistics().eager_calls != 0) return "it ran natively";
  }
  const support::Eager eager;
  natively = support::message_of<pl::UserError>(call);
  return compiled == natively ? compiled : "differs: " + compiled + " / " + natively;
}

}  // namespace

TEST_CASE("topk of more elements than there are: a constant, a number of the run, a run-time extent") {
  auto constant =
      pl::jit.incore([](Any x, Out y) { y = pl::store(pl::topk(pl::load(x), 9).values, {0, 0}, y); });
  auto run_time =
      pl::jit.incore([](Any x, Out y, Int k) { y = pl::store(pl::topk(pl::load(x), k).values, {0, 0}, y); });
  auto dynamic = pl::jit.incore([](Rows x, RowsOut y, Int k) {
    y = pl::store(pl::topk(pl::load(x), k, {.axis = 0}).values, {0, 0}, y);
  });
  pl::Array<float> x = support::numbers({6, 8}), y({6, 9});
  const std::string words =
      "topk_indices: k is 9 and axis 1 of the tile has 8 elements; give a k from 0 to 8, or more";
  CHECK(support::contains(said([&] { constant(x, y); }), words));
  CHECK(support::contains(said([&] { run_time(x, y, 9); }), words));
  CHECK(
      support::contains(said([&] { run_time(x, y, -1); }), "k is -1 and axis 1 of the tile has 8 elements"));
  pl::Array<float> z({6, 8});
  CHECK(support::contains(said([&] { dynamic(x, z, 7); }), "k is 7 and axis 0 of the tile has 6 elements"));
  CHECK(said([&] { dynamic(x, z, 6); }) == "");
}

TEST_CASE("an extent that is computed is named by its expression, or by its value where the run tells it") {
  auto named = pl::jit.incore([](Rows x, RowsOut y) {
    y = pl::store(pl::load(x, {0, 0}, {x.dim(0) - 2, 8}) + pl::load(x, {0, 0}, {4, 7}), {0, 0}, y);
  });
  auto told = pl::jit.incore([](Rows x, RowsOut y) {
    y = pl::store(pl::load(x, {0, 0}, {x.dim(0) - 2, 8}) + pl::load(x, {0, 0}, {3, 8}), {0, 0}, y);
  });
  pl::Array<float> x = support::numbers({6, 8}), y({6, 8});
  CHECK(support::contains(said([&] { named(x, y); }), "add: shapes [N - 2, 8] and [4, 7] do not broadcast"));
  CHECK(support::contains(said([&] { told(x, y); }),
                          "add: shapes [4, 8] and [3, 8] do not broadcast: axis 0 has 4 and 3"));
}

TEST_CASE("regions and extents of tile calls that only the run knows") {
  auto part = pl::jit.incore(
      [](Any x, Out y, Int k) { y = pl::store(pl::slice(pl::load(x), {k, 0}, {2, 8}), {0, 0}, y); });
  auto joined = pl::jit.incore([](Any x, Out y, Int k) {
    y = pl::store(pl::concat(pl::load(x, {0, 0}, {k, 4}), pl::load(x, {0, 0}, {2, 4}), {.axis = 1}), {0, 0},
                  y);
  });
  auto padded = pl::jit.incore([](Any x, Out y, Int k) {
    y = pl::store(pl::pad(pl::load(x, {0, 0}, {2, 8}), {0, 0}, {k, 0}, 1.0f), {0, 0}, y);
  });
  pl::Array<float> x = support::numbers({6, 8}), y({6, 8});
  CHECK(support::contains(said([&] { part(x, y, 5); }),
                          "axis 0: offset 5 with extent 2 is not inside the extent 6"));
  CHECK(support::contains(said([&] { joined(x, y, 3); }),
                          "concat: the extents along axis 0 are 3 and 2 and must be equal"));
  CHECK(support::contains(said([&] { joined(x, y, -1); }), "a shape has the negative extent -1"));
  CHECK(support::contains(said([&] { padded(x, y, -1); }),
                          "pad: elements behind, axis 0 is -1 and must be 0 or more"));
}

TEST_CASE("an index outside of an array is one error, compiled and natively, before anything is written") {
  auto plain = pl::jit.incore([](Any x, Out y, Int k) {
    y = pl::store(pl::load(x), y);
    const int at = k, weights[3] = {1, 2, 3};
    y = pl::store(pl::load(x) * static_cast<float>(weights[at]), y);
  });
  auto tiles = pl::jit.incore([](Any x, Out y, Int k) {
    const int at = k;
    std::array<pl::Tile<float>, 2> parts{pl::load(x), pl::load(x) + 1.0f};
    y = pl::store(parts[at] + parts.at(at), y);
  });
  pl::Array<float> x = support::numbers({2, 3}), y({2, 3});
  CHECK(said([&] { plain(x, y, 2); }) == "");
  CHECK(y(1, 2) == 15.0f);
  CHECK(support::contains(said([&] { plain(x, y, 3); }), "index 3 of an array of 3 elements"));
  CHECK(support::contains(said([&] { plain(x, y, -1); }), "index -1 of an array of 3 elements"));
  CHECK(said([&] { tiles(x, y, 1); }) == "");
  CHECK(support::contains(said([&] { tiles(x, y, 2); }), "index 2 of an array of 2 elements"));
  auto entry = pl::jit([&](Any a, Out b) { pl::spmd(4, plain, a, b, 7); });
  const support::Eager eager;
  CHECK(support::contains(support::message_of<pl::ShapeError>([&] { entry(x.view(), Out(y.view())); }),
                          "index 7 of an array of 3 elements"));
}
