// Cube kernels of the dtypes and layouts that the 64 by 64 by 64 product has not.
#include <algorithm>

#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

constexpr int m = 32, n = 64, k = 32;

/// Buffers of all memories of a cube core; pipes are ordered by PipeBarrier<PIPE_ALL>.
struct Cube {
  TPipe pipe;
  TBuf<TPosition::A1> a1;
  TBuf<TPosition::B1> b1;
  TBuf<TPosition::C1> c1;
  TBuf<TPosition::A2> a2;
  TBuf<TPosition::B2> b2;
  TBuf<TPosition::C2> c2;
  TBuf<TPosition::CO1> co1;
  Cube() {
    pipe.InitBuffer(a1, 8192);
    pipe.InitBuffer(b1, 8192);
    pipe.InitBuffer(c1, 256);
    pipe.InitBuffer(a2, 8192);
    pipe.InitBuffer(b2, 8192);
    pipe.InitBuffer(c2, 256);
    pipe.InitBuffer(co1, 8192);
  }
};

template <class T>
std::vector<T> numbers(int count, int period) {
  std::vector<T> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<T>(static_cast<int>(i) % period - period / 2);
  return result;
}

/// The sum of row i of a by column j of b, which is [k, n], or [n, k] where it is turned.
template <class R, class T>
R product(const std::vector<T>& a, const std::vector<T>& b, int i, int j, bool turned) {
  R sum = 0;
  for (int l = 0; l < k; ++l)
    sum += static_cast<R>(a[static_cast<std::size_t>(i * k + l)]) *
           static_cast<R>(b[static_cast<std::size_t>(turned ? j * k + l : l * n + j)]);
  return sum;
}

constexpr std::uint16_t u16(int value) { return static_cast<std::uint16_t>(value); }
constexpr std::uint32_t u32(int value) { return static_cast<std::uint32_t>(value); }

/// The left matrix [m, k] to L0A: rows of fractals.
template <class T>
void load_left(Cube& cube, const std::vector<T>& a) {
  constexpr int columns = 32 / sizeof(T);
  DataCopy(cube.a1.Get<T>(), global(a), Nd2NzParams(1, m, k, 0, k, m, 1, 0));
  PipeBarrier<PIPE_ALL>();
  for (int i = 0; i < m / 16; ++i)
    LoadData(cube.a2.Get<T>()[u32(i * 16 * k)], cube.a1.Get<T>()[u32(i * 16 * columns)],
             {0, static_cast<std::uint8_t>(k / columns), u16(m / 16), 0, 0, false, 0});
}

/// The right matrix given as [n, k].
template <class T>
void load_turned_right(Cube& cube, const std::vector<T>& b) {
  constexpr int columns = 32 / sizeof(T);
  DataCopy(cube.b1.Get<T>(), global(b), Nd2NzParams(1, n, k, 0, k, n, 1, 0));
  PipeBarrier<PIPE_ALL>();
  LoadData(cube.b2.Get<T>(), cube.b1.Get<T>(),
           {0, static_cast<std::uint8_t>(k / columns * n / 16), 1, 0, 0, false, 0});
}

}  // namespace

TEST_CASE("float times float, the right matrix turned by LoadDataWithTranspose") {
  const auto a = numbers<float>(m * k, 13), b = numbers<float>(k * n, 7);
  std::vector<float> c(m * n);
  const Outcome outcome = run(
      {input(a), input(b), output(c)},
      [&] {
        Cube cube;
        load_left(cube, a);
        for (int slab = 0; slab < k / 16; ++slab)
          DataCopy(cube.b1.Get<float>()[u32(slab * 16 * n)], global(b)[u32(slab * 16 * n)],
                   Nd2NzParams(1, 16, n, 0, n, 16, 1, 0));
        PipeBarrier<PIPE_ALL>();
        for (int slab = 0; slab < k / 16; ++slab)
          LoadDataWithTranspose(cube.b2.Get<float>()[u32(slab * 16 * n)],
                                cube.b1.Get<float>()[u32(slab * 16 * n)], {0, n / 16, 1, 0, n / 16 - 1});
        PipeBarrier<PIPE_ALL>();
        Mmad(cube.co1.Get<float>(), cube.a2.Get<float>(), cube.b2.Get<float>(), {m, n, k, 0, false, true});
        PipeBarrier<PIPE_ALL>();
        Fixpipe<float, float>(global(c), cube.co1.Get<float>(), {n, m, m, n, false});
      },
      Cores::Cube);
  CHECK(outcome.message == "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      REQUIRE(c[static_cast<std::size_t>(i * n + j)] == product<float>(a, b, i, j, false));
}

TEST_CASE("int8_t times int8_t is exact, the right matrix given either way") {
  const auto a = numbers<std::int8_t>(m * k, 251), b = numbers<std::int8_t>(k * n, 241);
  for (const bool turned : {true, false}) {
    std::vector<std::int32_t> c(m * n);
    const Outcome outcome = run(
        {input(a), input(b), output(c)},
        [&] {
          Cube cube;
          load_left(cube, a);
          if (turned) {
            load_turned_right(cube, b);
          } else {
            DataCopy(cube.b1.Get<std::int8_t>(), global(b), Nd2NzParams(1, k, n, 0, n, k, 1, 0));
            PipeBarrier<PIPE_ALL>();
            for (int block = 0; block < k / 32; ++block)
              LoadDataWithTranspose(cube.b2.Get<std::int8_t>()[u32(block * 32 * n)],
                                    cube.b1.Get<std::int8_t>()[u32(block * 1024)], {0, n / 32, k / 32, 1, 0});
          }
          PipeBarrier<PIPE_ALL>();
          Mmad(cube.co1.Get<std::int32_t>(), cube.a2.Get<std::int8_t>(), cube.b2.Get<std::int8_t>(),
               {m, n, k, 0, false, true});
          PipeBarrier<PIPE_ALL>();
          Fixpipe<std::int32_t, std::int32_t>(global(c), cube.co1.Get<std::int32_t>(), {n, m, m, n, false});
        },
        Cores::Cube);
    CHECK(outcome.message == "");
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        REQUIRE(c[static_cast<std::size_t>(i * n + j)] == product<std::int32_t>(a, b, i, j, turned));
  }
}

TEST_CASE("a bias starts the sums, Fixpipe clamps and adds atomically") {
  const auto a = numbers<bfloat16_t>(m * k, 5), b = numbers<bfloat16_t>(k * n, 9);
  const auto bias = numbers<float>(n, 11);
  std::vector<float> c(m * n, 100);
  const Outcome outcome = run(
      {input(a), input(b), input(bias), output(c)},
      [&] {
        Cube cube;
        load_left(cube, a);
        load_turned_right(cube, b);
        DataCopy(cube.c1.Get<float>(), global(bias), n);
        PipeBarrier<PIPE_ALL>();
        DataCopy(cube.c2.Get<float>(), cube.c1.Get<float>(), n);
        PipeBarrier<PIPE_ALL>();
        Mmad(cube.co1.Get<float>(), cube.a2.Get<bfloat16_t>(), cube.b2.Get<bfloat16_t>(),
             cube.c2.Get<float>(), {m, n, k, 0, true, false});
        PipeBarrier<PIPE_ALL>();
        SetAtomicAdd<float>();
        Fixpipe<float, float>(global(c), cube.co1.Get<float>(), {n, m, m, n, true});
        SetAtomicNone();
      },
      Cores::Cube);
  CHECK(outcome.message == "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const float sum = product<float>(a, b, i, j, true) + bias[static_cast<std::size_t>(j)];
      REQUIRE(c[static_cast<std::size_t>(i * n + j)] == 100 + std::max(sum, 0.0f));
    }
}

TEST_CASE("a result goes on to L1 as NZ and is multiplied again") {
  // (a · b) · identity, through half in L1.
  const auto a = numbers<half>(16 * 16, 5), b = numbers<half>(16 * 16, 3);
  std::vector<half> identity(16 * 16);
  for (std::size_t i = 0; i < 16; ++i) identity[i * 17] = 1;
  std::vector<float> c(16 * 16);
  const Outcome outcome = run(
      {input(a), input(b), input(identity), output(c)},
      [&] {
        Cube cube;
        const auto left = cube.a1.Get<half>(), right = cube.b1.Get<half>();
        DataCopy(left, global(a), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
        DataCopy(right, global(b), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
        DataCopy(right[256], global(identity), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
        PipeBarrier<PIPE_ALL>();
        for (std::uint32_t step = 0; step < 2; ++step) {
          LoadData(cube.a2.Get<half>(), left[step * 256], {0, 1, 1, 0, 0, false, 0});
          LoadData(cube.b2.Get<half>(), right[step * 256], {0, 1, 1, 0, 0, true, 0});
          PipeBarrier<PIPE_ALL>();
          Mmad(cube.co1.Get<float>(), cube.a2.Get<half>(), cube.b2.Get<half>(), {16, 16, 16, 0, false, true});
          PipeBarrier<PIPE_ALL>();
          FixpipeParamsV220 params(16, 16, 16, 16, false);
          if (step == 0) params.quantPre = QuantMode_t::F322F16;
          if (step == 0)
            Fixpipe<half, float, CFG_NZ>(left[256], cube.co1.Get<float>(), params);
          else
            Fixpipe<float, float>(global(c), cube.co1.Get<float>(), params);
          PipeBarrier<PIPE_ALL>();
        }
      },
      Cores::Cube);
  CHECK(outcome.message == "");
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (std::size_t l = 0; l < 16; ++l) sum += a[i * 16 + l] * b[l * 16 + j];
      REQUIRE(c[i * 16 + j] == sum);
    }
}
