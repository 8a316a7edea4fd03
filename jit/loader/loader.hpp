// jit/loader/loader.hpp -- an object file in memory becomes callable code (ORC, JITLink).
//
//   Loader loader({});
//   LoadedCode code = loader.load(object_bytes, "k");
//   auto entry = reinterpret_cast<pl::abi::Entry>(code.address());
//
// Nothing is read from or written to a file, so a cache on a file system without execute permission works.
// The code's memory goes back when the last LoadedCode that refers to it is destroyed; never destroy it while
// the code runs. Thread-safe. No LLVM type is visible here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace trilith::jit {

struct LoaderOptions {
  bool perf_map = false;            ///< append to /tmp/perf-<pid>.map
  bool debug_registration = false;  ///< tell gdb about each object; gdb keeps what it was told
  bool deny_executable = false;     ///< test hook: behave as if the system refused executable memory
};

namespace detail {
class LoaderSession;
struct LoadedObject;
}  // namespace detail

class LoadedCode {
 public:
  LoadedCode() = default;
  [[nodiscard]] void* address() const noexcept { return address_; }
  /// Bytes of machine code and data.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  explicit operator bool() const noexcept { return address_ != nullptr; }

 private:
  friend class Loader;
  std::shared_ptr<detail::LoadedObject> object_;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

/// The object cannot become code: an undefined symbol, a damaged object, no executable memory.
struct LoadFailure {
  std::string reason;
  bool executable_memory_refused = false;  ///< the machine forbids it: no other object will load either
};

class Loader {
 public:
  explicit Loader(LoaderOptions options);

  /// `display_name` is what profilers and debuggers show. Returns an empty LoadedCode and fills `failure`.
  [[nodiscard]] LoadedCode load(std::span<const char> object, const std::string& symbol,
                                const std::string& display_name, LoadFailure& failure);

 private:
  std::shared_ptr<detail::LoaderSession> session_;
};

/// Waits until no load is under way and keeps new ones out, for fork(); `release_loads` lets them in again.
void block_loads();
void release_loads();

}  // namespace trilith::jit
