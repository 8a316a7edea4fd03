// Collectives over MPI: the same bits as between threads.
#include "mpi.hpp"

#include "windows/collective_programs.hpp"
#include "windows/compiled_collectives.hpp"
#include "windows/through_window.hpp"

using pld::Algorithm;
using pld::ReduceOp;

namespace {

/// Numbers whose sums and products depend on their order.
template <class T>
T uneven(int rank, std::int64_t i) {
  return static_cast<T>(1.0f + 0.37f * static_cast<float>(rank) + 0.013f * static_cast<float>(i % 29));
}

template <class T, class Collective>
pl::Array<T> through(std::int64_t size, const Collective& collective) {
  return windows::through_window(windows::elements<T>(mpi::processes(), size, uneven<T>), collective);
}

template <class Collective>
bool rows_agree(std::int64_t row, const Collective& collective) {
  const std::int64_t n = mpi::processes();
  return mpi::same_bits([&] {
    return through<float>(
        n * row, [&](auto&, const pld::Window& buffer) { collective(pld::window<float>(buffer, {n, row})); });
  });
}

}  // namespace

TEST_CASE_TEMPLATE("an allreduce over MPI has the bits of one between threads", T, float, pl::half,
                   pl::bfloat16, std::int32_t) {
  windows::natively = true;
  for (const std::int64_t size : {0, 1, 17, 257, 8193})
    for (const auto algorithm : {Algorithm::Mesh, Algorithm::Ring}) {
      const auto op = static_cast<ReduceOp>(size % 4);
      CAPTURE(size);
      CHECK(mpi::same_bits([&] {
        return through<T>(size,
                          [&](auto& w, auto&) { pld::allreduce(w, {.op = op, .algorithm = algorithm}); });
      }));
    }
}

TEST_CASE("an allreduce of more than one block over MPI has the bits of one between threads") {
  windows::natively = true;
  for (const auto op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min})
    CHECK(mpi::same_bits(
        [&] { return through<float>(300001, [&](auto& w, auto&) { pld::allreduce(w, {.op = op}); }); }));
}

TEST_CASE("every collective over MPI has the bits of one between threads") {
  windows::natively = true;
  const int last = mpi::processes() - 1;
  for (const std::int64_t row : {0, 1, 100}) {
    CAPTURE(row);
    CHECK(rows_agree(row, [&](const auto& w) { pld::broadcast(w, {.root = last}); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::allgather(w); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::reduce_scatter(w); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::all_to_all(w); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::reduce(w, {.root = last, .op = ReduceOp::Prod}); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::scatter(w, {.root = last}); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::gather(w, {.root = last}); }));
    CHECK(rows_agree(row, [&](const auto& w) { pld::send_recv(w, {.from = 0, .to = last}); }));
  }
}

TEST_CASE("signal cells of the user's are zero again after each collective over MPI") {
  windows::natively = true;
  const int n = mpi::processes();
  CHECK(mpi::same_bits([&] {
    return through<float>(64, [&](auto& w, auto&) {
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
      for (int round = 0; round < 3; ++round) {
        pld::allreduce(w, {.algorithm = Algorithm::Ring, .signal = cells});
        pld::broadcast(w, {.root = 0, .signal = cells});
      }
    });
  }));
}

TEST_CASE("a hundred collectives over MPI on one window, in a compiled kernel, are each complete") {
  windows::natively = false;
  for (const std::int64_t wrong : windows::incomplete_rounds<100>(mpi::config())) CHECK(wrong == 0);
}

TEST_CASE("collectives over MPI in compiled kernels have the bits of those between threads") {
  windows::natively = false;
  const int n = mpi::processes(), last = n - 1;
  const auto x = windows::elements<float>(n, 1000, uneven<float>);
  for (int op = 0; op < 4; ++op)
    for (int which = 0; which < 2; ++which) {
      CAPTURE(op);
      CAPTURE(which);
      CHECK(mpi::same_bits(
          [&] { return windows::reduce_with(windows::config(n), x, {which, op, last, 0, op % 2 == 0}); }));
    }
  for (int which = 0; which < 7; ++which) {
    CAPTURE(which);
    CHECK(mpi::same_bits([&] {
      return windows::move_with<float>(windows::config(n), n, {which, 0, last, 0, which % 2 == 0});
    }));
  }
}
