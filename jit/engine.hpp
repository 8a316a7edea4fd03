// jit/engine.hpp -- C++ text in, callable code out: compiler, loader and disk cache as one.
//
//   Engine engine({});
//   auto code = engine.get(key_parts, [] { return Source{text, "k", "scale_by_rank float[8,8]"}; });
//   code->entry()(&args, &services);
//
// `get` compiles once for a key whatever the number of threads that ask, and other keys go on meanwhile. A
// disk hit neither calls `produce` nor loads the compiler. Code stays valid for as long as a shared_ptr to it
// lives, even after the engine is gone. Thread-safe. fork() is safe at any time. Not a table of hot kernels:
// the dispatcher keeps its own and asks here on a miss.
#pragma once

#include "codegen/error.hpp"
#include "jit/key.hpp"
#include "runtime/pl/abi.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trilith::jit {

enum class LogLevel { debug, info, warning };

/// What tests turn on to see how trouble is handled. Empty in ordinary use.
struct EngineHooks {
  /// Called at "lookup", "locked", "produced", "compiled", "published", "loaded".
  std::function<void(const char* point)> at_point;
  bool deny_executable_memory = false;
  bool hide_after_publish = false;
  std::vector<std::string> cpu_features;  ///< instead of the host's, where not empty
  std::uint32_t compiler_failure = 0;     ///< 1: LLVM fatal error, 2: crash
};

struct EngineConfig {
  std::string cache_dir;  ///< empty: TRILITH_CACHE_DIR, XDG_CACHE_HOME/trilith, HOME/.cache/trilith
  bool disk_cache = true;
  std::uint64_t cache_limit = std::uint64_t{1} << 30;  ///< bytes of entries
  bool shared_cache = false;                           ///< entries readable by other users
  std::string dump_dir;                                ///< keeps source, IR and assembly of what is compiled
  std::string target_cpu;                              ///< empty or "native": this machine
  int max_compile_threads = 0;                         ///< 0: the cores, divided by the ranks on this machine
  bool perf_map = false;                               ///< writes /tmp/perf-<pid>.map
  bool debug = false;                                  ///< line tables; the source is kept
  bool fast_math = false;                              ///< contraction across operations
  bool explain_misses = false;  ///< log which part of the key differs from the nearest entry
  std::function<void(LogLevel, const std::string&)> log;
  EngineHooks hooks;
};

/// What `produce` gives: the translation unit and how to speak of it.
struct Source {
  std::string text;
  std::string symbol;     ///< the extern "C" entry
  std::string name;       ///< kernel and specialisation, for people
  pl::Location location;  ///< of the kernel in the user's source
  std::string metadata;   ///< kept in the entry, given back by Code::metadata()
  /// Not emitted but written by a user, in this file: what is wrong with it is a RejectedError. It may include what
  /// stands in `user_includes` and in the header pack, no other file: its key would not cover that.
  std::string user_file = {};
  std::vector<std::string> user_includes = {};
};

/// Raised by `get` for code that a user wrote: it does not compile or load, or reads a file that is not in its key.
class RejectedError : public pl::Error {
 public:
  enum class Why { compiler, loader, include };
  /// `first`: Clang's first error with its place, the loader's reason, or the file that may not be included.
  RejectedError(Why why_, std::string first_, std::string all_)
      : Error(first_), why(why_), first(std::move(first_)), all(std::move(all_)) {}
  Why why;
  std::string first;
  std::string all;  ///< everything that Clang said
};

/// Raised by `get` where this machine or installation cannot compile or run code at all (no compiler library,
/// no executable memory). The caller may go on in eager mode; the message says how.
class UnavailableError : public pl::Error {
 public:
  using pl::Error::Error;
};

/// Loaded code. Releases its memory when the last owner drops it.
class Code {
 public:
  virtual ~Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  [[nodiscard]] virtual pl::abi::Entry entry() const = 0;
  [[nodiscard]] virtual const std::string& metadata() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// 64 hex digits: the name of its cache entry and of its dumped files.
  [[nodiscard]] virtual const std::string& key() const = 0;
  /// Where it came from, for messages: true when it was read from the disk cache.
  [[nodiscard]] virtual bool from_disk() const = 0;
  /// Bytes of machine code and data in memory.
  [[nodiscard]] virtual std::size_t size() const = 0;

 protected:
  Code() = default;
};

/// Counted since the engine was made. Memory hits are the dispatcher's to count.
struct Statistics {
  std::uint64_t disk_hits = 0;
  std::uint64_t misses = 0;  ///< the sum of the next four
  std::uint64_t misses_absent = 0;
  std::uint64_t misses_corrupt = 0;
  std::uint64_t misses_features = 0;  ///< the entry needs a CPU feature that this machine lacks
  std::uint64_t misses_no_cache = 0;
  std::uint64_t compiles = 0;
  std::uint64_t shared = 0;  ///< calls that waited for, or found, another thread's result
  std::uint64_t header_builds = 0;
  std::uint64_t failures = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_of_code = 0;  ///< alive now
  // Seconds per phase, summed over all calls.
  double lookup_seconds = 0;
  double produce_seconds = 0;
  double library_seconds = 0;  ///< loading the compiler
  double header_seconds = 0;   ///< building precompiled headers
  double frontend_seconds = 0;
  double backend_seconds = 0;
  double publish_seconds = 0;
  double load_seconds = 0;
};

class Engine {
 public:
  /// Cheap: no file is touched and nothing is loaded before the first `get`. Throws pl::ConfigError for a
  /// target_cpu that LLVM does not know or that this machine cannot run.
  explicit Engine(EngineConfig config);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Throws pl::InternalError when the text does not compile (naming kernel, place, first diagnostic and the
  /// kept source; RejectedError where a user wrote it), UnavailableError when this machine cannot compile, and
  /// whatever `produce` throws.
  [[nodiscard]] std::shared_ptr<const Code> get(std::span<const KeyPart> key,
                                                const std::function<Source()>& produce);

  /// What is in memory or on disk under this key; null: nothing, and nothing is compiled.
  [[nodiscard]] std::shared_ptr<const Code> find(std::span<const KeyPart> key);

  /// The key that `get` would use: the caller's parts with the engine's own (target, flags, headers,
  /// versions).
  [[nodiscard]] std::vector<KeyPart> full_key(std::span<const KeyPart> key) const;

  /// Makes sure the precompiled header exists, so that the first kernel need not wait for it.
  void prepare();

  [[nodiscard]] Statistics statistics() const;

  /// The cache folder in use; empty when there is none.
  [[nodiscard]] std::string cache_folder() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace trilith::jit
