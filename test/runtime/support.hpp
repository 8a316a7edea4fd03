// test/runtime/support.hpp -- what the runtime's tests share: an eager context, filled arrays, caught
// messages, log lines.
#pragma once

#include "pl/pl.hpp"
#include "pl/pld.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace support {

/// This thread runs lambdas natively until the end of the block.
struct Eager {
  pl::Context context{{.eager = true}};
  pl::ContextScope scope{context};
};

/// A folder of its own, removed at the end of the block.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trilith-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The cache folder of this test process: with it the precompiled header is built once and not for every
/// case.
inline const std::string& shared_cache() {
  static const TemporaryFolder folder;
  return folder.path();
}

/// Part of the hashes of hand-written records: kernels of an earlier case are not found again.
inline int& hash_round() {
  static int round = 0;
  return round;
}

/// A configuration of the shared cache.
inline pl::RunConfig cached() {
  pl::RunConfig result;
  result.cache_dir = shared_cache();
  return result;
}

/// This thread compiles, and finds nothing that another case has compiled.
struct Jit {
  Jit() { ++hash_round(); }
  pl::Context context{cached()};
  pl::ContextScope scope{context};
  [[nodiscard]] std::uint64_t compiles() const { return context.statistics().compiles; }
};

inline pl::Array<float> numbers(const pl::Index& dims) {
  pl::Array<float> result(dims);
  float next = 0;
  for (float& element : result) element = next++;
  return result;
}

/// The message of the exception of type E that `f` throws; empty when it throws none.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Collects log lines until the end of the block.
class LogLines {
 public:
  LogLines() {
    previous_ = pl::set_log_sink([this](pl::LogLevel, std::string_view text) {
      const std::scoped_lock lock(mutex_);
      lines_.emplace_back(text);
    });
  }
  ~LogLines() { pl::set_log_sink(previous_); }
  [[nodiscard]] std::size_t count(const std::string& part) const {
    const std::scoped_lock lock(mutex_);
    std::size_t result = 0;
    for (const std::string& line : lines_) result += contains(line, part);
    return result;
  }

 private:
  pl::LogSink previous_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace support
