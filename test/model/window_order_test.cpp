// Launches that share windows: a signal and its wait are order between them, and only behind all that they stand for.
#include <atomic>
#include <functional>
#include <thread>

#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

/// Windows of two ranks as both launches see them, data and cells.
struct Shared {
  std::vector<float> data = std::vector<float>(256);
  std::vector<std::int32_t> cells = std::vector<std::int32_t>(32);

  [[nodiscard]] Region data_window() {
    Region region = window(data);
    region.signals = false;
    return region;
  }
};

void notify(Shared& shared, std::uint64_t cell, const LocalTensor<float>& scratch) {
  const auto word = scratch.ReinterpretCast<std::int32_t>();
  word.SetValue(0, 1);
  PipeBarrier<PIPE_ALL>();
  SetAtomicAdd<std::int32_t>();
  DataCopyPad(global(shared.cells)[cell], word, {1, 4, 0, 0, 0});
  SetAtomicNone();
  PipeBarrier<PIPE_ALL>();
}

void look_until_set(Shared& shared, std::uint64_t cell) {
  const auto signal = global(shared.cells)[cell];
  do DataCacheCleanAndInvalid<std::int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(signal);
  while (signal.GetValue(0) < 1);
}

/// Two launches at the same time: both have begun before either body runs.
std::pair<Outcome, Outcome> both(Shared& shared, const std::function<void(Tiles)>& first,
                                 const std::function<void(Tiles)>& second) {
  std::atomic<int> begun{0};
  const auto launch = [&](const std::function<void(Tiles)>& body) {
    return on_tiles(
        [&](Tiles tiles) {
          ++begun;
          while (begun.load() < 2) std::this_thread::yield();
          body(tiles);
        },
        {shared.data_window(), window(shared.cells)});
  };
  Outcome one;
  std::thread other([&] { one = launch(first); });
  const Outcome two = launch(second);
  other.join();
  return {one, two};
}

}  // namespace

TEST_CASE("data, signal, wait, data: the pair orders two launches") {
  Shared shared;
  const auto [sent, got] = both(
      shared,
      [&](Tiles t) {
        DataCopy(global(shared.data), t.a, 256);
        PipeBarrier<PIPE_ALL>();
        notify(shared, 3, t.b);
      },
      [&](Tiles t) {
        look_until_set(shared, 3);
        PipeBarrier<PIPE_ALL>();
        DataCopy(t.a, global(shared.data), 256);
        PipeBarrier<PIPE_ALL>();
        CHECK(t.a.GetValue(255) == 1);
      });
  CHECK(sent.message == "");
  CHECK(got.message == "");
}

TEST_CASE("a signal that does not wait for the data before it is a fault") {
  Shared shared;
  check_fault(on_tiles(
                  [&](Tiles t) {
                    const auto word = t.b.ReinterpretCast<std::int32_t>();
                    word.SetValue(0, 1);
                    PipeBarrier<PIPE_ALL>();
                    DataCopy(global(shared.data), t.a, 256);
                    FAULTS(DataCopyPad(global(shared.cells), word, {1, 4, 0, 0, 0}));
                  },
                  {shared.data_window(), window(shared.cells)}),
              "PipeBarrier<PIPE_ALL> before the signal");
}

TEST_CASE("a load that does not wait for the look at the signal is a fault") {
  Shared shared;
  shared.cells[0] = 1;
  check_fault(on_tiles(
                  [&](Tiles t) {
                    look_until_set(shared, 0);
                    FAULTS(DataCopy(t.a, global(shared.data), 256));
                  },
                  {shared.data_window(), window(shared.cells)}),
              "PipeBarrier<PIPE_ALL> behind the wait");
}

TEST_CASE("two launches that touch the same bytes without a signal race, and the second one is told") {
  Shared shared;
  std::atomic<bool> stored{false};
  const auto [sent, got] = both(
      shared,
      [&](Tiles t) {
        DataCopy(global(shared.data), t.a, 256);
        PipeBarrier<PIPE_ALL>();
        stored = true;
      },
      [&](Tiles t) {
        while (!stored) std::this_thread::yield();
        FAULTS(DataCopy(t.a, global(shared.data), 256));
      });
  CHECK(sent.message == "");
  check_fault(got, "race between ranks: DataCopy reads");
  check_fault(got, "pld::notify behind the one and pld::wait in front of the other");
}

TEST_CASE("a signal on another cell than the one that is waited for orders nothing") {
  Shared shared;
  shared.cells[9] = 1;
  std::atomic<bool> stored{false};
  const auto [sent, got] = both(
      shared,
      [&](Tiles t) {
        DataCopy(global(shared.data), t.a, 256);
        PipeBarrier<PIPE_ALL>();
        notify(shared, 3, t.b);
        stored = true;
      },
      [&](Tiles t) {
        while (!stored) std::this_thread::yield();
        look_until_set(shared, 9);
        PipeBarrier<PIPE_ALL>();
        FAULTS(DataCopy(t.a, global(shared.data), 256));
      });
  CHECK(sent.message == "");
  check_fault(got, "race between ranks");
}

TEST_CASE("a launch knows all that launches did which ended before it began") {
  Shared shared;
  const std::initializer_list<Region> regions = {shared.data_window(), window(shared.cells)};
  CHECK(on_tiles(
            [&](Tiles t) {
              DataCopy(global(shared.data), t.a, 256);
              PipeBarrier<PIPE_ALL>();
            },
            regions)
            .message == "");
  CHECK(on_tiles([&](Tiles t) { DataCopy(t.a, global(shared.data), 256); }, regions).message == "");
}
