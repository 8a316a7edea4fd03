// Faults of order: two operations that touch the same bytes and may run at the same time.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

TEST_CASE("two vector operations that depend on each other need a barrier") {
  const Outcome outcome = on_tiles([](Tiles t) {
    Muls(t.c, t.a, 2.0f, 64);
    FAULTS(Adds(t.b, t.c, 1.0f, 64));
  });
  check_fault(outcome, "Adds (pipe V) reads UB bytes 2048 to 2304 while Muls of line");
  check_fault(outcome, "PipeBarrier<PIPE_V> between them");
}

TEST_CASE("a vector operation that overwrites what another still reads needs a barrier") {
  check_fault(on_tiles([](Tiles t) {
                Muls(t.c, t.a, 2.0f, 64);
                FAULTS(Duplicate(t.a, 1.0f, 64));
              }),
              "may still read it");
}

TEST_CASE("lanes that two operations do not share are no conflict") {
  CHECK(on_tiles([](Tiles t) {
          const std::uint64_t even[2] = {0x5555555555555555, 0}, odd[2] = {0xaaaaaaaaaaaaaaaa, 0};
          Adds(t.c, t.a, 1.0f, even, 1, {1, 1, 8, 8});
          Adds(t.c, t.b, 2.0f, odd, 1, {1, 1, 8, 8});
        }).message == "");
}

TEST_CASE("scalars are on a pipe of their own") {
  check_fault(on_tiles([](Tiles t) {
                Muls(t.c, t.a, 2.0f, 64);
                FAULTS(t.c.GetValue(0));
              }),
              "HardEvent::V_S");
  check_fault(on_tiles([](Tiles t) {
                t.c.SetValue(0, 2.0f);
                FAULTS(Adds(t.b, t.c, 1.0f, 64));
              }),
              "HardEvent::S_V");
  CHECK(on_tiles([](Tiles t) {
          Muls(t.c, t.a, 2.0f, 64);
          const auto id = t.pipe.FetchEventID(HardEvent::V_S);
          SetFlag<HardEvent::V_S>(id);
          WaitFlag<HardEvent::V_S>(id);
          CHECK(t.c.GetValue(0) == 2.0f);
          t.c.SetValue(1, 5.0f);
          CHECK(t.c.GetValue(1) == 5.0f);
        }).message == "");
}

TEST_CASE("an event carries what its pipe has waited for") {
  std::vector<float> x(64, 1), y(64);
  CHECK(on_tiles(
            [&](Tiles t) {
              DataCopy(t.a, global(x), 64);
              SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
              WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
              SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
              WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
              DataCopy(global(y), t.a, 64);
            },
            {input(x), output(y)})
            .message == "");
}

TEST_CASE("an event that was set before the operation orders nothing") {
  std::vector<float> x(64, 1);
  check_fault(on_tiles(
                  [&](Tiles t) {
                    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
                    DataCopy(t.a, global(x), 64);
                    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
                    FAULTS(Adds(t.b, t.a, 1.0f, 64));
                  },
                  {input(x)}),
              "missing synchronisation");
}

TEST_CASE("GM that is stored and loaded again needs an event, and stores that overlap a barrier") {
  std::vector<float> y(64);
  check_fault(on_tiles(
                  [&](Tiles t) {
                    DataCopy(global(y), t.a, 64);
                    FAULTS(DataCopy(t.b, global(y), 64));
                  },
                  {output(y)}),
              "HardEvent::MTE3_MTE2");
  check_fault(on_tiles(
                  [&](Tiles t) {
                    DataCopy(global(y), t.a, 64);
                    FAULTS(DataCopy(global(y)[32], t.b, 32));
                  },
                  {output(y)}),
              "PipeBarrier<PIPE_MTE3>");
}

TEST_CASE("atomic sums of one place need no order") {
  std::vector<float> y(64, 1);
  CHECK(on_tiles(
            [&](Tiles t) {
              SetAtomicAdd<float>();
              DataCopy(global(y), t.a, 64);
              DataCopy(global(y), t.b, 64);
              SetAtomicNone();
            },
            {output(y)})
            .message == "");
  CHECK(y == std::vector<float>(64, 3));
}

TEST_CASE("blocks that write the same place are a fault") {
  std::vector<float> y(64);
  const Outcome outcome = run(
      {output(y)},
      [&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 256);
        Duplicate(buffer.Get<float>(), 1.0f, 64);
        PipeBarrier<PIPE_ALL>();
        FAULTS(DataCopy(global(y), buffer.Get<float>(), 64));
      },
      Cores::Vector, 2);
  check_fault(outcome, "nothing orders these two cores");
  CHECK(outcome.core == "vector core 1");
}

TEST_CASE("small products into one result need PipeBarrier<PIPE_M>, large ones do not") {
  std::vector<half> x(4096);
  std::vector<float> y(4096);
  const auto twice = [&](int rows, bool barrier) {
    return run(
        {input(x), output(y)},
        [&, rows, barrier] {
          TPipe pipe;
          TBuf<TPosition::A1> l1;
          TBuf<TPosition::A2> a2;
          TBuf<TPosition::B2> b2;
          TBuf<TPosition::CO1> co1;
          pipe.InitBuffer(l1, 8192);
          pipe.InitBuffer(a2, 8192);
          pipe.InitBuffer(b2, 8192);
          pipe.InitBuffer(co1, 16384);
          DataCopy(l1.Get<half>(), global(x), 4096);
          PipeBarrier<PIPE_ALL>();
          LoadData(a2.Get<half>(), l1.Get<half>(), {0, 16, 1, 0, 0, false, 0});
          LoadData(b2.Get<half>(), l1.Get<half>(), {0, 16, 1, 0, 0, false, 0});
          PipeBarrier<PIPE_ALL>();
          const auto extent = static_cast<std::uint16_t>(rows);
          Mmad(co1.Get<float>(), a2.Get<half>(), b2.Get<half>(), {extent, extent, 64, 0, false, true});
          if (barrier) PipeBarrier<PIPE_M>();
          FAULTS(
              Mmad(co1.Get<float>(), a2.Get<half>(), b2.Get<half>(), {extent, extent, 64, 0, false, false}));
        },
        Cores::Cube);
  };
  CHECK(twice(64, false).message == "");
  CHECK(twice(32, true).message == "");
  check_fault(twice(32, false), "PipeBarrier<PIPE_M>");
}
