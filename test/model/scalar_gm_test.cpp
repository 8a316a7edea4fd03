// Scalar access to GM: a cache for each core that nobody keeps coherent, and cells of windows that others write.
#include <thread>

#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

TEST_CASE("a scalar store to GM that is not written back is a fault") {
  std::vector<std::int32_t> y(16);
  CHECK(run({output(y)}, [&] {
          global(y).SetValue(3, 5);
          CHECK(global(y).GetValue(3) == 5);
          CHECK(y[3] == 0);
          DataCacheCleanAndInvalid<std::int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
              global(y)[3]);
        }).message == "");
  CHECK(y[3] == 5);
  check_fault(run({output(y)}, [&] { FAULTS(global(y).SetValue(3, 5)); }), "in the core's cache only");
}

TEST_CASE("a store of a pipe is not seen through a line that was cached before") {
  std::vector<float> y(16);
  const auto read_twice = [&](bool invalidates) {
    return on_tiles(
        [&, invalidates](Tiles t) {
          CHECK(global(y).GetValue(0) == 0);
          PipeBarrier<PIPE_ALL>();
          DataCopy(global(y), t.a, 16);
          PipeBarrier<PIPE_ALL>();
          if (invalidates)
            DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(global(y));
          float value = 0;
          FAULTS(value = global(y).GetValue(0));
          CHECK(value == 1);
          PipeBarrier<PIPE_ALL>();
        },
        {output(y)});
  };
  CHECK(read_twice(true).message == "");
  y.assign(16, 0);
  check_fault(read_twice(false), "DataCacheCleanAndInvalid first");
}

TEST_CASE("a pipe that loads what a scalar store left in the cache is a fault") {
  std::vector<float> y(16);
  check_fault(on_tiles(
                  [&](Tiles t) {
                    global(y).SetValue(0, 1.0f);
                    PipeBarrier<PIPE_ALL>();
                    FAULTS(DataCopy(t.a, global(y), 16));
                  },
                  {output(y)}),
              "in a core's cache only");
}

TEST_CASE("two cores that store scalars in one line are a fault") {
  std::vector<std::int32_t> y(16);
  check_fault(
      run(
          {output(y)},
          [&] {
            const auto block = static_cast<std::uint64_t>(GetBlockIdx());
            FAULTS(global(y).SetValue(block, 1));
            SyncAll();
            DataCacheCleanAndInvalid<std::int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
                global(y));
          },
          Cores::Vector, 2),
      "two cores write one line of 64 bytes");
}

TEST_CASE("a core waits for a cell of a window that another launch adds to") {
  std::vector<std::int32_t> cell(16), data(8);
  Outcome sent;
  std::thread sender([&] {
    sent = run({window(cell)}, [&] {
      TPipe pipe;
      TBuf<TPosition::VECCALC> buffer;
      pipe.InitBuffer(buffer, 32);
      const auto one = buffer.Get<std::int32_t>();
      Duplicate(one, 1, 8);
      PipeBarrier<PIPE_ALL>();
      SetAtomicAdd<std::int32_t>();
      DataCopyPad(global(cell), one, {1, 4, 0, 0, 0});
      SetAtomicNone();
      PipeBarrier<PIPE_ALL>();
    });
  });
  const Outcome outcome = run({window(cell)}, [&] {
    const auto signal = global(cell);
    do DataCacheCleanAndInvalid<std::int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(signal);
    while (signal.GetValue(0) < 1);
  });
  sender.join();
  CHECK(outcome.message == "");
  CHECK(sent.message == "");
  CHECK(cell[0] == 1);
}

TEST_CASE("a core that looks at GM which nothing changes is a deadlock") {
  std::vector<std::int32_t> y(16);
  check_fault(run({output(y)},
                  [&] {
                    while (ReadGmByPassDCache(y.data()) == 0) faulting_line = __LINE__;
                  }),
              "again and again");
}

TEST_CASE("a launch whose sink has stopped ends without a fault") {
  struct Stopped : Faults {
    bool stopped() override { return true; }
  } sink;
  std::vector<std::int32_t> cell(16);
  const Region regions[] = {window(cell)};
  const trilith::model::Model model(sink);
  AscendC::model::Launch launch{};
  launch.kernel = [](void* arguments) {
    auto* const at = static_cast<std::vector<std::int32_t>*>(arguments);
    while (ReadGmByPassDCache(at->data()) == 0) {
    }
  };
  launch.arguments = &cell;
  launch.blocks = 1;
  launch.regions = regions;
  launch.region_count = 1;
  CHECK(AscendC::model::launch(model.table(), launch) == 1);
  CHECK(sink.all.empty());
}

TEST_CASE("a scalar of GM is aligned") {
  std::vector<std::int32_t> y(16);
  check_fault(run({output(y)},
                  [&] {
                    GlobalTensor<std::int32_t> odd;
                    odd.SetGlobalBuffer(
                        reinterpret_cast<std::int32_t*>(reinterpret_cast<std::uint8_t*>(y.data()) + 2), 4);
                    FAULTS(odd.GetValue(0));
                  }),
              "an address that is no multiple of that");
}

TEST_CASE("a wait loop on a window that does not invalidate is a fault") {
  std::vector<std::int32_t> cell(16);
  check_fault(run({window(cell)},
                  [&] {
                    do faulting_line = __LINE__ + 1;
                    while (global(cell).GetValue(0) < 1);
                  }),
              "again and again");
}

TEST_CASE("a loop that reads many scalars afresh is no deadlock") {
  std::vector<std::int32_t> x(256, 1);
  std::int64_t sum = 0;
  CHECK(run({input(x)}, [&] {
          for (int round = 0; round < 500; ++round)
            for (std::uint64_t i = 0; i < 256; ++i) {
              const auto place = global(x)[i];
              DataCacheCleanAndInvalid<std::int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
                  place);
              sum += place.GetValue(0);
            }
        }).message == "");
  CHECK(sum == 500 * 256);
}
