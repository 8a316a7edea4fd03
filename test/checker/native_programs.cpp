#include "native_programs.hpp"

#include "check.hpp"

namespace wrong::native {
namespace {

using windows::at;
using windows::Cells;
using windows::Data;

constexpr int in_signal = __LINE__;
auto sets_a_cell = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int n = pld::nranks(data);
  if (pld::rank(data) == n - 1)
    pld::notify(signal, {.peer = 0, .offsets = {cell % n}, .value = 0, .op = pld::NotifyOp::Set});
  pld::allreduce(data, {.signal = signal});
});

constexpr int throws = __LINE__;
auto throws_beside_waits = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  if (pld::rank(data) == 1) throw pl::UserError("out of luck");
  pld::wait(signal);
});

template <class Kernel>
auto on(Kernel& kernel) {
  return [&kernel](int ranks, int number, std::uint64_t seed) {
    return windows::outcome(kernel, ranks, number, seed);
  };
}

}  // namespace

Program sets_a_cell_of_its_collective() {
  return {on(sets_a_cell), {at(__FILE__, in_signal + 4), at(__FILE__, in_signal + 5)}};
}

Program throws_while_others_wait() { return {on(throws_beside_waits), {at(__FILE__, throws + 3)}}; }

}  // namespace wrong::native
