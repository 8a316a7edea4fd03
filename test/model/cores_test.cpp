// Several cores: what orders them, what leaves them waiting, and blocks that are more than the cores.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

/// A tile of 8 int32_t in UB that a core stores and loads.
struct Cell {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  Cell() { pipe.InitBuffer(buffer, 32); }
  LocalTensor<std::int32_t> tile() { return buffer.Get<std::int32_t>(); }
  void fill(std::int32_t value) {
    Duplicate(tile(), value, 8);
    PipeBarrier<PIPE_ALL>();
  }
};

}  // namespace

TEST_CASE("SyncAll orders what vector cores store and load") {
  std::vector<std::int32_t> x(4 * 8), y(4 * 8);
  const auto shifted = [&](bool synchronised) {
    return run(
        {scratch(x), output(y)},
        [&] {
          Cell cell;
          const auto block = static_cast<std::uint64_t>(GetBlockIdx()),
                     count = static_cast<std::uint64_t>(GetBlockNum());
          cell.fill(static_cast<std::int32_t>(block) + 10);
          DataCopy(global(x)[block * 8], cell.tile(), 8);
          PipeBarrier<PIPE_ALL>();
          if (synchronised) SyncAll();
          FAULTS(DataCopy(cell.tile(), global(x)[(block + 1) % count * 8], 8));
          PipeBarrier<PIPE_ALL>();
          DataCopy(global(y)[block * 8], cell.tile(), 8);
        },
        Cores::Vector, 4);
  };
  CHECK(shifted(true).message == "");
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == static_cast<std::int32_t>((i / 8 + 1) % 4) + 10);
  // The first core reads what nothing has written; the order of the others is the clocks' business.
  check_fault(shifted(false), "nothing has written");
}

TEST_CASE("without SyncAll a load of what another core stored is a fault, whoever came first") {
  std::vector<std::int32_t> x(2 * 8);
  check_fault(run(
                  {output(x)},
                  [&] {
                    Cell cell;
                    cell.fill(1);
                    const auto block = static_cast<std::uint64_t>(GetBlockIdx());
                    if (block == 0)
                      DataCopy(global(x), cell.tile(), 8);
                    else
                      FAULTS(DataCopy(cell.tile(), global(x), 8));
                  },
                  Cores::Vector, 2),
              "nothing orders these two cores");
}

TEST_CASE("blocks that are more than the cores run in turns, but may not wait for each other") {
  std::vector<std::int32_t> x(100 * 8);
  const auto stored = [&](bool waits) {
    return run(
        {output(x)},
        [&] {
          Cell cell;
          cell.fill(static_cast<std::int32_t>(GetBlockIdx()));
          DataCopy(global(x)[static_cast<std::uint64_t>(GetBlockIdx()) * 8], cell.tile(), 8);
          if (waits) FAULTS(SyncAll());
        },
        Cores::Vector, 100);
  };
  CHECK(stored(false).message == "");
  CHECK(x[99 * 8] == 99);
  check_fault(stored(true), "must not be more than the cores");
}

TEST_CASE("cube and vector cores hand over through GM with flags") {
  // Each vector core writes half of the left matrix; the cube core multiplies it by the identity; they double the result.
  std::vector<half> a(16 * 16), identity(16 * 16);
  std::vector<float> c(16 * 16), y(16 * 16);
  for (std::size_t i = 0; i < 16; ++i) identity[i * 16 + i] = 1;
  const auto handed_over = [&](int dropped) {
    return run(
        {scratch(a), input(identity), scratch(c), output(y)},
        [&, dropped] {
          KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
          TPipe pipe;
          if ASCEND_IS_AIV {
            TBuf<TPosition::VECCALC> buffer;
            pipe.InitBuffer(buffer, 512);
            const auto half_index = static_cast<std::uint64_t>(GetSubBlockIdx());
            const auto tile = buffer.Get<half>(128);
            Duplicate(tile, half(static_cast<int>(half_index) + 1), 128);
            PipeBarrier<PIPE_ALL>();
            DataCopy(global(a)[half_index * 128], tile, 128);
            if (dropped != 1) CrossCoreSetFlag<2, PIPE_MTE3>(3);
            if (dropped != 2) CrossCoreWaitFlag(4);
            const auto result = buffer.Get<float>(128);
            PipeBarrier<PIPE_ALL>();
            FAULTS(DataCopy(result, global(c)[half_index * 128], 128));
            PipeBarrier<PIPE_ALL>();
            Muls(result, result, 2.0f, 128);
            PipeBarrier<PIPE_ALL>();
            DataCopy(global(y)[half_index * 128], result, 128);
          }
          if ASCEND_IS_AIC {
            TBuf<TPosition::A1> l1;
            TBuf<TPosition::A2> a2;
            TBuf<TPosition::B2> b2;
            TBuf<TPosition::CO1> co1;
            pipe.InitBuffer(l1, 1024);
            pipe.InitBuffer(a2, 512);
            pipe.InitBuffer(b2, 512);
            pipe.InitBuffer(co1, 1024);
            if (dropped != 3) CrossCoreWaitFlag(3);
            DataCopy(l1.Get<half>(), global(a), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
            DataCopy(l1.Get<half>()[256], global(identity), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
            PipeBarrier<PIPE_ALL>();
            LoadData(a2.Get<half>(), l1.Get<half>(), {0, 1, 1, 0, 0, false, 0});
            LoadData(b2.Get<half>(), l1.Get<half>()[256], {0, 1, 1, 0, 0, true, 0});
            PipeBarrier<PIPE_ALL>();
            Mmad(co1.Get<float>(), a2.Get<half>(), b2.Get<half>(), {16, 16, 16, 0, false, true});
            PipeBarrier<PIPE_ALL>();
            Fixpipe<float, float>(global(c), co1.Get<float>(), {16, 16, 16, 16, false});
            if (dropped != 4) CrossCoreSetFlag<2, PIPE_FIX>(4);
          }
        },
        Cores::Mixed);
  };
  CHECK(handed_over(0).message == "");
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (i < 128 ? 2.0f : 4.0f));
  for (int dropped = 1; dropped <= 4; ++dropped) {
    CAPTURE(dropped);
    const Outcome outcome = handed_over(dropped);
    CAPTURE(outcome.message);
    CHECK(outcome.message != "");
  }
  CHECK(handed_over(1).message.find("deadlock") == 0);
}

TEST_CASE("a flag that is set and never waited for, or only by some, is a fault") {
  check_fault(run(
                  {},
                  [] {
                    if ASCEND_IS_AIC
                      FAULTS((CrossCoreSetFlag<2, PIPE_FIX>(1)));
                  },
                  Cores::Mixed),
              "flag 1 between cores set 1 times more than it was waited for");
  check_fault(run(
                  {},
                  [] {
                    if ASCEND_IS_AIV {
                      if (GetSubBlockIdx() == 1) FAULTS((CrossCoreSetFlag<2, PIPE_MTE3>(1)));
                    }
                  },
                  Cores::Mixed),
              "set by some of the cores that must set it");
}

TEST_CASE("flags and SyncAll where they cannot work are faults") {
  check_fault(run({}, [] { FAULTS((CrossCoreSetFlag<0, PIPE_MTE3>(1))); }),
              "flags need KERNEL_TYPE_MIX_AIC_1_2");
  check_fault(run({}, [] { FAULTS(SyncAll()); }, Cores::Cube), "SyncAll is for vector cores");
  check_fault(run(
                  {},
                  [] {
                    if ASCEND_IS_AIC
                      FAULTS((CrossCoreSetFlag<2, PIPE_FIX>(16)));
                  },
                  Cores::Mixed),
              "flags are 0 to 15");
}

TEST_CASE("SyncAll<false> orders the cores of both kinds") {
  std::vector<std::int32_t> x(8);
  CHECK(run(
            {output(x)},
            [&] {
              if ASCEND_IS_AIC {
                SyncAll<false>();
                return;
              }
              Cell cell;
              cell.fill(7);
              if (GetBlockIdx() == 3) DataCopy(global(x), cell.tile(), 8);
              SyncAll<false>();
              if (GetBlockIdx() == 0) DataCopy(cell.tile(), global(x), 8);
            },
            Cores::Mixed, 2)
            .message == "");
}
