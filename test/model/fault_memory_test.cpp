// Faults of places: beyond a tensor, not aligned, in the wrong memory, of nobody; and of bytes that nothing has written.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

TEST_CASE("an operation beyond the end of its tensor is a fault") {
  check_fault(on_tiles([](Tiles t) { FAULTS(Add(t.c, t.a, t.b, 264)); }),
              "of a tensor in VECCALC that has 1024");
  check_fault(on_tiles([](Tiles t) { FAULTS(Add(t.c[200], t.a, t.b, 64)); }),
              "of a tensor in VECCALC that has 224");
  check_fault(on_tiles([](Tiles t) { FAULTS(t.a.GetValue(256)); }), "of a tensor in VECCALC that has 1024");
}

TEST_CASE("an operand of the vector unit that does not start at 32 bytes is a fault") {
  check_fault(on_tiles([](Tiles t) { FAULTS(Add(t.c, t.a[1], t.b, 8)); }), "which is not a multiple of 32");
}

TEST_CASE("a copy on the chip that does not start at 32 bytes is a fault") {
  std::vector<float> x(16);
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a[4], global(x), 8)); }, {input(x)}),
              "not a multiple of 32");
}

TEST_CASE("buffers that do not fit a memory are a fault") {
  check_fault(run({},
                  [] {
                    TPipe pipe;
                    TBuf<TPosition::VECCALC> large, more;
                    pipe.InitBuffer(large, 184 * 1024 - 256);
                    FAULTS(pipe.InitBuffer(more, 32));
                  }),
              "do not fit UB: 188160 of 188160 bytes are taken");
}

TEST_CASE("more than 64 buffers, or more than 8 of queues at a position, are a fault") {
  check_fault(run({},
                  [] {
                    TPipe pipe;
                    TBuf<TPosition::VECCALC> buffer;
                    for (int i = 0; i <= 64; ++i) FAULTS(pipe.InitBuffer(buffer, 32));
                  }),
              "more than 64 buffers");
  check_fault(run({},
                  [] {
                    TPipe pipe;
                    TQue<TPosition::VECIN, 1> queue, more;
                    pipe.InitBuffer(queue, 8, 32);
                    FAULTS(pipe.InitBuffer(more, 1, 32));
                  }),
              "more than 8 buffers of queues at TPosition::VECIN");
}

TEST_CASE("a path that the hardware has not is a fault") {
  std::vector<half> x(256);
  const auto on_cube = [&](auto body) { return run({input(x)}, body, Cores::Cube); };
  check_fault(on_cube([&] {
                TPipe pipe;
                TBuf<TPosition::A2> a2;
                pipe.InitBuffer(a2, 512);
                FAULTS(DataCopy(a2.Get<half>(), global(x), 256));
              }),
              "there is no path from GM to A2");
  check_fault(on_cube([&] {
                TPipe pipe;
                TBuf<TPosition::A1> a1;
                TBuf<TPosition::CO1> co1;
                pipe.InitBuffer(a1, 512);
                pipe.InitBuffer(co1, 512);
                FAULTS(LoadData(co1.Get<half>(), a1.Get<half>(), {0, 1, 1, 0, 0, false, 0}));
              }),
              "there is no path from A1 to CO1");
  check_fault(on_tiles([](Tiles t) {
                TBuf<TPosition::A1> a1;
                t.pipe.InitBuffer(a1, 512);
                FAULTS(DataCopy(a1.Get<float>(), t.a, 64));
              }),
              "there is no path from VECCALC to A1");
}

TEST_CASE("a memory of the other core is a fault") {
  check_fault(run(
                  {},
                  [] {
                    TPipe pipe;
                    TBuf<TPosition::VECCALC> buffer;
                    pipe.InitBuffer(buffer, 256);
                    FAULTS(Duplicate(buffer.Get<float>(), 0.0f, 64));
                  },
                  Cores::Cube),
              "a cube core has no UB");
}

TEST_CASE("a tensor that was never allocated is a fault") {
  check_fault(on_tiles([](Tiles t) { FAULTS(Adds(t.a, LocalTensor<float>(), 1.0f, 64)); }),
              "never allocated");
}

TEST_CASE("reading what nothing has written is a fault") {
  check_fault(run({},
                  [] {
                    TPipe pipe;
                    TBuf<TPosition::VECCALC> buffer;
                    pipe.InitBuffer(buffer, 512);
                    FAULTS(Adds(buffer.Get<float>(), buffer.Get<float>()[64], 1.0f, 64));
                  }),
              "which nothing has written");
}

TEST_CASE("what stood in a buffer before AllocTensor is not there after it") {
  check_fault(run({},
                  [] {
                    TPipe pipe;
                    TQue<TPosition::VECCALC, 1> queue;
                    pipe.InitBuffer(queue, 1, 256);
                    auto tile = queue.AllocTensor<float>();
                    Duplicate(tile, 1.0f, 64);
                    queue.FreeTensor(tile);
                    tile = queue.AllocTensor<float>();
                    FAULTS(Adds(tile, tile, 1.0f, 64));
                  }),
              "which nothing has written");
}

TEST_CASE("storing what was computed from padding is a fault, storing the rest is none") {
  std::vector<float> x(5, 2), y(8);
  const auto kernel = [&](bool reduces) {
    return on_tiles(
        [&](Tiles t) {
          DataCopyPad(t.a, global(x), {1, 20, 0, 0, 0}, {false, 0, 0, 0.0f});
          PipeBarrier<PIPE_ALL>();
          Muls(t.b, t.a, 2.0f, 8);
          PipeBarrier<PIPE_V>();
          WholeReduceSum(t.c, t.b, 8, 1, 1, 1, 8);
          PipeBarrier<PIPE_ALL>();
          if (reduces)
            FAULTS(DataCopyPad(global(y), t.c, {1, 4, 0, 0, 0}));
          else
            DataCopyPad(global(y), t.b, {1, 20, 0, 0, 0});
        },
        {input(x), output(y)});
  };
  CHECK(kernel(false).message == "");
  CHECK(y == std::vector<float>{4, 4, 4, 4, 4, 0, 0, 0});
  check_fault(kernel(true), "stores to GM what nothing has written");
}

TEST_CASE("padding with a value is not unspecified") {
  std::vector<float> x(5, 2), y(1);
  CHECK(on_tiles(
            [&](Tiles t) {
              DataCopyPad(t.a, global(x), {1, 20, 0, 0, 0}, {true, 0, 3, 0.0f});
              PipeBarrier<PIPE_ALL>();
              WholeReduceSum(t.c, t.a, 8, 1, 1, 1, 8);
              PipeBarrier<PIPE_ALL>();
              DataCopyPad(global(y), t.c, {1, 4, 0, 0, 0});
            },
            {input(x), output(y)})
            .message == "");
  CHECK(y[0] == 10);
}

TEST_CASE("a scalar read of what nothing has written is a fault") {
  check_fault(run({},
                  [] {
                    TPipe pipe;
                    TBuf<TPosition::VECCALC> buffer;
                    pipe.InitBuffer(buffer, 64);
                    FAULTS(buffer.Get<float>().GetValue(3));
                  }),
              "reads element 3, which is uninitialised");
}

TEST_CASE("GM outside the tensors of the launch is a fault, and an input is not written") {
  std::vector<float> x(64), y(64);
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a, global(x), 64)); }, {output(y)}),
              "outside the tensors of the launch");
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(global(x), t.a, 64)); }, {input(x)}),
              "writes tensor 'input', which is an input");
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a, global(x)[8], 64)); }, {input(x)}),
              "of a GlobalTensor of 224 bytes");
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a, GlobalTensor<float>(), 64)); }),
              "no SetGlobalBuffer");
}

TEST_CASE("scratch in GM holds nothing before the kernel writes it") {
  std::vector<float> x(64);
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a, global(x), 64)); }, {scratch(x)}),
              "reads GM that nothing has written");
}
