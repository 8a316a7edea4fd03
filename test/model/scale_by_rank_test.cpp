// A vector kernel with queues: right as it stands, and every synchronisation of it that is left out is found.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

constexpr int size = 64;

/// x * rank + x, without the step number `dropped`.
struct ScaleByRank {
  std::uint8_t *x, *y;
  std::int32_t rank;
  int dropped = 0;

  void operator()() const {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> scratch_buffer;
    pipe.InitBuffer(in, 1, size * 4);
    pipe.InitBuffer(out, 1, size * 4);
    pipe.InitBuffer(scratch_buffer, size * 4);
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 2 * size);
    gy.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 2 * size);
    for (int half_index = 0; half_index < 2;
         ++half_index) {  // the second round needs what the first gave back
      auto loaded = in.AllocTensor<float>();
      DataCopy(loaded, gx[half_index * size], size);
      if (dropped != 1) in.EnQue(loaded);
      if (dropped != 2) loaded = in.DeQue<float>();
      auto result = out.AllocTensor<float>();
      auto product = scratch_buffer.Get<float>();
      if (half_index != 0) PipeBarrier<PIPE_V>();
      Muls(product, loaded, static_cast<float>(rank), size);
      if (dropped != 3) PipeBarrier<PIPE_V>();
      Add(result, product, loaded, size);
      if (dropped != 4) out.EnQue(result);
      if (dropped != 5) in.FreeTensor(loaded);
      if (dropped != 6) result = out.DeQue<float>();
      DataCopy(gy[half_index * size], result, size);
      if (dropped != 7) out.FreeTensor(result);
    }
  }
};

Outcome scaled(int dropped, std::vector<float>& y) {
  std::vector<float> x(2 * size);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.5f;
  y.assign(x.size(), -1);
  return run({input(x), output(y)}, ScaleByRank{reinterpret_cast<std::uint8_t*>(x.data()),
                                                reinterpret_cast<std::uint8_t*>(y.data()), 3, dropped});
}

}  // namespace

TEST_CASE("a kernel of queues computes what it says") {
  std::vector<float> y;
  CHECK(scaled(0, y).message == "");
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == static_cast<float>(i) * 2);
}

TEST_CASE("every synchronisation that is left out of a kernel of queues is a fault") {
  std::vector<float> y;
  CHECK(scaled(1, y).message.find("DeQue would wait for ever") != std::string::npos);
  CHECK(scaled(2, y).message.find("DeQue first") != std::string::npos);
  CHECK(scaled(3, y).message.find("PipeBarrier<PIPE_V>") != std::string::npos);
  CHECK(scaled(4, y).message.find("DeQue would wait for ever") != std::string::npos);
  CHECK(scaled(5, y).message.find("AllocTensor would wait for ever") != std::string::npos);
  CHECK(scaled(6, y).message.find("DeQue first") != std::string::npos);
  CHECK(scaled(7, y).message.find("AllocTensor would wait for ever") != std::string::npos);
}

TEST_CASE("raw events order pipes as queues do, and each that is left out is found") {
  std::vector<float> x(size, 2.0f), y(size);
  const auto kernel = [&](int dropped) {
    return run({input(x), output(y)}, [&] {
      TPipe pipe;
      TBuf<TPosition::VECCALC> buffer;
      pipe.InitBuffer(buffer, size * 4);
      auto tile = buffer.Get<float>();
      for (int round = 0; round < 2; ++round) {
        const auto loaded = pipe.FetchEventID(HardEvent::MTE2_V),
                   computed = pipe.FetchEventID(HardEvent::V_MTE3);
        const auto stored = pipe.FetchEventID(HardEvent::MTE3_MTE2);
        DataCopy(tile, global(x), size);
        if (dropped != 1) SetFlag<HardEvent::MTE2_V>(loaded);
        if (dropped != 1) WaitFlag<HardEvent::MTE2_V>(loaded);
        Muls(tile, tile, 3.0f, size);
        if (dropped != 2) SetFlag<HardEvent::V_MTE3>(computed);
        if (dropped != 2) WaitFlag<HardEvent::V_MTE3>(computed);
        DataCopy(global(y), tile, size);
        if (dropped != 3) SetFlag<HardEvent::MTE3_MTE2>(stored);
        if (dropped != 3) WaitFlag<HardEvent::MTE3_MTE2>(stored);
      }
    });
  };
  CHECK(kernel(0).message == "");
  CHECK(y == std::vector<float>(size, 6.0f));
  for (int dropped = 1; dropped <= 3; ++dropped) {
    const Outcome outcome = kernel(dropped);
    CAPTURE(outcome.message);
    CHECK(outcome.message.find("missing synchronisation") == 0);
    const char* const event[] = {"MTE2_V", "V_MTE3",
                                 "V_MTE2"};  // the third would order V before MTE2 as well
    CHECK(outcome.message.find(event[dropped - 1]) != std::string::npos);
  }
}
