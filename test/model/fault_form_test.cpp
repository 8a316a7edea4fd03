// Faults of parameters: counts, masks, repeats, strides, overlaps and modes.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

TEST_CASE("a copy that is no multiple of 32 bytes is a fault") {
  std::vector<float> x(16);
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a, global(x), 10)); }, {input(x)}),
              "no multiple of 32");
}

TEST_CASE("block counts and lengths beyond their limits are faults") {
  std::vector<float> x(16);
  check_fault(on_tiles([&](Tiles t) { FAULTS(DataCopy(t.a, global(x), {4096, 1, 0, 0})); }, {input(x)}),
              "blockCount is 4096: 1 to 4095");
  check_fault(
      on_tiles(
          [&](Tiles t) { FAULTS(DataCopyPad(t.a, global(x), {1, 2097152, 0, 0, 0}, {false, 0, 0, 0.0f})); },
          {input(x)}),
      "blockLen is 2097152: 1 to 2097151");
  check_fault(
      on_tiles([&](Tiles t) { FAULTS(DataCopyPad(t.a, global(x), {1, 4, 0, 0, 0}, {true, 9, 0, 0.0f})); },
               {input(x)}),
      "is more than 32 bytes");
}

TEST_CASE("more than 255 repeats are a fault") {
  check_fault(on_tiles([](Tiles t) { FAULTS(Adds(t.a, t.b, 1.0f, 64, 256, {1, 1, 8, 8})); }),
              "repeatTime 256");
  check_fault(on_tiles([](Tiles t) { FAULTS(Brcb(t.a, t.b, 300, {1, 8})); }), "repeatTime 300");
}

TEST_CASE("a mask beyond a repeat is a fault") {
  check_fault(on_tiles([](Tiles t) { FAULTS(Adds(t.a, t.b, 1.0f, 65, 1, {1, 1, 8, 8})); }),
              "mask 65: 1 to 64");
  check_fault(on_tiles([](Tiles t) {
                const std::uint64_t mask[2] = {1, 1};
                FAULTS(Adds(t.a, t.b, 1.0f, mask, 1, {1, 1, 8, 8}));
              }),
              "lanes beyond the 64 of a repeat");
  check_fault(on_tiles([](Tiles t) {
                const std::uint64_t mask[2] = {0, 0};
                FAULTS(Adds(t.a, t.b, 1.0f, mask, 1, {1, 1, 8, 8}));
              }),
              "the mask is empty");
}

TEST_CASE("dstBlkStride 0 and dstRepStride 0 of a reduction are faults") {
  check_fault(on_tiles([](Tiles t) { FAULTS(Adds(t.a, t.b, 1.0f, 64, 1, {0, 1, 8, 8})); }), "dstBlkStride 0");
  check_fault(on_tiles([](Tiles t) { FAULTS(WholeReduceSum(t.a, t.b, 64, 2, 0, 1, 8)); }), "dstRepStride 0");
}

TEST_CASE("source and destination may start together and not overlap otherwise") {
  CHECK(on_tiles([](Tiles t) { Adds(t.a, t.a, 1.0f, 256); }).message == "");
  check_fault(on_tiles([](Tiles t) { FAULTS(Adds(t.a[8], t.a, 1.0f, 64)); }),
              "overlap and do not start together");
  check_fault(on_tiles([](Tiles t) { FAULTS(Adds(t.a[64], t.a, 1.0f, 64, 2, {1, 1, 8, 8})); }),
              "reads what an earlier repeat wrote");
  check_fault(on_tiles([](Tiles t) { FAULTS(DataCopy(t.a[8], t.a, 64)); }), "source and destination overlap");
}

TEST_CASE("a sum may gather its repeats in its second source") {
  CHECK(on_tiles([](Tiles t) { Add(t.c, t.a, t.c, 64, 4, {1, 1, 1, 0, 8, 0}); }).message == "");
}

TEST_CASE("a cast that widens in place is a fault") {
  check_fault(on_tiles([](Tiles t) {
                Duplicate(t.a.ReinterpretCast<half>(), half(1), 128);
                PipeBarrier<PIPE_V>();
                FAULTS(Cast(t.a, t.a.ReinterpretCast<half>(), RoundMode::CAST_NONE, 128));
              }),
              "overlap");
}

TEST_CASE("a rounding mode that the pair has not is a fault") {
  check_fault(on_tiles([](Tiles t) {
                FAULTS(Cast(t.a.ReinterpretCast<std::int32_t>(), t.b, RoundMode::CAST_NONE, 64));
              }),
              "from float to int32_t has no such RoundMode");
}

TEST_CASE("Compare needs whole repeats, and int32_t compares for equality only") {
  check_fault(on_tiles([](Tiles t) {
                FAULTS(CompareScalar(t.c.ReinterpretCast<std::uint8_t>(), t.a, 1.0f, CMPMODE::LT, 40));
              }),
              "no multiple of 256 bytes");
  check_fault(on_tiles([](Tiles t) {
                const auto a = t.a.ReinterpretCast<std::int32_t>();
                FAULTS(Compare(t.c.ReinterpretCast<std::uint8_t>(), a, a, CMPMODE::LT, 64));
              }),
              "int32_t compares with CMPMODE::EQ only");
}

TEST_CASE("a mode of Select that does not fit its sources is a fault") {
  check_fault(on_tiles([](Tiles t) {
                FAULTS(Select(t.c, t.a.ReinterpretCast<std::uint8_t>(), t.b, 0.0f,
                              SELMODE::VSEL_TENSOR_TENSOR_MODE, 64));
              }),
              "a scalar needs VSEL_TENSOR_SCALAR_MODE");
}

TEST_CASE("a work tensor that is too small is a fault") {
  check_fault(on_tiles([](Tiles t) {
                auto work = t.c;
                work.SetSize(1);
                FAULTS(ReduceSum(t.b, t.a, work, 256));
              }),
              "the work tensor has 4 bytes and needs 32");
}

TEST_CASE("an offset of Gather that is no multiple of the element is a fault") {
  check_fault(on_tiles([](Tiles t) {
                auto offsets = t.b.ReinterpretCast<std::int32_t>();
                CreateVecIndex(offsets, 0, 64);
                PipeBarrier<PIPE_V>();
                FAULTS(Gather(t.c, t.a, offsets.ReinterpretCast<std::uint32_t>(), 0, 64));
              }),
              "no multiple of the element's 4");
}

TEST_CASE("atomic stores are of the dtype that was set, and end before the kernel") {
  std::vector<float> y(64);
  check_fault(on_tiles(
                  [&](Tiles t) {
                    SetAtomicAdd<half>();
                    FAULTS(DataCopy(global(y), t.a, 64));
                  },
                  {output(y)}),
              "a store of float while atomic stores are of half");
  check_fault(on_tiles([&](Tiles) { FAULTS(SetAtomicAdd<float>()); }),
              "the kernel ends with atomic stores on");
}

TEST_CASE("the rules of the cube") {
  std::vector<half> x(4096);
  struct Cube {
    TPipe pipe;
    TBuf<TPosition::A1> l1;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    Cube() {
      pipe.InitBuffer(l1, 8192);
      pipe.InitBuffer(a2, 8192);
      pipe.InitBuffer(b2, 8192);
      pipe.InitBuffer(co1, 8192);
    }
  };
  const auto on_cube = [&](auto body) {
    return run(
        {input(x), output(x)},
        [&] {
          Cube cube;
          DataCopy(cube.l1.template Get<half>(), global(x), 4096);
          PipeBarrier<PIPE_ALL>();
          body(cube);
        },
        Cores::Cube);
  };
  check_fault(on_cube([](Cube& cube) {
                FAULTS(LoadData(cube.a2.Get<float>(), cube.l1.Get<float>(), {0, 1, 1, 0, 0, true, 0}));
              }),
              "ifTranspose is for dtypes of 16 bits");
  check_fault(on_cube([](Cube& cube) {
                FAULTS(LoadData(cube.a2.Get<half>()[16], cube.l1.Get<half>(), {0, 1, 1, 0, 0, false, 0}));
              }),
              "not a multiple of 512");
  check_fault(on_cube([](Cube& cube) {
                FAULTS(Mmad(cube.co1.Get<float>(), cube.a2.Get<half>(), cube.b2.Get<half>(),
                            {1, 16, 16, 0, false, true}));
              }),
              "pad m to 16");
  check_fault(on_cube([](Cube& cube) {
                FAULTS(Mmad(cube.co1.Get<float>(), cube.a2.Get<half>(), cube.b2.Get<half>(),
                            {16, 16, 5000, 0, false, true}));
              }),
              "1 to 4095");
  check_fault(on_cube([&](Cube& cube) {
                FixpipeParamsV220 params(16, 16, 16, 16, false);
                FAULTS((Fixpipe<half, float>(global(x), cube.co1.Get<float>(), params)));
              }),
              "from float to half needs QuantMode_t::F322F16");
  check_fault(on_cube([&](Cube& cube) {
                FAULTS(DataCopy(cube.l1.Get<half>(), global(x), Nd2NzParams(1, 16, 32, 0, 16, 16, 1, 0)));
              }),
              "srcDValue 16 is less than dValue 32");
}
