// The options .chunk and .pipeline of put and get: how many elements a core moves at a time, and through how many buffers.
#include "on_model.hpp"

#include <fstream>
#include <iterator>

using remote::NR;

namespace {

constexpr int WIDTH = 10000;
using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;

auto sends = pl::jit.incore([](Row x, pl::Out<Row> y, pld::DistributedTensor<float, 2, WIDTH> box,
                               pld::DistributedTensor<std::int32_t, 1> cells) {
  const int next = (pld::rank(box) + 1) % pld::nranks(box);
  pld::put(box[0], {.peer = next, .src = x, .chunk = 1024, .pipeline = 3});
  pld::notify(cells, {.peer = next});
  pld::wait(cells);
  pld::get(y, box[0], {.peer = pld::rank(box), .chunk = 500, .pipeline = 1});
});
auto sends_on_device = pl::jit([](auto x, auto y, auto box, auto cells) { sends(x, y, box, cells); });
auto program = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  auto box = pld::window<float>(pld::alloc_window_buffer<float>({2, WIDTH}), {2, WIDTH});
  auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) sends_on_device(x[r], y[r], box, cells, pld::device = r);
});

}  // namespace

TEST_CASE(
    "put and get move as many elements at a time as .chunk says, through as many buffers as .pipeline says") {
  const auto x = remote::small_numbers<float>({2, WIDTH});
  pl::Array<float> y({2, WIDTH});
  const support::TemporaryFolder folder;
  program.compile(x, y, remote::config("a2a3", 2)).save(folder.path());
  std::ifstream file(folder.path() + "/kernels/trilith_sends.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CAPTURE(text);
  CHECK(support::contains(text, "column += 1024"));
  CHECK(support::contains(text, "column_2 += 500"));
  CHECK(support::contains(text, "InitBuffer(in0, 3, 4096)"));

  program(x, y, remote::on_model(2));
  std::int64_t wrong = 0;
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t i = 0; i < WIDTH; ++i) wrong += y(r, i) != x(1 - r, i) ? 1 : 0;
  CHECK(wrong == 0);
}
