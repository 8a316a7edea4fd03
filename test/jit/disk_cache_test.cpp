// test/jit/disk_cache_test.cpp -- keys, damaged entries, folders, eviction, locks.
#include "jit/cache/disk_cache.hpp"
#include "jit/loader/host_cpu.hpp"
#include "jit/support.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <chrono>
#include <thread>

using namespace jit_test;

namespace {

jit::EngineConfig config_in(const TemporaryFolder& folder) {
  use_small_pack();
  jit::EngineConfig config;
  config.cache_dir = folder / "cache";
  return config;
}

std::string only_entry(const std::string& folder) {
  const auto files = files_with(folder, ".entry");
  REQUIRE(files.size() == 1);
  return files[0];
}

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777U;
}

jit::CacheEntry entry_of(std::size_t bytes, int number) {
  jit::CacheEntry entry;
  entry.key = {{"number", std::to_string(number)}};
  entry.name = "n";
  entry.symbol = "k";
  entry.object = std::string(bytes, 'x');
  return entry;
}

}  // namespace

TEST_CASE("the order of key parts does not matter, their contents do") {
  const std::vector<jit::KeyPart> a = {{"x", "1"}, {"y", "2"}};
  const std::vector<jit::KeyPart> b = {{"y", "2"}, {"x", "1"}};
  const std::vector<jit::KeyPart> c = {{"x", "12"}, {"y", ""}};
  CHECK(jit::digest(a) == jit::digest(b));
  CHECK(jit::digest(a) != jit::digest(c));
  CHECK(jit::digest(a).size() == 64);
}

TEST_CASE("changing any byte of an entry is seen, and the kernel is compiled again") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 5);
  }
  const std::string path = only_entry(config.cache_dir);
  std::string whole;
  REQUIRE(jit::read_file(path, whole));
  std::string reason;
  REQUIRE(jit::decode_entry(whole, reason));
  // Every byte through the decoder: it is pure, so this is quick.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    if (jit::decode_entry(damaged, reason)) FAIL("a change of byte " << i << " went unseen");
  }
  // Each class through the engine: magic, format, checksum, key, object, truncated, empty, too long.
  std::vector<std::string> damaged;
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{9}, std::size_t{20}, std::size_t{100}, whole.size() - 1}) {
    damaged.push_back(whole);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 1);
  }
  damaged.push_back(whole.substr(0, whole.size() / 2));
  damaged.emplace_back();
  damaged.push_back(whole + "x");
  for (const std::string& bytes : damaged) {
    REQUIRE(jit::publish_file(path, bytes));
    jit::Engine engine(config);
    CHECK(call(*get_adder(engine, 5), 1) == 6);
    CHECK(engine.statistics().misses_corrupt == 1);
    CHECK(engine.statistics().compiles == 1);
    std::string mended;
    REQUIRE(jit::read_file(path, mended));
    CHECK(mended == whole);
  }
}

TEST_CASE("an entry under another key's name is not used") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  jit::Engine engine(config);
  (void)get_adder(engine, 1);
  const std::string first = only_entry(config.cache_dir);
  const std::string second_key = jit::digest(engine.full_key(adder_key(2)));
  const std::string second =
      config.cache_dir + "/v1/entries/" + second_key.substr(0, 2) + "/" + second_key.substr(2) + ".entry";
  fs::create_directories(fs::path(second).parent_path());
  fs::copy_file(first, second);
  CHECK(call(*get_adder(engine, 2), 0) == 2);
  CHECK(engine.statistics().misses_corrupt == 1);
}

TEST_CASE("a symbolic link in an entry's place is not followed") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 5);
  }
  const std::string path = only_entry(config.cache_dir);
  fs::rename(path, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", path);
  jit::Engine engine(config);
  CHECK(call(*get_adder(engine, 5), 1) == 6);
  CHECK(engine.statistics().misses_corrupt == 1);
  CHECK(fs::is_regular_file(fs::symlink_status(path)));
}

TEST_CASE("an entry that needs a feature this CPU lacks is refused and compiled again") {
  const TemporaryFolder folder;
  jit::EngineConfig config = config_in(folder);
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 5);
  }
  std::string bytes;
  std::string reason;
  const std::string path = only_entry(config.cache_dir);
  REQUIRE(jit::read_file(path, bytes));
  auto entry = jit::decode_entry(bytes, reason);
  REQUIRE(entry);
  entry->required_features = {"avx9000"};
  REQUIRE(jit::publish_file(path, jit::encode_entry(*entry)));
  std::vector<std::string> log;
  config.log = [&](jit::LogLevel, const std::string& text) { log.push_back(text); };
  jit::Engine engine(config);
  CHECK(call(*get_adder(engine, 5), 1) == 6);
  CHECK(engine.statistics().misses_features == 1);
  CHECK(engine.statistics().compiles == 1);
  REQUIRE_FALSE(log.empty());
  CHECK(log[0].find("lacks (avx9000)") != std::string::npos);
}

TEST_CASE("a folder copied from a machine with more features gives no code to one with fewer") {
  const TemporaryFolder folder;
  jit::EngineConfig config = config_in(folder);
  config.target_cpu = "x86-64-v2";
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 5);
  }
  const auto needed = jit::resolve_target("x86-64-v2").required;
  CHECK_FALSE(jit::missing_features(needed, {}).empty());
  jit::DiskCache::Options options;
  options.cpu_features = {"sse", "sse2"};
  const jit::DiskCache cache(jit::open_cache_directory(config.cache_dir, false), options);
  const auto entries = cache.list();
  REQUIRE(entries.size() == 1);
  CHECK(cache.find(entries[0].digest).outcome == jit::Lookup::lacks_features);
}

TEST_CASE("x86-64-v3 is one key on machines with different features above it") {
  use_small_pack();
  std::vector<std::string> some = jit::resolve_target("x86-64-v3").required;
  std::vector<std::string> more = some;
  more.emplace_back("zzz-new-feature");
  std::string keys[2];
  int i = 0;
  for (const auto& features : {some, more}) {
    jit::EngineConfig config;
    config.disk_cache = false;
    config.target_cpu = "x86-64-v3";
    config.hooks.cpu_features = features;
    jit::Engine engine(config);
    keys[i++] = jit::digest(engine.full_key(adder_key(1)));
  }
  CHECK(keys[0] == keys[1]);
}

TEST_CASE("another device header means another key and another precompiled header") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  const char* before = std::getenv("TRILITH_HEADER_PACK");
  const std::string usual = before;
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 1);
  }
  write_small_pack(folder / "pack", "#pragma once\n#define CHANGED 1\n");
  setenv("TRILITH_HEADER_PACK", (folder / "pack").c_str(), 1);
  jit::Engine engine(config);
  (void)get_adder(engine, 1);
  setenv("TRILITH_HEADER_PACK", usual.c_str(), 1);
  CHECK(engine.statistics().disk_hits == 0);
  CHECK(engine.statistics().header_builds == 1);
  CHECK(files_with(config.cache_dir, ".pch").size() == 2);
}

TEST_CASE("a damaged precompiled header is built again") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 1);
  }
  const auto headers = files_with(config.cache_dir, ".pch");
  REQUIRE(headers.size() == 1);
  std::string whole;
  REQUIRE(jit::read_file(headers[0], whole));
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), std::string(), std::string(whole.size(), '\0')}) {
    REQUIRE(jit::publish_file(headers[0], bytes));
    fs::remove_all(config.cache_dir + "/v1/entries");
    jit::Engine engine(config);
    CHECK(call(*get_adder(engine, 1), 1) == 2);
    CHECK(engine.statistics().header_builds == 1);
  }
}

TEST_CASE("the cache folder is made for its owner alone, whatever the umask") {
  const TemporaryFolder folder;
  const mode_t before = umask(0);
  const jit::EngineConfig config = config_in(folder);
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 1);
  }
  umask(before);
  CHECK(mode_of(config.cache_dir) == 0700);
  CHECK(mode_of(only_entry(config.cache_dir)) == 0600);
}

TEST_CASE("shared_cache makes entries that others can read, under umask 077 too") {
  const TemporaryFolder folder;
  const mode_t before = umask(077);
  jit::EngineConfig config = config_in(folder);
  config.shared_cache = true;
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 1);
  }
  umask(before);
  const std::string entry = only_entry(config.cache_dir);
  CHECK(mode_of(config.cache_dir) == 0755);
  CHECK(mode_of(entry) == 0644);
  CHECK(mode_of(fs::path(entry).parent_path()) == 0755);
}

TEST_CASE("a cache folder that others may write is refused") {
  const TemporaryFolder folder;
  jit::EngineConfig config = config_in(folder);
  for (const mode_t mode : {0770, 0707}) {
    fs::remove_all(config.cache_dir);
    REQUIRE(mkdir(config.cache_dir.c_str(), 0700) == 0);
    REQUIRE(chmod(config.cache_dir.c_str(), mode) == 0);
    jit::Engine engine(config);
    CHECK_THROWS_WITH_AS(get_adder(engine, 1), doctest::Contains("may be written by others"),
                         pl::ConfigError);
    CHECK_THROWS_WITH_AS(get_adder(engine, 1),
                         doctest::Contains(", who could place code there that this process would run"),
                         pl::ConfigError);
  }
}

TEST_CASE("a cache folder of another user is refused" * doctest::skip(geteuid() != 0)) {
  const TemporaryFolder folder;
  jit::EngineConfig config = config_in(folder);
  REQUIRE(mkdir(config.cache_dir.c_str(), 0700) == 0);
  REQUIRE(chown(config.cache_dir.c_str(), 12345, 12345) == 0);
  jit::Engine engine(config);
  CHECK_THROWS_WITH_AS(get_adder(engine, 1), doctest::Contains("belongs to user 12345"), pl::ConfigError);
}

TEST_CASE("names stay short for a kernel with a long name") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  jit::Engine engine(config);
  const std::vector<jit::KeyPart> key = {{"kernel", std::string(300, 'n')},
                                         {"signature", "float[1,2,3,4,5,6,7,8]"}};
  (void)engine.get(key, [] { return adder(1, std::string(300, 'n')); });
  for (const auto& entry : fs::recursive_directory_iterator(config.cache_dir))
    CHECK(entry.path().filename().string().size() <= 128);
}

TEST_CASE("the cache stays below its limit and keeps what was used last") {
  const TemporaryFolder folder;
  jit::DiskCache::Options options;
  options.limit_bytes = std::uint64_t{1} << 20;
  jit::DiskCache cache(jit::open_cache_directory(folder / "cache", false), options);
  std::vector<std::string> digests;
  const auto nothing_in_use = [](const std::string&) { return false; };
  const auto touch_first = [&] { (void)cache.find(digests[0]); };
  for (int i = 0; i < 100; ++i) {
    const jit::CacheEntry entry = entry_of(100 * 1024, i);
    digests.push_back(jit::digest(entry.key));
    std::string problem;
    std::uint64_t bytes = 0;
    REQUIRE(cache.publish(digests.back(), entry, problem, bytes));
    touch_first();
    cache.evict(nothing_in_use);
    std::uint64_t total = 0;
    for (const auto& file : cache.list()) total += file.bytes;
    REQUIRE(total <= options.limit_bytes);
  }
  CHECK(cache.find(digests[0]).outcome == jit::Lookup::hit);  // used all the time
  CHECK(cache.find(digests[99]).outcome == jit::Lookup::hit);
  CHECK(cache.find(digests[1]).outcome == jit::Lookup::absent);
}

TEST_CASE("an entry whose code is in use is not evicted") {
  const TemporaryFolder folder;
  jit::EngineConfig config = config_in(folder);
  config.cache_limit = 6000;  // two or three entries
  jit::Engine engine(config);
  const auto kept = get_adder(engine, 0);
  for (int i = 1; i < 20; ++i) (void)get_adder(engine, i);
  jit::Engine other(config);
  (void)get_adder(other, 0);
  CHECK(other.statistics().disk_hits == 1);
  CHECK(files_with(config.cache_dir, ".entry").size() < 8);
}

TEST_CASE("a hit takes no lock") {
  const TemporaryFolder folder;
  const jit::EngineConfig config = config_in(folder);
  {
    jit::Engine engine(config);
    (void)get_adder(engine, 1);
  }
  fs::remove_all(config.cache_dir + "/v1/locks");
  jit::Engine engine(config);
  (void)get_adder(engine, 1);
  CHECK(engine.statistics().disk_hits == 1);
  CHECK_FALSE(fs::exists(config.cache_dir + "/v1/locks"));
}

TEST_CASE("a lock that is never given back is waited for within a bound") {
  const TemporaryFolder folder;
  const std::string path = folder / "lock";
  const int holder = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(holder, LOCK_EX) == 0);
  const auto start = std::chrono::steady_clock::now();
  const jit::FileLock lock(path, std::chrono::milliseconds(100), [] { return false; });
  CHECK_FALSE(lock.held());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  close(holder);
  const jit::FileLock free(path, std::chrono::milliseconds(100), [] { return false; });
  CHECK(free.held());
}

TEST_CASE("deleting a lock file while others wait does not let two in") {
  const TemporaryFolder folder;
  const std::string path = folder / "lock";
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const jit::FileLock lock(path, std::chrono::seconds(60), [] { return false; });
      if (!lock.held()) return;
      most = std::max<int>(most, ++inside);
      // The first deletes before it leaves: who waits on the deleted file must move to the new one.
      if (i % 2 == 0) unlink(path.c_str());
      --inside;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(most == 1);
}

TEST_CASE("an entry that another process published but this one cannot see yet does no harm") {
  const TemporaryFolder folder;
  jit::EngineConfig config = config_in(folder);
  config.hooks.hide_after_publish = true;
  jit::Engine engine(config);
  CHECK(call(*get_adder(engine, 1), 1) == 2);
}

TEST_CASE("without a folder that can be written kernels are kept in memory, with one warning") {
  use_small_pack();
  std::vector<std::string> warnings;
  jit::EngineConfig config;
  config.log = [&](jit::LogLevel level, const std::string& text) {
    if (level == jit::LogLevel::warning) warnings.push_back(text);
  };
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  unsetenv("TRILITH_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  for (const char* value : {static_cast<const char*>(nullptr), "/proc/nonexistent"}) {
    if (value != nullptr)
      setenv("HOME", value, 1);
    else
      unsetenv("HOME");
    warnings.clear();
    jit::Engine engine(config);
    CHECK(call(*get_adder(engine, 1), 1) == 2);
    CHECK(call(*get_adder(engine, 2), 1) == 3);
    CHECK(warnings.size() == 1);
    CHECK(engine.statistics().misses_no_cache == 2);
    CHECK(engine.statistics().header_builds == 1);
  }
  setenv("HOME", home.c_str(), 1);
}
