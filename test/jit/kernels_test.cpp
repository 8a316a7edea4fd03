// test/jit/kernels_test.cpp -- the header pack and device header that kernels are really compiled with.
#include "jit/compiler/locate.hpp"
#include "jit/support.hpp"

#include <doctest/doctest.h>

using namespace jit_test;

namespace {

jit::Source scale(int addend) {
  return {
      "#include \"pl/abi.hpp\"\n#include \"trilith/device.hpp\"\n"
      "extern \"C\" std::int32_t k(const pl::abi::Args* args, const pl::abi::Services*) {\n"
      "  using Batch = xsimd::batch<float>;\n"
      "  auto* x = static_cast<float*>(args->tensors[0].data);\n"
      "  for (std::size_t i = 0; i < 64; i += Batch::size)\n"
      "    (Batch::load_unaligned(x + i) * Batch(2.0f) + Batch(" +
          std::to_string(addend) + ".0f)).store_unaligned(x + i);\n  return 0;\n}\n",
      "k",
      "scale",
      {},
      ""};
}

}  // namespace

TEST_CASE("the real device header is precompiled once, and each kernel says where its time went") {
  const char* small = std::getenv("TRILITH_HEADER_PACK");
  const std::string kept = small != nullptr ? small : "";
  unsetenv("TRILITH_HEADER_PACK");
  const TemporaryFolder folder;
  jit::EngineConfig config;
  config.cache_dir = folder / "cache";
  jit::Engine engine(config);
  for (int addend = 1; addend <= 3; ++addend) {
    const std::vector<jit::KeyPart> key = {{"kernel", std::to_string(addend)}};
    const auto code = engine.get(key, [&] { return scale(addend); });
    std::vector<float> x(64, 3.0F);
    const pl::abi::Tensor tensor{x.data(), nullptr, nullptr};
    const pl::abi::Args args{&tensor, nullptr, 0, 1};
    CHECK(code->entry()(&args, nullptr) == 0);
    for (const float value : x) CHECK(value == 6.0F + static_cast<float>(addend));
  }
  const jit::Statistics statistics = engine.statistics();
  CHECK(statistics.header_builds == 1);
  CHECK(statistics.header_seconds > 0);
  CHECK(statistics.library_seconds > 0);
  CHECK(statistics.frontend_seconds > 0);
  CHECK(statistics.backend_seconds > 0);
  CHECK(statistics.load_seconds > 0);
  // A kernel costs a small part of what the header costs.
  CHECK((statistics.frontend_seconds + statistics.backend_seconds) / 3 < statistics.header_seconds / 4);
  if (small != nullptr) setenv("TRILITH_HEADER_PACK", kept.c_str(), 1);
}
