// test/jit/process_test.cpp -- many processes, killed ones, forked ones, and machines that lack things.
#include "jit/compiler/locate.hpp"
#include "jit/support.hpp"
#include "slow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace jit_test;

namespace {

struct Setting {
  TemporaryFolder folder;
  std::string environment;
  Setting() {
    use_small_pack();
    environment = "TRILITH_CACHE_DIR=" + folder / "cache";
  }
  [[nodiscard]] Ended run(const std::string& arguments, const std::string& more = "") const {
    return run_helper(arguments, environment + " " + more);
  }
};

unsigned long number_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word + " ");
  return at == std::string::npos ? ~0UL : std::stoul(text.substr(at + word.size() + 1));
}

}  // namespace

TEST_CASE("the key of a kernel is the same in two processes") {
  const Setting setting;
  const Ended one = setting.run("key");
  CHECK(one.status == 0);
  CHECK(one.output.size() == 65);
  CHECK(setting.run("key").output == one.output);
}

TEST_CASE("a process that hits the disk cache never loads the compiler") {
  const Setting setting;
  CHECK(setting.run("adders 3").output == "compiles 3 disk 0 headers 1 compiler 1\n");
  CHECK(setting.run("adders 3").output == "compiles 0 disk 3 headers 0 compiler 0\n");
}

TEST_CASE("16 processes with a cold cache all get right results and compile each kernel once") {
  constexpr int kernels = 8;
  for (int round = 0; round < support::slow_rounds(3, 50); ++round) {
    const Setting setting;
    std::vector<Ended> ended(16);
    std::vector<std::thread> threads;
    for (Ended& one : ended)
      threads.emplace_back([&] { one = setting.run("adders " + std::to_string(kernels)); });
    for (auto& thread : threads) thread.join();
    unsigned long compiles = 0;
    unsigned long headers = 0;
    for (const Ended& one : ended) {
      CHECK_MESSAGE(one.status == 0, one.output);
      compiles += number_after(one.output, "compiles");
      headers += number_after(one.output, "headers");
    }
    CHECK(compiles == kernels);
    CHECK(headers == 1);
    CHECK(files_with(setting.folder.path(), ".entry").size() == kernels);
    CHECK(std::none_of(
        fs::recursive_directory_iterator(setting.folder.path()), fs::recursive_directory_iterator(),
        [](const auto& file) { return file.path().string().find(".tmp.") != std::string::npos; }));
  }
}

TEST_CASE("a process killed at any point leaves a cache that the next one recovers alone") {
  for (const char* point : {"lookup", "locked", "produced", "compiled", "published", "loaded"}) {
    CAPTURE(point);
    const Setting setting;
    CHECK(setting.run(std::string("kill ") + point).status != 0);
    const Ended next = setting.run("adders 2");
    CHECK_MESSAGE(next.status == 0, next.output);
  }
}

TEST_CASE("an entry is on disk after std::_Exit") {
  const Setting setting;
  CHECK(setting.run("leave").status == 0);
  CHECK(files_with(setting.folder.path(), ".entry").size() == 1);
}

TEST_CASE("engines and code in static, thread-local and leaked objects end without a crash") {
  const Setting setting;
  for (int i = 0; i < 2; ++i) {  // compiling, then from the disk
    const Ended ended = setting.run("statics");
    CHECK_MESSAGE(ended.status == 0, ended.output);
  }
}

TEST_CASE("a forked child compiles and runs, also when its parent's threads were compiling") {
  const Setting setting;
  const Ended ended = setting.run("forks");
  CHECK_MESSAGE(ended.status == 0, ended.output);
}

TEST_CASE("a fatal error and a crash inside LLVM are errors, and the host goes on") {
  const Setting setting;
  const Ended error = setting.run("fatal 1");
  CHECK(error.status == 0);
  CHECK(error.output.find("injected fatal error") != std::string::npos);
  const Ended crash = setting.run("fatal 2");
  CHECK_MESSAGE(crash.status == 0, crash.output);
  CHECK(crash.output.find("Segmentation fault") != std::string::npos);
  CHECK_MESSAGE(crash.output.find("nor does an empty kernel compile here") != std::string::npos,
                crash.output);
}

TEST_CASE("kernels compile with an empty PATH: no compiler is needed") {
  const Setting setting;
  const Ended ended = run_helper("adders 1", "-i " + setting.environment + " PATH= TRILITH_HEADER_PACK=" +
                                                 std::getenv("TRILITH_HEADER_PACK"));
  CHECK_MESSAGE(ended.output == "compiles 1 disk 0 headers 1 compiler 1\n", ended.output);
}

TEST_CASE("an installed tree may be moved") {
  const Setting setting;
  const std::string tree = setting.folder / "moved tree";
  fs::create_directories(tree + "/lib");
  fs::create_directories(tree + "/bin");
  const fs::path libraries = fs::path(jit::compiler_library_path()).parent_path();
  for (const char* name : {"libtrilith-compiler.so", "libtrilith-jit.so"})
    fs::copy_file(libraries / name, tree + "/lib/" + name);
  fs::create_directories(tree + "/share/trilith");
  fs::copy(std::getenv("TRILITH_HEADER_PACK"), tree + "/share/trilith/headers", fs::copy_options::recursive);
  fs::copy_file(TRILITH_JIT_HELPER, tree + "/bin/helper");
  const std::string command = "env -i " + setting.environment + " LD_LIBRARY_PATH='" + tree + "/lib' '" +
                              tree + "/bin/helper' adders 1 > '" + tree + "/out' 2>&1";
  CHECK(std::system(command.c_str()) == 0);
  std::string output;
  REQUIRE(jit::read_file(tree + "/out", output));
  CHECK(output == "compiles 1 disk 0 headers 1 compiler 1\n");
}

TEST_CASE("a missing, damaged or incomplete header pack is an error with its name") {
  const Setting setting;
  const std::string pack = setting.folder / "pack";
  const auto error = [&] { return setting.run("error", "TRILITH_HEADER_PACK=" + pack); };
  Ended ended = error();
  CHECK(ended.status == 3);
  CHECK(ended.output.find("header pack " + pack + " is missing") != std::string::npos);

  write_small_pack(pack);
  CHECK(error().status == 0);
  fs::remove_all(setting.folder / "cache");
  REQUIRE(jit::publish_file(pack + "/0-device/trilith/device.hpp", "#pragma twice\n"));
  ended = error();
  CHECK(ended.status == 3);
  CHECK(ended.output.find("has a changed 0-device/trilith/device.hpp") != std::string::npos);

  fs::remove(pack + "/0-device/trilith/device.hpp");
  CHECK(error().output.find("lacks 0-device/trilith/device.hpp") != std::string::npos);
  REQUIRE(jit::publish_file(pack + "/manifest", "trilith-headers 1\ncontent 00\nroot x\n"));
  CHECK(error().output.find("has a damaged manifest") != std::string::npos);
}

TEST_CASE("a missing compiler library is named, with the way out") {
  const Setting setting;
  const Ended ended = setting.run("error", "TRILITH_COMPILER_LIBRARY=/nonexistent/libtrilith-compiler.so");
  CHECK(ended.status == 3);
  CHECK(ended.output.find("warning: kernels cannot be compiled") != std::string::npos);
  CHECK(ended.output.find("/nonexistent/libtrilith-compiler.so") != std::string::npos);
  CHECK(ended.output.find("TRILITH_EAGER=1") != std::string::npos);
}

TEST_CASE("neither library exports a symbol of LLVM or Clang") {
  const fs::path libraries = fs::path(jit::compiler_library_path()).parent_path();
  for (const char* name : {"libtrilith-compiler.so", "libtrilith-jit.so"}) {
    const std::string command = "nm -DC --defined-only '" + (libraries / name).string() +
                                "' | grep -cE ' (llvm|clang)::|LLVM|_ZN4llvm'";
    std::FILE* pipe = popen(command.c_str(), "r");
    char buffer[64] = {};
    REQUIRE(std::fgets(buffer, sizeof buffer, pipe) != nullptr);
    pclose(pipe);
    CHECK(std::string(buffer) == "0\n");
  }
}

TEST_CASE("another LLVM may be loaded before or after ours" *
          doctest::skip(!fs::exists(TRILITH_OTHER_LLVM))) {
  const Setting setting;
  const Ended before = setting.run("adders 2", "LD_PRELOAD=" TRILITH_OTHER_LLVM);
  CHECK_MESSAGE(before.output == "compiles 2 disk 0 headers 1 compiler 1\n", before.output);
}

TEST_CASE("another LLVM opened for all, before our compiler or after it, changes nothing" *
          doctest::skip(!fs::exists(TRILITH_OTHER_LLVM))) {
  for (const char* when : {"before", "after"}) {
    CAPTURE(when);
    const Setting setting;
    const Ended ended = setting.run(std::string("other_llvm ") + when);
    CHECK_MESSAGE(ended.status == 0, ended.output);
  }
}

TEST_CASE("gdb stops in a kernel by its name and shows the kept source" *
          doctest::skip(std::system("command -v gdb > /dev/null 2>&1") != 0)) {
  const Setting setting;
  const std::string script = setting.folder / "script";
  REQUIRE(jit::publish_file(script,
                            "set breakpoint pending on\nset confirm off\nset debuginfod enabled off\n"
                            "break k\nrun\nbacktrace 1\nlist\nkill\nquit\n"));
  const std::string command = "env " + setting.environment + " gdb -q -batch -x " + script +
                              " --args " TRILITH_JIT_HELPER " debug " + (setting.folder / "dump") + " > " +
                              (setting.folder / "out") + " 2>&1";
  (void)std::system(command.c_str());
  std::string output;
  REQUIRE(jit::read_file(setting.folder / "out", output));
  CAPTURE(output);
  const auto sources = files_with(setting.folder / "dump", ".cpp");
  REQUIRE(sources.size() == 1);
  CHECK(output.find("k () at " + sources[0] + ":4") != std::string::npos);
  CHECK(output.find("static_cast<std::int32_t>(args->scalars[0]) + 5") != std::string::npos);
}
