// The plan of a program whose source was not captured.
#include "windows/windows.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

using windows::config;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Data = pld::DistributedTensor<float, 64>;
using Out = pl::Out<pl::Tensor<std::int32_t, NR>>;

auto hidden = pl::jit.incore([](Data data) { pld::barrier(data); });
auto hidden_device = pl::jit([](auto data) { hidden(data); });
auto hidden_host = pl::jit.host([](Out) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  for (auto r : pl::range(pld::world_size())) hidden_device(data, pld::device = r);
});

}  // namespace

TEST_CASE("a saved plan says how many kernel calls hide what they do") {
  windows::natively = true;
  pl::Array<std::int32_t> y({4});
  const support::TemporaryFolder folder;
  hidden_host.compile(y, config(4)).save_plan(folder.path() + "/plan.json");
  std::ifstream stream(folder.path() + "/plan.json");
  const nlohmann::json plan = nlohmann::json::parse(stream);
  CHECK(plan["kernel_calls"] == 4);
  CHECK(plan["kernel_calls_without_ir"] == 4);
  CHECK(plan["collectives"].empty());
}
