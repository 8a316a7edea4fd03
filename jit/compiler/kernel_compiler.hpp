// jit/compiler/kernel_compiler.hpp -- a kernel's text to an object: library, precompiled header and flags
// together.
//
// Everything here happens at the first compile of a process: opening the library, finding or building the
// precompiled header. Thread-safe; compiles run side by side, a header is built by one.
// Callers hold CompilingHere, except for key_parts.
#pragma once

#include "jit/cache/disk_cache.hpp"
#include "jit/compiler/client.hpp"
#include "jit/compiler/flags.hpp"
#include "jit/compiler/mapped_header.hpp"

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trilith::jit {

struct CompilePhases {
  double library_seconds = 0;
  double header_seconds = 0;
  int header_builds = 0;
};

class KernelCompiler {
 public:
  KernelCompiler(TargetCpu target, CompileOptions options, DiskCache* cache);

  /// Identity of headers and flags, for the key. Reads the pack's manifest once; throws pl::InternalError
  /// when there is none.
  [[nodiscard]] std::vector<KeyPart> key_parts();

  /// Begins to load the library and the precompiled header on other threads, if that was not begun yet: a
  /// kernel's source can be emitted meanwhile.
  void start();

  /// Makes library and header ready; builds the header where it is missing. Throws pl::InternalError; returns
  /// false with `reason` when the library is missing.
  [[nodiscard]] bool prepare(CompilePhases& phases, std::string& reason);

  /// `prepare` must have succeeded. What was compiled with a precompiled header that proves damaged is
  /// compiled again with a new one.
  [[nodiscard]] CompilerOutput compile(const std::string& text, const std::string& file_name,
                                       bool want_listings, std::uint32_t injected_failure,
                                       CompilePhases& phases, bool want_dependencies = false);

  /// Among the files that a compile has read: one of the pack, or the precompiled header.
  [[nodiscard]] bool is_own_file(const std::string& path);

  [[nodiscard]] const TargetCpu& target() const { return target_; }

 private:
  /// A precompiled header: mapped from the cache, or built by this process where nothing can be written.
  struct Header {
    std::unique_ptr<MappedHeader> mapped;
    std::string own;
    [[nodiscard]] std::string_view bytes() const { return mapped != nullptr ? mapped->bytes() : own; }
    [[nodiscard]] bool whole() const { return mapped == nullptr || mapped->whole(); }
  };

  const HeaderPack& pack();
  [[nodiscard]] std::string header_key();
  void ready_header(CompilePhases& phases);
  [[nodiscard]] std::shared_ptr<const Header> build_header(CompilePhases& phases);

  TargetCpu target_;
  DiskCache* cache_;
  std::vector<std::string> arguments_;
  std::mutex lock_;  // of all that follows
  HeaderPack pack_;
  bool pack_read_ = false;
  const trilith_compiler* compiler_ = nullptr;
  std::string compiler_reason_;
  std::string header_path_;
  std::shared_ptr<const Header> header_;
  bool started_ = false;
  std::future<std::pair<const trilith_compiler*, std::string>> library_loading_;
  std::future<std::unique_ptr<MappedHeader>> header_mapping_;
};

}  // namespace trilith::jit
