// test/jit/loader_test.cpp -- code comes into memory, and goes.
#include "jit/loader/loader.hpp"
#include "jit/cache/disk_cache.hpp"
#include "jit/support.hpp"
#include "slow.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

using namespace jit_test;

namespace {

/// An object of `adder(addend)`, compiled once.
const std::string& object() {
  static const std::string bytes = [] {
    use_small_pack();
    const TemporaryFolder folder;
    jit::EngineConfig config;
    config.cache_dir = folder / "cache";
    jit::Engine engine(config);
    (void)get_adder(engine, 5);
    std::string text;
    std::string reason;
    REQUIRE(jit::read_file(files_with(config.cache_dir, ".entry").at(0), text));
    return jit::decode_entry(text, reason)->object;
  }();
  return bytes;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

int run(const jit::LoadedCode& code, std::uint64_t value) {
  const pl::abi::Args args{nullptr, &value, 0, 1};
  return reinterpret_cast<pl::abi::Entry>(code.address())(&args, nullptr);
}

}  // namespace

TEST_CASE("an object in memory becomes callable code") {
  jit::Loader loader({});
  jit::LoadFailure failure;
  const auto code = loader.load(object(), "k", "adder", failure);
  REQUIRE_MESSAGE(code, failure.reason);
  CHECK(run(code, 2) == 7);
  CHECK(code.size() > 0);
}

TEST_CASE("damaged objects and missing symbols are failures, not crashes") {
  jit::Loader loader({});
  jit::LoadFailure failure;
  CHECK_FALSE(loader.load(std::string("no object"), "k", "x", failure));
  CHECK_FALSE(failure.reason.empty());
  CHECK_FALSE(loader.load(object(), "other", "x", failure));
  CHECK(failure.reason.find("other") != std::string::npos);
  CHECK_FALSE(failure.executable_memory_refused);
  CHECK(loader.load(object(), "k", "x", failure));
}

TEST_CASE("2,000 loads and drops, 20,000 in the slow run, leave no memory behind") {
  jit::Loader loader({});
  jit::LoadFailure failure;
  const auto cycle = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto code = loader.load(object(), "k", "adder", failure);
      if (!code || run(code, 1) != 6) FAIL("does not run: " << failure.reason);
    }
  };
  cycle(200);
  const std::size_t before = resident_bytes();
  cycle(support::slow_rounds(2000, 20'000));
  const std::size_t after = resident_bytes();
  CAPTURE(before);
  CAPTURE(after);
  // A leaked page for each would be 8 MB.
  CHECK(after < before + (std::size_t{2} << 20));
}

TEST_CASE("200 compile and drop cycles leave no memory behind") {
  use_small_pack();
  jit::EngineConfig config;
  config.disk_cache = false;
  jit::Engine engine(config);
  for (int i = 0; i < 40; ++i) (void)get_adder(engine, i);
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 200; ++i) (void)get_adder(engine, i);
  CHECK(engine.statistics().compiles == 240);
  CHECK(resident_bytes() < before + (std::size_t{16} << 20));
}

TEST_CASE("dropping the engine's handle while another thread is inside the kernel is safe") {
  use_small_pack();
  jit::EngineConfig config;
  config.disk_cache = false;
  for (int i = 0; i < 20; ++i) {
    auto engine = std::make_unique<jit::Engine>(config);
    auto code = get_adder(*engine, i);
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    std::thread user([mine = code, &stop, &calls, i] {
      while (!stop) {
        if (call(*mine, 1) != i + 1) std::abort();
        ++calls;
      }
    });
    code.reset();
    engine.reset();
    while (calls < 100) std::this_thread::yield();
    stop = true;
    user.join();
  }
}

TEST_CASE("refused executable memory is told apart from a bad object") {
  jit::Loader loader({.deny_executable = true});
  jit::LoadFailure failure;
  CHECK_FALSE(loader.load(object(), "k", "x", failure));
  CHECK(failure.executable_memory_refused);
}

TEST_CASE("an engine without executable memory says so once, by name, and how to go on") {
  use_small_pack();
  std::vector<std::string> warnings;
  jit::EngineConfig config;
  config.disk_cache = false;
  config.hooks.deny_executable_memory = true;
  config.log = [&](jit::LogLevel level, const std::string& text) {
    if (level == jit::LogLevel::warning) warnings.push_back(text);
  };
  jit::Engine engine(config);
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_WITH_AS(get_adder(engine, i), doctest::Contains("TRILITH_EAGER=1"), jit::UnavailableError);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("executable memory refused") != std::string::npos);
}

TEST_CASE("the perf map has one line a kernel, and none twice after addresses are used again") {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  fs::remove(path);
  {
    jit::Loader quiet({});
    jit::LoadFailure failure;
    (void)quiet.load(object(), "k", "quiet", failure);
    CHECK_FALSE(fs::exists(path));  // off by default
  }
  jit::Loader loader({.perf_map = true});
  jit::LoadFailure failure;
  for (int i = 0; i < 50; ++i) {
    const auto code = loader.load(object(), "k", "adder " + std::to_string(i), failure);
    std::ifstream file(path);
    std::set<std::string> addresses;
    bool listed = false;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string address;
      std::string size;
      std::string name;
      words >> address >> size;
      std::getline(words, name);
      CHECK_MESSAGE(addresses.insert(address).second, "address twice: " << line);
      std::ostringstream expected;
      expected << std::hex << reinterpret_cast<std::uintptr_t>(code.address());
      if (address == expected.str()) listed = name == " adder " + std::to_string(i);
    }
    CHECK(listed);
  }
  fs::remove(path);
}
