// test/jit/tool_test.cpp -- the `trilith` command, run as a user runs it.
#include "jit/tool.hpp"

#include <doctest/doctest.h>

using namespace jit_test;

namespace {

struct Filled {
  TemporaryFolder folder;
  std::string cache = folder / "cache";
  Filled() {
    use_small_pack();
    jit::EngineConfig config;
    config.cache_dir = cache;
    jit::Engine engine(config);
    for (int i = 0; i < 3; ++i) (void)get_adder(engine, i);
  }
};

}  // namespace

TEST_CASE("trilith cache lists names, key parts and sizes") {
  const Filled filled;
  const Ended list = run_tool("cache ls -v --dir " + filled.cache);
  CHECK(list.status == 0);
  for (const char* part :
       {"adder +0", "adder +1", "adder +2", "kernel: adder 2", "llvm: ", "target: ", " s ago"})
    CHECK_MESSAGE(contains(list.output, part), list.output);
  const Ended statistics = run_tool("cache stats --dir " + filled.cache);
  CHECK(contains(statistics.output, "entries  3, "));
  CHECK(contains(statistics.output, "headers  1, "));
}

TEST_CASE("trilith cache verify finds what is damaged, and removes it when asked") {
  const Filled filled;
  CHECK(run_tool("cache verify --dir " + filled.cache).status == 0);
  std::string bytes;
  const std::string entry = files_with(filled.cache, ".entry").at(0);
  REQUIRE(jit::read_file(entry, bytes));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  REQUIRE(jit::publish_file(entry, bytes));
  const std::string header = files_with(filled.cache, ".pch").at(0);
  REQUIRE(jit::read_file(header, bytes));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  REQUIRE(jit::publish_file(header, bytes));
  const Ended found = run_tool("cache verify --dir " + filled.cache);
  CHECK(found.status == 1);
  CHECK(contains(found.output, entry + ": checksum does not match"));
  CHECK(contains(found.output, header + ": the precompiled header is damaged"));
  CHECK(contains(found.output, "3 entries and 1 headers, 2 damaged"));
  CHECK(run_tool("cache verify --remove --dir " + filled.cache).status == 0);
  CHECK(
      contains(run_tool("cache verify --dir " + filled.cache).output, "2 entries and 0 headers, 0 damaged"));
}

TEST_CASE("trilith cache clear leaves nothing, and a folder that is not there is an error") {
  const Filled filled;
  CHECK(run_tool("cache clear --dir " + filled.cache).status == 0);
  CHECK(files_with(filled.cache, ".entry").empty());
  CHECK(files_with(filled.cache, ".pch").empty());
  const Ended missing = run_tool("cache ls --dir /nonexistent");
  CHECK(missing.status == 1);
  CHECK(contains(missing.output, "no cache folder /nonexistent"));
  CHECK(run_tool("cache").status == 2);
}

TEST_CASE("trilith emit shows the C++ and the IR of a kernel, and names what is wrong with an argument") {
  const TemporaryFolder folder;
  const std::string source = folder / "kernel.cpp";
  REQUIRE(jit::publish_file(
      source,
      "#include <pl/pl.hpp>\n"
      "auto twice = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {\n"
      "  y = pl::store(pl::add(pl::load(x), pl::load(x)), {0, 0}, y);\n"
      "  return y;\n});\n"));
  const std::string flags = " -- -std=c++20 -I" TRILITH_SOURCE_DIR "/runtime -I" TRILITH_SOURCE_DIR;
  const std::string shapes = " --arg x=float[8,8] --arg y=float[8,8]";
  const Ended emitted = run_tool("emit " + source + ":twice" + shapes + flags);
  CHECK_MESSAGE(emitted.status == 0, emitted.output);
  CHECK(contains(emitted.output, "#include \"trilith/device.hpp\""));
  CHECK(contains(emitted.output, "extern \"C\" std::int32_t"));
  CHECK(run_tool("emit --target ir " + source + ":twice" + shapes + flags).status == 0);
  const Ended object = run_tool("emit --target object " + source + ":twice" + shapes + flags,
                                "TRILITH_CACHE_DIR=" + folder / "cache");
  CHECK(object.status == 0);
  CHECK(object.output.compare(0, 4, "\177ELF") == 0);

  const Ended unknown = run_tool("emit " + source + ":thrice" + flags);
  CHECK(unknown.status == 1);
  CHECK(contains(unknown.output, "has no kernel \"thrice\"; it has: twice"));
  CHECK(contains(run_tool("emit " + source + ":twice" + flags).output, "needs --arg x=TYPE"));
  CHECK(contains(run_tool("emit " + source + ":twice --arg x=flot[8]" + flags).output, "not \"flot\""));
  CHECK(contains(run_tool("emit " + source + ":twice --arg z=float[8]" + shapes + flags).output,
                 "has no parameter \"z\"; its parameters are: x y"));
  const auto twice = [&](const std::string& argument) {
    return run_tool("emit " + source + ":twice --arg y=float[8,8] --arg " + argument + flags).output;
  };
  CHECK(contains(twice("x=float[8"), "expected a shape in brackets: float[8,8]"));
  CHECK(contains(twice("x=float[8,-1]"), "expected extents such as [8,8] or [8,N]"));
  CHECK(contains(twice("float[8,8]"), "expected NAME=TYPE, such as x=float[8,8]"));
  CHECK(contains(run_tool("emit " + source + flags).output,
                 "expected FILE:KERNEL, such as kernel.cpp:scale_by_rank"));
}

TEST_CASE("trilith emit of a source that cannot be captured shows the refusal and says so") {
  const TemporaryFolder folder;
  const std::string source = folder / "kernel.cpp";
  REQUIRE(jit::publish_file(
      source,
      "#include <pl/pl.hpp>\n"
      "auto wrong = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {\n"
      "  throw 1;\n});\n"));
  const Ended ended = run_tool("emit " + source +
                               ":wrong -- -std=c++20 -I" TRILITH_SOURCE_DIR "/runtime -I" TRILITH_SOURCE_DIR);
  CHECK(ended.status == 1);
  CHECK(contains(ended.output, "throw in a kernel"));
  CHECK(contains(ended.output, "cannot be captured"));
}
