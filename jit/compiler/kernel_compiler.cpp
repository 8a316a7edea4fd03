// jit/compiler/kernel_compiler.cpp
#include "jit/compiler/kernel_compiler.hpp"

#include "codegen/error.hpp"
#include "jit/compiler/locate.hpp"
#include "jit/file.hpp"

#include "llvm/Config/llvm-config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <filesystem>

namespace trilith::jit {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// `<size> <hash>` beside a precompiled header: its size is compared at each use, its hash only when a
/// compile fails, since hashing it costs as much as a tenth of a compile.
std::string header_summary(const std::string& bytes) {
  return std::to_string(bytes.size()) + " " + content_hash(bytes) + "\n";
}

bool size_matches_summary(const std::string& path) {
  std::string summary;
  struct stat status = {};
  return read_file(path + ".sum", summary, false) && lstat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && summary.starts_with(std::to_string(status.st_size) + " ");
}

}  // namespace

KernelCompiler::KernelCompiler(TargetCpu target, CompileOptions options, DiskCache* cache)
    : target_(std::move(target)), cache_(cache), arguments_(language_arguments(target_, options)) {}

const HeaderPack& KernelCompiler::pack() {
  if (!pack_read_) pack_ = read_header_pack(header_pack_path());
  pack_read_ = true;
  return pack_;
}

std::vector<KeyPart> KernelCompiler::key_parts() {
  const std::lock_guard guard(lock_);
  std::string flags;
  for (const std::string& argument : arguments_) flags += (flags.empty() ? "" : " ") + argument;
  return {{"llvm", LLVM_VERSION_STRING},
          {"headers", pack().content},
          {"target", target_.identity},
          {"flags", flags},
          {"cache format", std::to_string(cache_format)}};
}

bool KernelCompiler::prepare(CompilePhases& phases, std::string& reason) {
  const std::lock_guard guard(lock_);
  if (compiler_ == nullptr) {
    const auto start = std::chrono::steady_clock::now();
    compiler_ = open_compiler(reason);
    phases.library_seconds += seconds_since(start);
    if (compiler_ == nullptr) return false;
  }
  if (!header_ready_) ready_header(phases);
  return true;
}

void KernelCompiler::ready_header(CompilePhases& phases) {
  // The pack's folder belongs in: Clang knows a header of a precompiled header by its path.
  std::vector<KeyPart> key = {
      {"headers", pack().content}, {"folder", pack().folder}, {"llvm", compiler_->llvm_version}};
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    key.push_back({"flag " + std::to_string(i), arguments_[i]});
  const std::string name = digest(key);
  if (cache_ != nullptr) {
    header_path_ = cache_->header_path(name);
    if (size_matches_summary(header_path_)) {
      utimensat(AT_FDCWD, header_path_.c_str(), nullptr, 0);
      header_ready_ = true;
      return;
    }
    const FileLock lock = cache_->lock(name, [&] { return size_matches_summary(header_path_); });
    if (!size_matches_summary(header_path_)) build_header(phases);
  } else {
    header_path_ = "/trilith/" + name + ".pch";
    build_header(phases);
  }
  header_ready_ = true;
}

void KernelCompiler::build_header(CompilePhases& phases) {
  const auto start = std::chrono::steady_clock::now();
  verify_header_pack(pack());
  CompilerInput input;
  input.action = trilith_compile_header;
  input.source = device_header_source;
  input.file_name = device_header_name;
  input.arguments = arguments_;
  for (std::string& argument : header_arguments(pack())) input.arguments.push_back(std::move(argument));
  // Instantiates now what is pending at its end, once and not in every kernel.
  input.arguments.insert(input.arguments.end(),
                         {"-x", "c++", "-fpch-instantiate-templates", "-fno-pch-timestamp"});
  CompilerOutput output = run_compiler(*compiler_, input);
  if (output.status != trilith_compiler_ok)
    throw pl::InternalError("Trilith's device header does not compile for " + target_.name + ": " +
                            output.first_error + "\n" + output.messages);
  ++phases.header_builds;
  header_bytes_.reset();
  const bool published =
      cache_ != nullptr && cache_->writable() && cache_->make_header_folder() &&
      publish_file(header_path_, output.bytes, cache_->file_mode()) &&
      publish_file(header_path_ + ".sum", header_summary(output.bytes), cache_->file_mode());
  if (published) {
    cache_->evict_headers();
  } else {
    header_path_ = "/trilith/" + std::filesystem::path(header_path_).filename().string();
    header_bytes_ = std::make_shared<const std::string>(std::move(output.bytes));
  }
  phases.header_seconds += seconds_since(start);
}

bool KernelCompiler::header_is_damaged() const {
  if (header_bytes_ != nullptr) return false;
  std::string bytes;
  std::string summary;
  return !read_file(header_path_, bytes, false) || !read_file(header_path_ + ".sum", summary, false) ||
         summary != header_summary(bytes);
}

CompilerOutput KernelCompiler::compile(const std::string& text, const std::string& file_name,
                                       bool want_listings, std::uint32_t injected_failure,
                                       CompilePhases& phases) {
  CompilerInput input;
  input.source = text;
  input.file_name = file_name;
  input.want_listings = want_listings;
  input.injected_failure = injected_failure;
  std::shared_ptr<const std::string> header_bytes;
  {
    const std::lock_guard guard(lock_);
    input.arguments = arguments_;
    for (std::string& argument : header_arguments(pack())) input.arguments.push_back(std::move(argument));
    input.header_path = header_path_;
    header_bytes = header_bytes_;
  }
  input.header_bytes = header_bytes.get();
  CompilerOutput output = run_compiler(*compiler_, input);
  if (output.status == trilith_compiler_ok) return output;
  {
    const std::lock_guard guard(lock_);
    // Another thread may have replaced the header meanwhile; then it is whole by now and the repetition is
    // cheap.
    if (input.header_path == header_path_ && !header_is_damaged()) return output;
    if (header_is_damaged()) build_header(phases);
    input.header_path = header_path_;
    header_bytes = header_bytes_;
  }
  input.header_bytes = header_bytes.get();
  return run_compiler(*compiler_, input);
}

}  // namespace trilith::jit
