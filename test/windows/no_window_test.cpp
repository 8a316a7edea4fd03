// What a native kernel is told of a window that is none, or one of other ranks.
#include "windows.hpp"

using support::contains;
using windows::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Data = pld::DistributedTensor<float, 4>;
using Cells = pld::DistributedTensor<std::int32_t, 4>;

/// The message of a program of two ranks whose kernels do `operation(data, cells)`. The cells are a window of both, or
/// one for each rank.
template <class Operation>
std::string failure(const Operation& operation, bool cells_of_each = false) {
  auto kernel = pl::jit.incore([&](Data data, Cells cells) { operation(data, cells); });
  auto device = pl::jit([&](auto data, auto cells) { kernel(data, cells); });
  auto host = pl::jit.host([&](pl::Tensor<float, NR, 1>) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    auto both = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto second = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size()))
      device(data, cells_of_each && r == 1 ? second : both, pld::device = r);
  });
  pl::RunConfig config = windows::config(2);
  config.eager = true;
  pl::Array<float> x({2, 1});
  return message_of([&] { host(x, config); });
}

}  // namespace

TEST_CASE("a window that no host made belongs to no rank") {
  const std::string message = failure([](auto&, auto&) { pld::notify(Cells(), {.peer = 0}); });
  CHECK(contains(message, "no_window_test.cpp"));
  CHECK(contains(message,
                 "pld::notify on a pld::DistributedTensor that belongs to no rank; windows come from"));
}

TEST_CASE("signal cells that are no window are refused") {
  const std::string message = failure(
      [](auto& data, auto&) { pld::allreduce(data, {.signal = pld::DistributedTensor<std::int32_t>()}); });
  CHECK(contains(message, "pld::allreduce: .signal is no window of this rank"));
}

TEST_CASE("signal cells of other ranks than the data's are refused") {
  const std::string message =
      failure([](auto& data, auto& cells) { pld::allreduce(data, {.signal = cells}); }, true);
  CHECK(contains(message, "pld::allreduce: .signal is "));
  CHECK(contains(message, " share; the data's has 2: both belong to the same ranks"));
}
