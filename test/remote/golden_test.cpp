// Texts of kernels with windows that people have read, kept in golden/ and compared to the byte.
// TRILITH_REWRITE_GOLDEN=1 writes them anew.
#include "on_model.hpp"

#include <fstream>
#include <iterator>

using remote::NR;

namespace {

constexpr int WIDTH = 16, PIECE = 8;
using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using Pieces = pl::Tensor<float, NR, PIECE>;
using AllPieces = pl::Tensor<float, NR, NR, PIECE>;

auto scale_by_rank = pl::jit.incore([](Row x, pl::Out<Row> y, pld::DistributedTensor<float, WIDTH> window) {
  auto tile = pl::load(x);
  y = pl::store(tile * pl::cast<float>(pld::rank(window)) + tile, y);
});
auto scale_on_device = pl::jit([](auto x, auto y, auto window) { scale_by_rank(x, y, window); });
auto scale_program = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  auto window = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  for (auto r : pl::range(pld::world_size())) scale_on_device(x[r], y[r], window, pld::device = r);
});

auto ring_allreduce = pl::jit.incore(
    [](Pieces x, pl::Out<Pieces> y, pld::DistributedTensor<float, NR, PIECE> partial,
       pld::DistributedTensor<float, NR, PIECE> total, pld::DistributedTensor<std::int32_t, 2, NR> arrived) {
      const int me = pld::rank(partial), n = pld::nranks(partial);
      const int next = (me + 1) % n;
      auto sum = pl::load(x[me]);
      for (auto step : pl::range(n - 1)) {
        const auto out = (me - step + n) % n, in = (me - step - 1 + n) % n;
        pld::remote_store(sum, partial[out], {.peer = next});
        pld::notify(arrived, {.peer = next, .offsets = {0, out}});
        pld::wait(arrived, {.offsets = {0, in}});
        sum = pl::load(partial[in]) + pl::load(x[in]);
      }
      (void)pl::store(sum, y[next]);
      for (auto step : pl::range(n - 1)) {
        const auto out = (me + 1 - step + n) % n, in = (me - step + n) % n;
        pld::remote_store(sum, total[out], {.peer = next});
        pld::notify(arrived, {.peer = next, .offsets = {1, out}});
        pld::wait(arrived, {.offsets = {1, in}});
        sum = pl::load(total[in]);
        (void)pl::store(sum, y[in]);
      }
    });
auto ring_on_device = pl::jit([](auto x, auto y, auto partial, auto total, auto arrived) {
  ring_allreduce(x, y, partial, total, arrived);
});
auto ring_program = pl::jit.host([](AllPieces x, pl::Out<AllPieces> y) {
  const int n = pld::world_size();
  auto partial = pld::window<float>(pld::alloc_window_buffer<float>({n, PIECE}), {n, PIECE});
  auto total = pld::window<float>(pld::alloc_window_buffer<float>({n, PIECE}), {n, PIECE});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2, n}), {2, n});
  for (auto r : pl::range(pld::world_size()))
    ring_on_device(x[r], y[r], partial, total, arrived, pld::device = r);
});

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Program>
void compare(const std::string& name, Program& program, const pl::Array<float>& x, pl::Array<float>& y) {
  const support::TemporaryFolder folder;
  program.compile(x, y, remote::config("a2a3", static_cast<int>(x.dim(0)))).save(folder.path());
  const std::string text = text_of(folder.path() + "/kernels/trilith_" + name + ".cpp");
  REQUIRE(!text.empty());
  const std::string kept = std::string(TRILITH_SOURCE_DIR) + "/test/remote/golden/" + name + ".txt";
  if (std::getenv("TRILITH_REWRITE_GOLDEN") != nullptr) std::ofstream(kept) << text;
  INFO(name);
  CHECK(text == text_of(kept));
}

}  // namespace

TEST_CASE("a kernel that asks for its rank reads it from the window context") {
  pl::Array<float> x({2, WIDTH}), y({2, WIDTH});
  compare("scale_by_rank", scale_program, x, y);
}

TEST_CASE(
    "a ring by hand is copies to the neighbour's part, signals behind them and waits in front of loads") {
  pl::Array<float> x({4, 4, PIECE}), y({4, 4, PIECE});
  compare("ring_allreduce", ring_program, x, y);
}
