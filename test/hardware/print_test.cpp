// What a kernel prints on the model of Ascend hardware goes where the simulator's text goes.
#include "runtime/support.hpp"

#include <pl/pl.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace {

auto shows = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  auto tile = pl::load(x);
  pl::print(tile);
  pl::print(pl::cast<std::int32_t>(pl::row_sum(tile)));
  y = pl::store(tile, y);
});

pl::RunConfig on(const char* platform) {
  pl::RunConfig config = support::cached();
  config.platform = platform;
  return config;
}

/// Calls use(x, y) with a print sink in force.
template <class Use>
void with_sink(pl::PrintSink sink, const Use& use) {
  pl::Array<float> x({3, 5}), y({3, 5});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i) * 1.5F - 4;
  auto previous = pl::set_print_sink(std::move(sink));
  use(x, y);
  pl::set_print_sink(previous);
}

std::string printed_on(const char* platform) {
  pl::Context context(on(platform));
  const pl::ContextScope scope(context);
  std::string text;
  with_sink([&](std::string_view part) { text += part; }, [](const auto& x, auto& y) { shows(x, y); });
  return text;
}

}  // namespace

TEST_CASE("a kernel on the model prints to the sink what it prints on the simulator") {
  const std::string simulated = printed_on("a2a3sim");
  CHECK(support::contains(simulated, "tile<float>[3, 5]"));
  CHECK(printed_on("a2a3model") == simulated);
}

TEST_CASE("an exception of the print sink ends a call on the model, and the next one runs") {
  pl::Context context(on("a2a3model"));
  const pl::ContextScope scope(context);
  with_sink([](std::string_view) { throw std::runtime_error("sink"); },
            [](const auto& x, auto& y) {
              CHECK(support::message_of<std::runtime_error>([&] { shows(x, y); }) == "sink");
              pl::set_print_sink([](std::string_view) {});
              shows(x, y);
              CHECK(y(2, 4) == 17.0F);
            });
}
