// Loads, stores and signals between ranks, on the model as on the simulator.
#include "on_model.hpp"

using remote::config;
using remote::NR;

namespace {

constexpr int WIDTH = 37, LONG = 30011;
using Cells = pld::DistributedTensor<std::int32_t, 4>;

/// Each rank's row goes to its right neighbour in four ways.
template <class T>
pl::Array<T> shifted(const char* platform, int ranks) {
  auto kernel = pl::jit.incore([](pl::Tensor<T, WIDTH> x, pl::Out<pl::Tensor<T, 4, WIDTH>> y,
                                  pld::DistributedTensor<T, 4, WIDTH> box, Cells cells) {
    const int me = pld::rank(box), n = pld::nranks(box);
    const int next = (me + 1) % n, last = (me + n - 1) % n;
    pld::remote_store(pl::load(x), box[0], {.peer = next});
    pld::notify(cells, {.peer = next, .offsets = {0}});
    pld::wait(cells, {.offsets = {0}});
    (void)pl::store(pl::load(box[0]), y[0]);

    pld::put(box[1], {.peer = next, .src = x});
    pld::fence();
    pld::notify(cells, {.peer = next, .offsets = {1}, .value = 5, .op = pld::NotifyOp::Set});
    pld::wait(cells, {.offsets = {1}, .expected = 5, .cmp = pld::WaitCmp::Eq});
    (void)pl::store(pl::load(box[1]), y[1]);

    (void)pl::store(pl::load(x), box[2]);
    pld::notify(cells, {.peer = next, .offsets = {2}});
    pld::wait(cells, {.offsets = {2}});
    (void)pl::store(pld::remote_load(box[2], {.peer = last}), y[2]);
    pld::get(y[3], box[2], {.peer = last, .src_offsets = {20}, .dst_offsets = {0}, .shape = {17}});
    pld::get(y[3], box[2], {.peer = last, .src_offsets = {0}, .dst_offsets = {17}, .shape = {20}});
  });
  auto device = pl::jit([&](auto x, auto y, auto box, auto cells) { kernel(x, y, box, cells); });
  auto host = pl::jit.host([&](pl::Tensor<T, NR, WIDTH> x, pl::Out<pl::Tensor<T, NR, 4, WIDTH>> y) {
    auto box = pld::window<T>(pld::alloc_window_buffer<T>({4, WIDTH}), {4, WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], box, cells, pld::device = r);
  });
  const auto x = remote::small_numbers<T>({ranks, WIDTH});
  pl::Array<T> y({ranks, 4, WIDTH});
  host(x, y, config(platform, ranks));
  return y;
}

template <class T>
void shift_on_all(const char* name) {
  INFO(name);
  for (const int ranks : {1, 2, 3, 4}) {
    const auto expected = shifted<T>("a2a3sim", ranks), got = shifted<T>("a2a3model", ranks);
    CHECK(remote::differences(expected, got) == 0);
    const auto x = remote::small_numbers<T>({ranks, WIDTH});
    CHECK(std::memcmp(&got(0, 0, 5), &x(ranks - 1, 5), sizeof(T)) == 0);
  }
}

}  // namespace

TEST_CASE("rows go round by store, put, load and get, in every dtype that moves") {
  shift_on_all<float>("float");
  shift_on_all<pl::half>("half");
  shift_on_all<pl::bfloat16>("bfloat16");
  shift_on_all<std::int32_t>("int32");
  shift_on_all<std::int8_t>("int8");
  shift_on_all<std::uint16_t>("uint16");
  shift_on_all<std::int64_t>("int64");
}

TEST_CASE("long rows are moved through the unified buffer in blocks") {
  auto kernel = pl::jit.incore([](pl::Tensor<float, LONG> x, pl::Out<pl::Tensor<float, LONG>> y,
                                  pld::DistributedTensor<float, LONG> box, Cells cells) {
    const int next = (pld::rank(box) + 1) % pld::nranks(box);
    pld::remote_store(pl::load(x) * 2, box, {.peer = next});
    pld::notify(cells, {.peer = next});
    pld::wait(cells);
    y = pl::store(pl::load(box) + 1, y);
  });
  auto device = pl::jit([&](auto x, auto y, auto box, auto cells) { kernel(x, y, box, cells); });
  auto host = pl::jit.host([&](pl::Tensor<float, NR, LONG> x, pl::Out<pl::Tensor<float, NR, LONG>> y) {
    auto box = pld::window<float>(pld::alloc_window_buffer<float>({LONG}), {LONG});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], box, cells, pld::device = r);
  });
  const auto x = remote::small_numbers<float>({3, LONG});
  pl::Array<float> y({3, LONG});
  host(x, y, remote::on_model(3));
  std::int64_t wrong = 0;
  for (std::int64_t r = 0; r < 3; ++r)
    for (std::int64_t i = 0; i < LONG; ++i) wrong += y(r, i) != x((r + 2) % 3, i) * 2 + 1 ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("additions of all ranks to one place each count, and a wait for as many ranks sees them all") {
  auto kernel =
      pl::jit.incore([](pl::Tensor<std::int32_t, WIDTH> x, pl::Out<pl::Tensor<std::int32_t, WIDTH>> y,
                        pld::DistributedTensor<std::int32_t, WIDTH> sum, Cells cells) {
        const int n = pld::nranks(sum);
        for (auto peer : pl::range(n)) {
          pld::remote_store(pl::load(x), sum, {.peer = peer, .atomic = pl::Atomic::Add});
          pld::put(sum, {.peer = peer, .src = x, .atomic = pl::Atomic::Add});
          pld::notify(cells, {.peer = peer});
        }
        pld::wait(cells, {.expected = n});
        y = pl::store(pl::load(sum), y);
      });
  auto device = pl::jit([&](auto x, auto y, auto sum, auto cells) { kernel(x, y, sum, cells); });
  auto host = pl::jit.host(
      [&](pl::Tensor<std::int32_t, NR, WIDTH> x, pl::Out<pl::Tensor<std::int32_t, NR, WIDTH>> y) {
        auto sum = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({WIDTH}), {WIDTH});
        auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
        for (auto r : pl::range(pld::world_size())) device(x[r], y[r], sum, cells, pld::device = r);
      });
  for (const int ranks : {1, 2, 4}) {
    const auto x = remote::small_numbers<std::int32_t>({ranks, WIDTH}, 1000);
    pl::Array<std::int32_t> y({ranks, WIDTH});
    host(x, y, remote::on_model(ranks));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < WIDTH; ++i) {
      std::int32_t sum = 0;
      for (std::int64_t r = 0; r < ranks; ++r) sum += 2 * x(r, i);
      for (std::int64_t r = 0; r < ranks; ++r) wrong += y(r, i) != sum ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a deferred wait stands at the end of the kernel, and what depends on the task comes behind it") {
  auto ask =
      pl::jit.incore([](pl::Tensor<float, WIDTH> x, pld::DistributedTensor<float, WIDTH> box, Cells cells) {
        const int next = (pld::rank(box) + 1) % pld::nranks(box);
        pld::defer_wait(cells, {.offsets = {1}, .expected = 1});
        pld::remote_store(pl::load(x), box, {.peer = next});
        pld::notify(cells, {.peer = next, .offsets = {1}});
      });
  auto take =
      pl::jit.incore([](pl::Out<pl::Tensor<float, WIDTH>> y, pld::DistributedTensor<float, WIDTH> box) {
        y = pl::store(pl::load(box), y);
      });
  auto device = pl::jit([&](auto x, auto y, auto box, auto cells) {
    ask(x, box, cells);
    take(y, box);
  });
  auto host = pl::jit.host([&](pl::Tensor<float, NR, WIDTH> x, pl::Out<pl::Tensor<float, NR, WIDTH>> y) {
    auto box = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], box, cells, pld::device = r);
  });
  const auto x = remote::small_numbers<float>({3, WIDTH});
  pl::Array<float> y({3, WIDTH});
  host(x, y, remote::on_model(3));
  for (std::int64_t i = 0; i < WIDTH; ++i) CHECK(y(1, i) == x(0, i));
}

TEST_CASE("ranks that are processes reach each other's parts on the model, too") {
  pl::RunConfig processes = remote::on_model(3);
  processes.distributed.transport = "processes";
  auto kernel = pl::jit.incore([](pl::Tensor<float, WIDTH> x, pl::Out<pl::Tensor<float, WIDTH>> y,
                                  pld::DistributedTensor<float, WIDTH> box, Cells cells) {
    const int me = pld::rank(box), n = pld::nranks(box);
    box = pl::store(pl::load(x), box);
    pld::notify(cells, {.peer = (me + 1) % n});
    pld::wait(cells);
    y = pl::store(pld::remote_load(box, {.peer = (me + n - 1) % n}), y);
  });
  auto device = pl::jit([&](auto x, auto y, auto box, auto cells) { kernel(x, y, box, cells); });
  auto host = pl::jit.host([&](pl::Tensor<float, NR, WIDTH> x, pl::Out<pl::Tensor<float, NR, WIDTH>> y) {
    auto box = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], box, cells, pld::device = r);
  });
  const auto x = remote::small_numbers<float>({3, WIDTH});
  pl::Array<float> y({3, WIDTH});
  host(x, y, processes);
  for (std::int64_t i = 0; i < WIDTH; ++i) CHECK(y(1, i) == x(0, i));
}
