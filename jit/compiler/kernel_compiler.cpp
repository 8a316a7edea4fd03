// jit/compiler/kernel_compiler.cpp
#include "jit/compiler/kernel_compiler.hpp"

#include "codegen/error.hpp"
#include "jit/compiler/locate.hpp"
#include "jit/file.hpp"
#include "jit/fork_gate.hpp"

#include "llvm/Config/llvm-config.h"

#include <chrono>
#include <tuple>

namespace trilith::jit {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
  return {{"llvm", LLVM_VERSION_STRING},   {"headers", pack().content},
          {"target", target_.identity},    {"flags", flags},
          {"compiler", compiler_revision}, {"cache format", std::to_string(cache_format)}};
}

bool KernelCompiler::is_own_file(const std::string& path) {
  const std::lock_guard guard(lock_);
  return path.starts_with(pack().folder) || path == header_path_;
}

std::string KernelCompiler::header_key() {
  // The pack's folder belongs in: Clang knows a header of a precompiled header by its path.
  std::vector<KeyPart> key = {
      {"headers", pack().content}, {"folder", pack().folder}, {"llvm", LLVM_VERSION_STRING}};
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    key.push_back({"flag " + std::to_string(i), arguments_[i]});
  return digest(key);
}

void KernelCompiler::start() {
  const std::lock_guard guard(lock_);
  if (started_) return;
  started_ = true;
  const std::string key = header_key();
  header_path_ = cache_ != nullptr ? cache_->header_path(key) : "/trilith/" + key + ".pch";
  library_loading_ = run_beside([] {
    std::string reason;
    const trilith_compiler* compiler = open_compiler(reason);
    return std::pair{compiler, reason};
  });
  if (cache_ != nullptr)
    header_mapping_ = run_beside([path = header_path_] { return MappedHeader::open(path); });
}

bool KernelCompiler::prepare(CompilePhases& phases, std::string& reason) {
  start();
  const std::lock_guard guard(lock_);
  if (library_loading_.valid()) {
    const auto waiting = std::chrono::steady_clock::now();
    std::tie(compiler_, compiler_reason_) = library_loading_.get();
    phases.library_seconds += seconds_since(waiting);
  }
  if (compiler_ == nullptr) {
    reason = compiler_reason_;
    return false;
  }
  if (header_ == nullptr) ready_header(phases);
  return true;
}

void KernelCompiler::ready_header(CompilePhases& phases) {
  const auto start = std::chrono::steady_clock::now();
  auto header = std::make_shared<Header>();
  if (header_mapping_.valid()) header->mapped = header_mapping_.get();
  if (header->mapped != nullptr) {
    header_ = std::move(header);
  } else if (cache_ != nullptr) {
    // Another process may be building it: this takes seconds, so one should do.
    const FileLock lock = cache_->lock(digest(std::vector<KeyPart>{{"header", header_path_}}),
                                       [&] { return MappedHeader::present(header_path_); });
    header->mapped = MappedHeader::open(header_path_);
    header_ = header->mapped != nullptr ? std::move(header) : build_header(phases);
  } else {
    header_ = build_header(phases);
  }
  phases.header_seconds += seconds_since(start);
}

std::shared_ptr<const KernelCompiler::Header> KernelCompiler::build_header(CompilePhases& phases) {
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
  auto header = std::make_shared<Header>();
  if (cache_ != nullptr && cache_->writable() && cache_->make_header_folder() &&
      publish_file(header_path_, output.bytes, cache_->file_mode()) &&
      publish_file(header_path_ + ".sum", MappedHeader::summary(output.bytes), cache_->file_mode())) {
    cache_->evict_headers();
  }
  // Not mapped back from the file: someone may have removed it already.
  header->own = std::move(output.bytes);
  return header;
}

CompilerOutput KernelCompiler::compile(const std::string& text, const std::string& file_name,
                                       bool want_listings, std::uint32_t injected_failure,
                                       CompilePhases& phases, bool want_dependencies) {
  CompilerInput input;
  input.want_dependencies = want_dependencies;
  input.source = text;
  input.file_name = file_name;
  input.want_listings = want_listings;
  input.injected_failure = injected_failure;
  std::shared_ptr<const Header> header;
  {
    const std::lock_guard guard(lock_);
    input.arguments = arguments_;
    for (std::string& argument : header_arguments(pack())) input.arguments.push_back(std::move(argument));
    // Whatever the suffix of a hand-written kernel is.
    input.arguments.insert(input.arguments.end(), {"-x", "c++"});
    input.header_path = header_path_;
    header = header_;
  }
  input.header = header->bytes();
  CompilerOutput output = run_compiler(*compiler_, input);
  if (header->whole()) return output;
  {
    const std::lock_guard guard(lock_);
    if (header_ == header) {
      const auto start = std::chrono::steady_clock::now();
      header_ = build_header(phases);
      phases.header_seconds += seconds_since(start);
    }
    header = header_;
  }
  input.header = header->bytes();
  return run_compiler(*compiler_, input);
}

}  // namespace trilith::jit
