// jit/engine.cpp -- one compile a key: in this process by a table of keys under way, between processes by a
// file lock.
#include "jit/engine.hpp"

#include "jit/cache/disk_cache.hpp"
#include "jit/compile_limit.hpp"
#include "jit/compiler/kernel_compiler.hpp"
#include "jit/file.hpp"
#include "jit/fork_gate.hpp"
#include "jit/loader/loader.hpp"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <unordered_map>

namespace trilith::jit {
namespace {

constexpr const char* way_out = "; TRILITH_EAGER=1 runs kernels without compiling them";

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string milliseconds(double seconds) {
  return std::to_string(static_cast<int>(seconds * 1e3 + 0.5)) + " ms";
}

}  // namespace

class Engine::State final : public ForkAware, public std::enable_shared_from_this<Engine::State> {
 public:
  explicit State(EngineConfig config)
      : config_(std::move(config)),
        cpu_features_(config_.hooks.cpu_features.empty() ? host_features() : config_.hooks.cpu_features),
        target_(resolve_target(config_.target_cpu)),
        loader_(LoaderOptions{.perf_map = config_.perf_map,
                              .debug_registration = config_.debug,
                              .deny_executable = config_.hooks.deny_executable_memory}),
        limit_(config_.max_compile_threads) {
    const auto missing = missing_features(target_.required, cpu_features_);
    if (!config_.target_cpu.empty() && config_.target_cpu != "native" && !missing.empty())
      throw pl::ConfigError("target_cpu \"" + config_.target_cpu + "\" needs the CPU feature \"" +
                            missing.front() +
                            "\", which this machine lacks; choose a lower level or leave target_cpu empty");
    register_for_fork(*this);
  }
  ~State() { unregister_for_fork(*this); }

  std::shared_ptr<const Code> get(std::span<const KeyPart> caller_key,
                                  const std::function<Source()>& produce);
  std::shared_ptr<const Code> find(std::span<const KeyPart> caller_key);
  std::vector<KeyPart> full_key(std::span<const KeyPart> key);
  void prepare();
  Statistics statistics() const {
    const std::lock_guard lock(lock_);
    return statistics_;
  }
  std::string cache_folder() {
    const std::lock_guard lock(lock_);
    open_cache();
    return cache_ ? cache_->folder() : std::string();
  }

  void before_fork() override { lock_.lock(); }
  void after_fork_in_parent() override { lock_.unlock(); }
  void after_fork_in_child() override {
    // Compiles that the parent's other threads had begun will not end here: whoever asks starts anew.
    pending_.clear();
    new (&changed_) std::condition_variable;
    limit_.reset_after_fork();
    lock_.unlock();
  }

 private:
  class Loaded;
  /// A key that some thread is working on.
  struct Pending {
    bool done = false;
    std::shared_ptr<const Code> code;
    std::exception_ptr error;
  };

  void open_cache();
  void open_compiler_for_key();
  std::shared_ptr<const Code> obtain(const std::string& key, const std::vector<KeyPart>& parts,
                                     const std::function<Source()>& produce);
  std::shared_ptr<const Code> from_disk(const std::string& key);
  std::shared_ptr<const Code> load(const std::string& key, CacheEntry entry, bool from_disk, bool& rejected,
                                   bool user_code = false);
  void check_user_code(const Source& source, const CompilerOutput& output);
  CacheEntry compile(const std::string& key, const std::vector<KeyPart>& parts, const Source& source);
  void publish(const std::string& key, const CacheEntry& entry);
  [[noreturn]] void fail_compile(const std::string& key, const Source& source, const CompilerOutput& output);
  void dump(const std::string& key, const Source& source, const CompilerOutput& output);
  void make_ready(CompilePhases& phases);
  void count(const CompilePhases& phases);

  void log(LogLevel level, const std::string& text) const {
    if (config_.log) config_.log(level, text);
  }
  /// The third kind of trouble: no exception, and said once.
  void report_once(const std::string& text) {
    {
      const std::lock_guard lock(lock_);
      if (!reported_.insert(text).second) return;
    }
    log(LogLevel::warning, text);
  }
  void point(const char* name) const {
    if (config_.hooks.at_point) config_.hooks.at_point(name);
  }
  template <class Change>
  void count(Change change) {
    const std::lock_guard lock(lock_);
    change(statistics_);
  }

  const EngineConfig config_;
  const std::vector<std::string> cpu_features_;
  const TargetCpu target_;
  Loader loader_;
  CompileLimit limit_;

  mutable std::mutex lock_;  // of all that follows
  std::condition_variable changed_;
  std::unordered_map<std::string, std::shared_ptr<Pending>> pending_;
  std::unordered_map<std::string, std::weak_ptr<const Code>> alive_;
  std::set<std::string> reported_;
  Statistics statistics_;
  bool cache_opened_ = false;
  std::string cache_problem_;
  std::optional<DiskCache> cache_;          // made once, never changed after: used without the lock
  std::optional<KernelCompiler> compiler_;  // likewise
  std::vector<KeyPart> own_key_;
};

class Engine::State::Loaded final : public Code {
 public:
  Loaded(std::weak_ptr<State> state, std::string key, CacheEntry entry, LoadedCode code, bool from_disk)
      : state_(std::move(state)),
        key_(std::move(key)),
        name_(std::move(entry.name)),
        metadata_(std::move(entry.metadata)),
        code_(std::move(code)),
        from_disk_(from_disk) {}
  ~Loaded() override {
    const std::shared_ptr<State> state = state_.lock();
    if (state == nullptr) return;
    const std::lock_guard lock(state->lock_);
    state->statistics_.bytes_of_code -= code_.size();
    const auto at = state->alive_.find(key_);
    if (at != state->alive_.end() && at->second.expired()) state->alive_.erase(at);
  }

  [[nodiscard]] pl::abi::Entry entry() const override {
    return reinterpret_cast<pl::abi::Entry>(code_.address());
  }
  [[nodiscard]] const std::string& metadata() const override { return metadata_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& key() const override { return key_; }
  [[nodiscard]] bool from_disk() const override { return from_disk_; }
  [[nodiscard]] std::size_t size() const override { return code_.size(); }

 private:
  std::weak_ptr<State> state_;
  std::string key_;
  std::string name_;
  std::string metadata_;
  LoadedCode code_;
  bool from_disk_;
};

// Caller holds lock_.
void Engine::State::open_cache() {
  if (cache_opened_) return;
  if (config_.disk_cache) {
    const CacheDirectory directory = open_cache_directory(config_.cache_dir, config_.shared_cache);
    cache_problem_ = directory.problem;
    if (!directory.path.empty())
      cache_.emplace(directory, DiskCache::Options{.limit_bytes = config_.cache_limit,
                                                   .shared = config_.shared_cache,
                                                   .cpu_features = cpu_features_,
                                                   .hide_after_publish = config_.hooks.hide_after_publish});
  }
  cache_opened_ = true;
}

// Caller holds lock_.
void Engine::State::open_compiler_for_key() {
  open_cache();
  if (!compiler_)
    compiler_.emplace(target_, CompileOptions{.fast_math = config_.fast_math, .debug = config_.debug},
                      cache_ ? &*cache_ : nullptr);
  if (own_key_.empty()) own_key_ = compiler_->key_parts();
}

std::vector<KeyPart> Engine::State::full_key(std::span<const KeyPart> key) {
  std::vector<KeyPart> parts(key.begin(), key.end());
  const std::lock_guard lock(lock_);
  open_compiler_for_key();
  parts.insert(parts.end(), own_key_.begin(), own_key_.end());
  return parts;
}

std::shared_ptr<const Code> Engine::State::get(std::span<const KeyPart> caller_key,
                                               const std::function<Source()>& produce) {
  const std::vector<KeyPart> parts = full_key(caller_key);
  const std::string key = digest(parts);
  std::string problem;
  {
    const std::lock_guard lock(lock_);
    problem = cache_problem_;
  }
  if (!problem.empty())
    report_once("compiled kernels are kept in memory only: " + problem +
                "; set TRILITH_CACHE_DIR to a folder that can be written");

  std::shared_ptr<Pending> mine;
  {
    std::unique_lock lock(lock_);
    if (const auto at = alive_.find(key); at != alive_.end()) {
      if (auto code = at->second.lock()) {
        ++statistics_.shared;
        return code;
      }
    }
    auto& slot = pending_[key];
    if (slot != nullptr) {
      const std::shared_ptr<Pending> other = slot;
      ++statistics_.shared;
      changed_.wait(lock, [&] { return other->done; });
      if (other->error) std::rethrow_exception(other->error);
      return other->code;
    }
    slot = mine = std::make_shared<Pending>();
  }
  try {
    mine->code = obtain(key, parts, produce);
  } catch (...) {
    mine->error = std::current_exception();
  }
  {
    const std::lock_guard lock(lock_);
    mine->done = true;
    pending_.erase(key);
    if (mine->code != nullptr)
      alive_[key] = mine->code;
    else
      ++statistics_.failures;
  }
  changed_.notify_all();
  if (mine->error) std::rethrow_exception(mine->error);
  return mine->code;
}

std::shared_ptr<const Code> Engine::State::find(std::span<const KeyPart> caller_key) {
  const std::string key = digest(full_key(caller_key));
  {
    const std::lock_guard lock(lock_);
    if (const auto at = alive_.find(key); at != alive_.end())
      if (auto code = at->second.lock()) return code;
  }
  std::shared_ptr<const Code> code = cache_ ? from_disk(key) : nullptr;
  if (code == nullptr) return nullptr;
  const std::lock_guard lock(lock_);
  alive_[key] = code;
  return code;
}

std::shared_ptr<const Code> Engine::State::from_disk(const std::string& key) {
  const Stopwatch watch;
  LookupResult found = cache_->find(key);
  const double seconds = watch.seconds();
  count([&](Statistics& statistics) {
    statistics.lookup_seconds += seconds;
    statistics.misses_corrupt += found.outcome == Lookup::corrupt ? 1 : 0;
    statistics.misses_features += found.outcome == Lookup::lacks_features ? 1 : 0;
    statistics.misses_absent += found.outcome == Lookup::absent ? 1 : 0;
  });
  switch (found.outcome) {
    case Lookup::absent: break;
    case Lookup::corrupt:
      log(LogLevel::warning,
          "cache entry " + key + " is damaged (" + found.detail + "); it is compiled again");
      break;
    case Lookup::lacks_features:
      log(LogLevel::info, "cache entry " + key + " needs CPU features that this machine lacks (" +
                              found.detail + "); it is compiled again");
      break;
    case Lookup::hit: {
      const std::string name = found.entry.name;
      bool rejected = false;
      auto code = load(key, std::move(found.entry), true, rejected);
      count([&](Statistics& statistics) {
        statistics.misses_corrupt += rejected ? 1 : 0;
        statistics.disk_hits += rejected ? 0 : 1;
        statistics.bytes_read += found.bytes;
      });
      if (!rejected) log(LogLevel::info, name + ": loaded from the disk cache");
      return code;
    }
  }
  return nullptr;
}

std::shared_ptr<const Code> Engine::State::obtain(const std::string& key, const std::vector<KeyPart>& parts,
                                                  const std::function<Source()>& produce) {
  point("lookup");
  if (cache_) {
    if (auto code = from_disk(key)) return code;
    if (config_.explain_misses) log(LogLevel::info, "cache miss: " + cache_->explain_miss(parts));
  } else {
    count([](Statistics& statistics) { ++statistics.misses_no_cache; });
  }
  count([](Statistics& statistics) { ++statistics.misses; });

  {
    const CompilingHere here;
    compiler_->start();
  }
  const CompileLimit::Turn turn(limit_);
  FileLock file_lock;
  if (cache_) {
    const auto published = [&] { return std::filesystem::exists(cache_->entry_path(key)); };
    file_lock = cache_->lock(key, published);
    // Another process may have compiled it while this one waited.
    std::error_code error;
    if (std::filesystem::exists(cache_->entry_path(key), error)) {
      LookupResult found = cache_->find(key);
      bool rejected = false;
      if (found.outcome == Lookup::hit) {
        count([&](Statistics& statistics) { statistics.bytes_read += found.bytes; });
        if (auto code = load(key, std::move(found.entry), true, rejected)) return code;
      }
    }
  }
  point("locked");
  const Stopwatch produce_watch;
  const Source source = produce();
  const double produce_seconds = produce_watch.seconds();
  count([&](Statistics& statistics) { statistics.produce_seconds += produce_seconds; });
  point("produced");
  CacheEntry entry = compile(key, parts, source);
  point("compiled");
  bool rejected = false;
  if (!source.user_file.empty()) {
    // Published only when it is known to load: the loader is the judge of what a user's code refers to.
    auto code = load(key, entry, false, rejected, /*user_code=*/true);
    point("loaded");
    if (cache_ && cache_->writable()) publish(key, entry);
    point("published");
    return code;
  }
  if (cache_ && cache_->writable()) publish(key, entry);
  point("published");
  auto code = load(key, std::move(entry), false, rejected);
  point("loaded");
  return code;
}

void Engine::State::make_ready(CompilePhases& phases) {
  std::string reason;
  if (!compiler_->prepare(phases, reason)) {
    const std::string text = "kernels cannot be compiled: " + reason;
    report_once(text);
    throw UnavailableError(text + way_out);
  }
}

void Engine::State::count(const CompilePhases& phases) {
  count([&](Statistics& statistics) {
    statistics.library_seconds += phases.library_seconds;
    statistics.header_seconds += phases.header_seconds;
    statistics.header_builds += static_cast<std::uint64_t>(phases.header_builds);
  });
}

void Engine::State::prepare() {
  full_key({});
  CompilePhases phases;
  {
    const CompilingHere here;
    make_ready(phases);
  }
  count(phases);
}

CacheEntry Engine::State::compile(const std::string& key, const std::vector<KeyPart>& parts,
                                  const Source& source) {
  const Stopwatch watch;
  CompilePhases phases;
  CompilerOutput output;
  std::string file_name = "/trilith/" + key.substr(0, 16) + ".cpp";
  if (config_.debug) {
    // Debuggers look for the source where the line table says it is.
    if (!config_.dump_dir.empty())
      file_name = std::filesystem::absolute(config_.dump_dir + "/" + key + ".cpp").string();
    else if (cache_)
      cache_->keep_source(key, source.text, file_name);
  }
  if (!source.user_file.empty()) file_name = source.user_file;
  {
    const CompilingHere here;
    make_ready(phases);
    output = compiler_->compile(source.text, file_name, !config_.dump_dir.empty(),
                                config_.hooks.compiler_failure, phases, !source.user_file.empty());
  }
  count(phases);
  count([&](Statistics& statistics) {
    ++statistics.compiles;
    statistics.frontend_seconds += output.frontend_seconds;
    statistics.backend_seconds += output.backend_seconds;
  });
  if (!config_.dump_dir.empty()) dump(key, source, output);
  if (output.status == trilith_compiler_rejected && !source.user_file.empty())
    throw RejectedError(RejectedError::Why::compiler, output.first_error, output.messages);
  if (output.status != trilith_compiler_ok) fail_compile(key, source, output);
  if (!source.user_file.empty()) check_user_code(source, output);
  log(LogLevel::info, source.name + ": compiled in " + milliseconds(watch.seconds()));
  return {parts, target_.required, source.name, source.symbol, source.metadata, std::move(output.bytes)};
}

void Engine::State::check_user_code(const Source& source, const CompilerOutput& output) {
  const auto known = [&](const std::string& file) {
    if (compiler_->is_own_file(file) || file.starts_with("/trilith/")) return true;
    const auto normal = [](const std::string& path) {
      return std::filesystem::path(path).lexically_normal();
    };
    if (normal(file) == normal(source.user_file)) return true;
    for (const std::string& include : source.user_includes)
      if (normal(file) == normal(include)) return true;
    return false;
  };
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = output.dependencies.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string file = output.dependencies.substr(begin, end - begin);
    if (!known(file)) throw RejectedError(RejectedError::Why::include, file, file);
  }
  // The name of the section that holds pointers to constructors: nobody would run them.
  if (output.bytes.find(".init_array") != std::string::npos) {
    const char* reason = "a static object needs a constructor to run, and nothing runs it";
    throw RejectedError(RejectedError::Why::loader, reason, reason);
  }
}

void Engine::State::publish(const std::string& key, const CacheEntry& entry) {
  const Stopwatch watch;
  std::string problem;
  std::uint64_t bytes = 0;
  const bool published = cache_->publish(key, entry, problem, bytes);
  if (published) {
    cache_->evict([&](const std::string& candidate) {
      const std::lock_guard lock(lock_);
      return candidate == key || alive_.contains(candidate);
    });
  } else {
    report_once("compiled kernels are not kept on disk: " + problem);
  }
  const double seconds = watch.seconds();
  count([&](Statistics& statistics) {
    statistics.publish_seconds += seconds;
    statistics.bytes_written += bytes;
  });
}

std::shared_ptr<const Code> Engine::State::load(const std::string& key, CacheEntry entry, bool from_disk,
                                                bool& rejected, bool user_code) {
  const Stopwatch watch;
  LoadFailure failure;
  LoadedCode code = loader_.load(entry.object, entry.symbol, entry.name, failure);
  if (!code) {
    if (failure.executable_memory_refused) {
      const std::string text = "compiled kernels cannot run here: " + failure.reason;
      report_once(text);
      throw UnavailableError(text + way_out);
    }
    if (from_disk) {
      log(LogLevel::warning,
          "cache entry of " + entry.name + " does not load (" + failure.reason + "); it is compiled again");
      rejected = true;
      return nullptr;
    }
    if (user_code) throw RejectedError(RejectedError::Why::loader, failure.reason, failure.reason);
    throw pl::InternalError("the object of kernel " + entry.name + " does not load: " + failure.reason +
                            "; a kernel may refer to memcpy, memmove, memset and memcmp only");
  }
  const double seconds = watch.seconds();
  count([&](Statistics& statistics) {
    statistics.load_seconds += seconds;
    statistics.bytes_of_code += code.size();
  });
  return std::make_shared<Loaded>(weak_from_this(), key, std::move(entry), std::move(code), from_disk);
}

void Engine::State::dump(const std::string& key, const Source& source, const CompilerOutput& output) {
  std::error_code error;
  std::filesystem::create_directories(config_.dump_dir, error);
  const std::string stem = config_.dump_dir + "/" + key;
  bool good = publish_file(stem + ".cpp", source.text, 0644);
  if (output.status == trilith_compiler_ok)
    good = publish_file(stem + ".ll", output.ir, 0644) && publish_file(stem + ".s", output.assembly, 0644) &&
           good;
  if (!good) report_once("dump_dir " + config_.dump_dir + " cannot be written");
}

void Engine::State::fail_compile(const std::string& key, const Source& source, const CompilerOutput& output) {
  std::string kept;
  if (!config_.dump_dir.empty()) {
    kept = config_.dump_dir + "/" + key + ".cpp";
  } else if (cache_) {
    cache_->keep_source(key, source.text + "\n/*\n" + output.messages + "*/\n", kept);
  }
  const std::string what = output.status == trilith_compiler_fatal
                               ? "the compiler failed on kernel " + source.name + ": "
                               : "the code emitted for kernel " + source.name + " does not compile: ";
  // A compiler that cannot do the least thing is an installation to mend, and no kernel's fault.
  CompilePhases phases;
  CompilerOutput least;
  {
    const CompilingHere here;
    least = compiler_->compile("#include \"trilith/device.hpp\"\nextern \"C\" int k() { return 0; }\n",
                               "/trilith/self_check.cpp", false, config_.hooks.compiler_failure, phases);
  }
  if (least.status != trilith_compiler_ok)
    throw pl::InternalError(
        what + output.first_error + "\n  nor does an empty kernel compile here: " + least.first_error +
            "\n  install Trilith again: its compiler library or header pack is at fault" + way_out,
        source.location);
  throw pl::InternalError(
      what + output.first_error + "\n  the emitted source is " +
          (kept.empty() ? "not kept (set TRILITH_DUMP_DIR to keep it)" : "kept in " + kept) +
          "\n  this is a fault of Trilith, please report it with that file" + way_out,
      source.location);
}

Engine::Engine(EngineConfig config) : state_(std::make_shared<State>(std::move(config))) {}
Engine::~Engine() = default;

std::shared_ptr<const Code> Engine::get(std::span<const KeyPart> key,
                                        const std::function<Source()>& produce) {
  return state_->get(key, produce);
}
std::shared_ptr<const Code> Engine::find(std::span<const KeyPart> key) { return state_->find(key); }
std::vector<KeyPart> Engine::full_key(std::span<const KeyPart> key) const { return state_->full_key(key); }
void Engine::prepare() { state_->prepare(); }
Statistics Engine::statistics() const { return state_->statistics(); }
std::string Engine::cache_folder() const { return state_->cache_folder(); }

}  // namespace trilith::jit
