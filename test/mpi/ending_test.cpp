// Processes that end before their program does. Each case ends its mpirun: ctest starts them one by one.
#include "mpi.hpp"

#include <csignal>
#include <cstdlib>

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 4>;
using Data = pld::DistributedTensor<float, 4>;

auto meet = pl::jit.incore([](Data w) { pld::barrier(w); });
auto meet_device = pl::jit([](auto w) { meet(w); });
auto meet_host = pl::jit.host([](pl::Out<Rows>) {
  auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
  for (auto r : pl::range(pld::world_size())) meet_device(w, pld::device = r);
});

}  // namespace

TEST_CASE("the others are told of a process that has ended" * doctest::skip()) {
  windows::natively = true;
  pl::Array<float> y({mpi::processes(), 4});
  meet_host(y, mpi::config());
  if (mpi::own_rank() == 1) std::exit(0);
  const auto message = support::message_of<pl::CommError>([&] { meet_host(y, mpi::config()); });
  CHECK(support::contains(message, "rank 1 has ended its process, and rank "));
  CHECK(support::contains(message, " the program defined at "));
  CHECK(support::contains(message, "every process must make the same calls"));
}

TEST_CASE("a process that is killed in a collective ends the others" * doctest::skip()) {
  windows::natively = true;
  bool recorded = false;
  auto device = pl::jit([&](auto w) {
    if (recorded && mpi::own_rank() == 1) std::raise(SIGKILL);
    meet(w);
  });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  const auto program = host.compile(y, mpi::config());
  recorded = true;
  program(y);
}
