// test/jit/engine_test.cpp -- what Engine::get promises, in one process.
#include "jit/support.hpp"

#include <doctest/doctest.h>

#include <barrier>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace jit_test;

namespace {

struct Setting {
  TemporaryFolder folder;
  jit::EngineConfig config;
  std::vector<std::string> log;
  Setting() {
    use_small_pack();
    config.cache_dir = folder / "cache";
    config.log = [this](jit::LogLevel, const std::string& text) { log.push_back(text); };
  }
};

}  // namespace

TEST_CASE("C++ text becomes a function, and its metadata comes back") {
  Setting setting;
  jit::Engine engine(setting.config);
  const auto code = get_adder(engine, 5);
  CHECK(call(*code, 37) == 42);
  CHECK(code->metadata() == "metadata of 5");
  CHECK_FALSE(code->from_disk());
  CHECK(engine.statistics().compiles == 1);
  CHECK(engine.statistics().header_builds == 1);
}

TEST_CASE("a second engine answers from the disk without asking for the source") {
  Setting setting;
  {
    jit::Engine first(setting.config);
    (void)get_adder(first, 5);
  }
  jit::Engine second(setting.config);
  const auto code =
      second.get(adder_key(5), []() -> jit::Source { throw std::logic_error("not to be called"); });
  CHECK(call(*code, 1) == 6);
  CHECK(code->from_disk());
  CHECK(code->metadata() == "metadata of 5");
  const jit::Statistics statistics = second.statistics();
  CHECK(statistics.disk_hits == 1);
  CHECK(statistics.misses == 0);
  CHECK(statistics.compiles == 0);
  CHECK(statistics.bytes_read > 0);
  CHECK(statistics.frontend_seconds == 0.0);
}

TEST_CASE("the log says what was compiled and what came from the disk") {
  Setting setting;
  jit::Engine first(setting.config);
  (void)get_adder(first, 5);
  REQUIRE(setting.log.size() == 1);
  CHECK(setting.log[0].find("adder +5: compiled in") == 0);
  jit::Engine second(setting.config);
  (void)get_adder(second, 5);
  REQUIRE(setting.log.size() == 2);
  CHECK(setting.log[1] == "adder +5: loaded from the disk cache");
}

TEST_CASE("the same name with another body, target or option is another entry") {
  Setting setting;
  jit::Engine plain(setting.config);
  (void)get_adder(plain, 1);
  CHECK(call(*plain.get(adder_key(2), [] { return adder(2, "adder"); }), 0) == 2);
  setting.config.fast_math = true;
  jit::Engine fast(setting.config);
  (void)get_adder(fast, 1);
  CHECK(fast.statistics().compiles == 1);
  setting.config.fast_math = false;
  setting.config.target_cpu = "x86-64";
  jit::Engine portable(setting.config);
  (void)get_adder(portable, 1);
  CHECK(portable.statistics().compiles == 1);
  CHECK(files_with(setting.config.cache_dir, ".entry").size() == 4);
}

TEST_CASE("32 threads that ask for one key at once cause one compile and get the same code") {
  Setting setting;
  setting.config.log = nullptr;
  jit::Engine engine(setting.config);
  constexpr int count = 32;
  std::barrier start(count);
  std::vector<std::shared_ptr<const jit::Code>> codes(count);
  std::atomic<int> produced{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      codes[i] = engine.get(adder_key(9), [&] {
        ++produced;
        return adder(9);
      });
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(produced == 1);
  CHECK(engine.statistics().compiles == 1);
  CHECK(engine.statistics().shared == count - 1);
  for (const auto& code : codes) CHECK((code->entry() == codes[0]->entry()));
}

TEST_CASE("while one kernel compiles for long, hits on others go on") {
  Setting setting;
  setting.config.log = nullptr;
  setting.config.max_compile_threads = 1;
  {
    jit::Engine filler(setting.config);
    (void)get_adder(filler, 1);
  }
  jit::Engine engine(setting.config);
  std::mutex lock;
  std::condition_variable changed;
  bool begun = false;
  bool release = false;
  std::thread slow([&] {
    (void)engine.get(adder_key(2), [&] {
      std::unique_lock guard(lock);
      begun = true;
      changed.notify_all();
      changed.wait(guard, [&] { return release; });
      return adder(2);
    });
  });
  {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return begun; });
  }
  CHECK(call(*get_adder(engine, 1), 1) == 2);  // a disk hit
  CHECK(call(*get_adder(engine, 1), 2) == 3);
  CHECK(engine.statistics().disk_hits >= 1);
  {
    const std::lock_guard guard(lock);
    release = true;
  }
  changed.notify_all();
  slow.join();
}

TEST_CASE("no more kernels compile at a time than max_compile_threads") {
  Setting setting;
  setting.config.log = nullptr;
  setting.config.max_compile_threads = 2;
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  setting.config.hooks.at_point = [&](const char* point) {
    if (std::string_view(point) == "locked") {
      const int count = ++now;
      int seen = most;
      while (count > seen && !most.compare_exchange_weak(seen, count)) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (std::string_view(point) == "loaded") --now;
  };
  jit::Engine engine(setting.config);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { (void)get_adder(engine, i); });
  for (auto& thread : threads) thread.join();
  CHECK(most <= 2);
  CHECK(engine.statistics().compiles == 8);
}

TEST_CASE(
    "a failed compile names kernel, place, first diagnostic and the kept source, and may be tried again") {
  Setting setting;
  jit::Engine engine(setting.config);
  jit::Source broken = adder(1, "softmax float[8,8]");
  broken.text += "int unfinished() { return no_such_name; }\n";
  std::string message;
  try {
    (void)engine.get(adder_key(1), [&] { return broken; });
  } catch (const pl::InternalError& error) {
    message = error.what();
    CHECK(error.location().line == 12);
  }
  CAPTURE(message);
  CHECK(message.find("user.cpp:12:7: ") == 0);
  CHECK(message.find("softmax float[8,8]") != std::string::npos);
  CHECK(message.find("use of undeclared identifier 'no_such_name'") != std::string::npos);
  const std::size_t at = message.find("kept in ");
  REQUIRE(at != std::string::npos);
  const std::string path = message.substr(at + 8, message.find('\n', at) - at - 8);
  std::string kept;
  CHECK(jit::read_file(path, kept));
  CHECK(kept.find("no_such_name") != std::string::npos);
  CHECK(call(*get_adder(engine, 1), 1) == 2);
}

TEST_CASE("every thread that waited for a failed compile gets its error") {
  Setting setting;
  setting.config.log = nullptr;
  jit::Engine engine(setting.config);
  std::barrier start(4);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      try {
        (void)engine.get(adder_key(3), []() -> jit::Source { throw pl::ShapeError("no such shape"); });
      } catch (const pl::ShapeError&) {
        ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failures == 4);
}

TEST_CASE("an object that needs more than mem* is refused by name") {
  Setting setting;
  jit::Engine engine(setting.config);
  jit::Source needy = adder(1);
  needy.text = "extern \"C\" int puts(const char*);\n" + needy.text +
               "extern \"C\" int other() { return puts(\"x\"); }\n";
  std::string message;
  try {
    (void)engine.get(adder_key(1), [&] { return needy; });
  } catch (const pl::InternalError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("puts") != std::string::npos);
  CHECK(message.find("adder +1") != std::string::npos);
}

TEST_CASE("a kernel may call memcpy, memmove, memset and memcmp") {
  Setting setting;
  jit::Engine engine(setting.config);
  jit::Source source = adder(0);
  source.text =
      "#include \"pl/abi.hpp\"\nusing size = unsigned long;\nextern \"C\" { void* memcpy(void*, const void*, "
      "size);"
      "void* memmove(void*, const void*, size); void* memset(void*, int, size); int memcmp(const void*, "
      "const void*, "
      "size); }\n"
      "extern \"C\" std::int32_t k(const pl::abi::Args* args, const pl::abi::Services*) {\n"
      "  char a[256], b[256]; size n = args->scalars[0];\n"
      "  memset(a, 3, n); memcpy(b, a, n); memmove(b + 1, b, n - 1); return memcmp(a, b, n) == 0 ? b[n - 1] "
      ": -1;\n}\n";
  CHECK(call(*engine.get(adder_key(0), [&] { return source; }), 100) == 3);
}

TEST_CASE("dump_dir holds source, IR and assembly named by the key") {
  Setting setting;
  setting.config.dump_dir = setting.folder / "dump";
  jit::Engine engine(setting.config);
  const auto code = get_adder(engine, 5);
  for (const char* suffix : {".cpp", ".ll", ".s"}) {
    std::string text;
    CHECK(jit::read_file(setting.config.dump_dir + "/" + code->key() + suffix, text));
    CHECK(text.find("k") != std::string::npos);
  }
}

TEST_CASE("code outlives its engine") {
  Setting setting;
  std::shared_ptr<const jit::Code> code;
  {
    jit::Engine engine(setting.config);
    code = get_adder(engine, 5);
  }
  CHECK(call(*code, 1) == 6);
}

TEST_CASE("dropped code is released, and asked for again comes from the disk") {
  Setting setting;
  jit::Engine engine(setting.config);
  auto code = get_adder(engine, 5);
  CHECK(engine.statistics().bytes_of_code > 0);
  code.reset();
  CHECK(engine.statistics().bytes_of_code == 0);
  CHECK(call(*get_adder(engine, 5), 1) == 6);
  CHECK(engine.statistics().disk_hits == 1);
}

TEST_CASE("a miss can say which part of the key differs from the nearest entry") {
  Setting setting;
  jit::Engine first(setting.config);
  const std::vector<jit::KeyPart> stored = {{"kernel", "abc"}, {"signature", "float[8,8]"}};
  (void)first.get(stored, [] { return adder(1, "scale"); });
  setting.config.explain_misses = true;
  jit::Engine second(setting.config);
  const std::vector<jit::KeyPart> wanted = {{"kernel", "abc"}, {"signature", "float[4,4]"}};
  (void)second.get(wanted, [] { return adder(1, "scale"); });
  bool said = false;
  for (const std::string& line : setting.log)
    said |= line.find(
                "nearest entry \"scale +1\" differs in signature: \"float[4,4]\" wanted, \"float[8,8]\" "
                "stored") != std::string::npos;
  CHECK(said);
}

TEST_CASE("each engine uses its own folder, also when the environment changes between them") {
  Setting setting;
  setting.config.cache_dir.clear();
  setenv("TRILITH_CACHE_DIR", (setting.folder / "one").c_str(), 1);
  jit::Engine one(setting.config);
  (void)get_adder(one, 1);
  setenv("TRILITH_CACHE_DIR", (setting.folder / "two").c_str(), 1);
  jit::Engine two(setting.config);
  (void)get_adder(two, 1);
  unsetenv("TRILITH_CACHE_DIR");
  CHECK(one.cache_folder() == setting.folder / "one");
  CHECK(files_with(setting.folder / "one", ".entry").size() == 1);
  CHECK(files_with(setting.folder / "two", ".entry").size() == 1);
  CHECK(two.statistics().compiles == 1);
}

TEST_CASE("a target that needs more than this machine has is refused when the engine is made") {
  Setting setting;
  setting.config.target_cpu = "x86-64-v3";
  setting.config.hooks.cpu_features = {"cx8", "fxsr", "mmx", "sse", "sse2"};
  CHECK_THROWS_WITH_AS(jit::Engine{setting.config},
                       doctest::Contains("target_cpu \"x86-64-v3\" needs the CPU feature"), pl::ConfigError);
  setting.config.target_cpu = "no-such-cpu";
  CHECK_THROWS_WITH_AS(jit::Engine{setting.config}, doctest::Contains("is not a CPU that LLVM knows"),
                       pl::ConfigError);
}
