// A cube kernel: 64 by 64 by 64 through L1, L0A, L0B and L0C, and what is found when a synchronisation is left out.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

constexpr int edge = 16;

template <class T, class R>
struct Matmul {
  std::vector<T>* a;
  std::vector<T>* b;
  std::vector<R>* c;
  int m, n, k;
  int dropped = 0;

  void operator()() const {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<TPosition::A1, 1> qa1;
    TQue<TPosition::B1, 1> qb1;
    TQue<TPosition::A2, 1> qa2;
    TQue<TPosition::B2, 1> qb2;
    TQue<TPosition::CO1, 1> qc;
    const int rows = (m + 15) / 16 * 16, columns = (n + 15) / 16 * 16, depth = (k + 15) / 16 * 16;
    pipe.InitBuffer(qa1, 1, rows * depth * 2);
    pipe.InitBuffer(qb1, 1, depth * columns * 2);
    pipe.InitBuffer(qa2, 1, rows * depth * 2);
    pipe.InitBuffer(qb2, 1, depth * columns * 2);
    pipe.InitBuffer(qc, 1, rows * columns * 4);
    const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };

    auto a1 = qa1.AllocTensor<T>();
    DataCopy(a1, global(*a), Nd2NzParams(1, u16(m), u16(k), 0, u16(k), u16(rows), 1, 0));
    if (dropped != 1) qa1.EnQue(a1);
    auto b1 = qb1.AllocTensor<T>();
    DataCopy(b1, global(*b), Nd2NzParams(1, u16(k), u16(n), 0, u16(n), u16(depth), 1, 0));
    if (dropped != 2) qb1.EnQue(b1);

    if (dropped != 1) a1 = qa1.DeQue<T>();
    auto a2 = qa2.AllocTensor<T>();
    for (int i = 0; i < rows / edge; ++i) {
      LoadData2DParams params;
      params.repeatTimes = static_cast<std::uint8_t>(depth / edge);
      params.srcStride = u16(rows / edge);
      LoadData(a2[static_cast<std::uint32_t>(i * depth * edge)], a1[static_cast<std::uint32_t>(i * 256)],
               params);
    }
    if (dropped != 3) qa2.EnQue(a2);
    if (dropped != 2) b1 = qb1.DeQue<T>();
    auto b2 = qb2.AllocTensor<T>();
    for (int i = 0; i < depth / edge; ++i) {
      LoadData2DParams params;
      params.repeatTimes = static_cast<std::uint8_t>(columns / edge);
      params.srcStride = u16(depth / edge);
      params.ifTranspose = true;
      LoadData(b2[static_cast<std::uint32_t>(i * columns * edge)], b1[static_cast<std::uint32_t>(i * 256)],
               params);
    }
    if (dropped != 4) qb2.EnQue(b2);

    if (dropped != 3) a2 = qa2.DeQue<T>();
    if (dropped != 4) b2 = qb2.DeQue<T>();
    auto c1 = qc.AllocTensor<float>();
    Mmad(c1, a2, b2, MmadParams(u16(m), u16(n), u16(k), 0, false, true));
    if (dropped != 5) qc.EnQue(c1);
    if (dropped != 5) c1 = qc.DeQue<float>();
    FixpipeParamsV220 params(u16(n), u16(m), u16(rows), static_cast<std::uint32_t>(n), false);
    if constexpr (sizeof(R) == 2) params.quantPre = QuantMode_t::F322F16;
    Fixpipe<R, float, CFG_ROW_MAJOR>(global(*c), c1, params);
    qa1.FreeTensor(a1);
    qb1.FreeTensor(b1);
    qa2.FreeTensor(a2);
    qb2.FreeTensor(b2);
    if (dropped != 6) qc.FreeTensor(c1);
  }
};

template <class R>
Outcome multiply(int m, int n, int k, int dropped = 0) {
  std::vector<half> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  std::vector<R> c(static_cast<std::size_t>(m * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int>(i % 7) - 3;
  const Outcome outcome =
      run({input(a), input(b), output(c)}, Matmul<half, R>{&a, &b, &c, m, n, k, dropped}, Cores::Cube);
  if (dropped != 0) return outcome;
  CHECK(outcome.message == "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
      REQUIRE(static_cast<float>(c[static_cast<std::size_t>(i * n + j)]) == sum);
    }
  return outcome;
}

}  // namespace

TEST_CASE("a product of 64 by 64 by 64 is right") { multiply<float>(64, 64, 64); }
TEST_CASE("extents that are no multiple of a fractal need no padding of values") {
  multiply<float>(40, 24, 56);
}
TEST_CASE("Fixpipe rounds to half") { multiply<half>(32, 48, 16); }

TEST_CASE("every synchronisation that is left out of a cube kernel is a fault") {
  for (int dropped = 1; dropped <= 5; ++dropped) {
    CAPTURE(dropped);
    const Outcome outcome = multiply<float>(64, 64, 64, dropped);
    CAPTURE(outcome.message);
    const bool found = outcome.message.find("missing synchronisation") == 0 ||
                       outcome.message.find("EnQue and DeQue first") != std::string::npos;
    CHECK(found);
  }
  CHECK(multiply<float>(64, 64, 64, 6).message.find("not freed") != std::string::npos);
}
