// jit/compiler/kernel_compiler.hpp -- a kernel's text to an object: library, precompiled header and flags
// together.
//
// Everything here happens at the first compile of a process: opening the library, finding or building the
// precompiled header. Thread-safe; compiles run side by side, a header is built by one.
#pragma once

#include "jit/cache/disk_cache.hpp"
#include "jit/compiler/client.hpp"
#include "jit/compiler/flags.hpp"

#include <atomic>
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

  /// Opens the library and makes the header ready. Throws pl::InternalError; returns false with `reason` when
  /// the library is missing.
  [[nodiscard]] bool prepare(CompilePhases& phases, std::string& reason);

  /// `prepare` must have succeeded. A compile that fails with a damaged precompiled header is repeated with a
  /// new one.
  [[nodiscard]] CompilerOutput compile(const std::string& text, const std::string& file_name,
                                       bool want_listings, std::uint32_t injected_failure,
                                       CompilePhases& phases);

  [[nodiscard]] const TargetCpu& target() const { return target_; }

 private:
  const HeaderPack& pack();
  void ready_header(CompilePhases& phases);
  void build_header(CompilePhases& phases);
  [[nodiscard]] bool header_is_damaged() const;

  TargetCpu target_;
  DiskCache* cache_;
  std::vector<std::string> arguments_;
  std::mutex lock_;  // of all that follows
  HeaderPack pack_;
  bool pack_read_ = false;
  const trilith_compiler* compiler_ = nullptr;
  std::string header_path_;
  std::shared_ptr<const std::string> header_bytes_;  // where no file can be written
  bool header_ready_ = false;
};

}  // namespace trilith::jit
