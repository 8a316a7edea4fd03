// jit/tool/emit_command.cpp -- `trilith capture` and `trilith emit`: from a source file to IR, C++ or machine
// code.
#include "codegen/error.hpp"
#include "codegen/json.hpp"
#include "codegen/printer.hpp"
#include "codegen/specialise.hpp"
#include "codegen/xsimd/emit.hpp"
#include "jit/capture/frontend.hpp"
#include "jit/compiler/kernel_compiler.hpp"
#include "jit/fork_gate.hpp"
#include "jit/tool/argument_text.hpp"
#include "jit/tool/commands.hpp"

#include <cstdio>
#include <memory>
#include <optional>

namespace trilith::tool {
namespace {

struct Options {
  std::string source;  ///< FILE, or FILE:KERNEL
  std::string target = "xsimd";
  std::string target_cpu;
  bool fast_math = false;
  std::vector<std::string> arguments;
};

std::vector<capture::CapturedKernel> capture_file(const std::string& file,
                                                  const std::vector<std::string>& flags) {
  capture::Report report;
  auto kernels = capture::capture(file, flags, report);
  std::fputs(report.text.c_str(), stderr);
  if (report.failed) throw pl::CaptureError("the kernels of " + file + " cannot be captured");
  return kernels;
}

void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int run_capture(const Options& options, const std::vector<std::string>& flags) {
  for (const capture::CapturedKernel& kernel : capture_file(options.source, flags))
    write(codegen::to_text(kernel.kernel) + "\n");
  return 0;
}

const codegen::Kernel& find_kernel(const std::vector<capture::CapturedKernel>& kernels,
                                   const std::string& name, const std::string& file) {
  const codegen::Kernel* found = nullptr;
  std::string names;
  for (const capture::CapturedKernel& kernel : kernels) {
    names += " " + kernel.kernel.name;
    // Of several instances of one template the first that fits the name is as good as any.
    if (found == nullptr && kernel.kernel.name == name) found = &kernel.kernel;
  }
  if (found != nullptr) return *found;
  throw pl::UserError(file + " has no kernel \"" + name + "\"; it has:" + (names.empty() ? " none" : names));
}

/// Object, assembly or LLVM IR of emitted text.
std::string compiled(const Options& options, const codegen::xsimd::Emitted& emitted,
                     const std::string& name) {
  std::optional<jit::DiskCache> cache;
  const jit::CacheDirectory directory = jit::open_cache_directory({}, false);
  if (!directory.path.empty()) cache.emplace(directory, jit::DiskCache::Options{});
  jit::KernelCompiler compiler(jit::resolve_target(options.target_cpu),
                               jit::CompileOptions{.fast_math = options.fast_math},
                               cache ? &*cache : nullptr);
  const jit::CompilingHere here;
  jit::CompilePhases phases;
  std::string reason;
  if (!compiler.prepare(phases, reason)) throw pl::ConfigError(reason);
  const bool listings = options.target != "object";
  jit::CompilerOutput output =
      compiler.compile(emitted.text, "/trilith/" + name + ".cpp", listings, 0, phases);
  if (output.status != trilith_compiler_ok)
    throw pl::InternalError("the code emitted for " + name + " does not compile: " + output.first_error);
  if (options.target == "assembly") return output.assembly;
  return options.target == "llvm" ? output.ir : output.bytes;
}

int run_emit(const Options& options, const std::vector<std::string>& flags) {
  const std::size_t colon = options.source.rfind(':');
  if (colon == std::string::npos)
    throw pl::UserError("expected FILE:KERNEL, such as kernel.cpp:scale_by_rank, not \"" + options.source +
                        "\"");
  const std::string file = options.source.substr(0, colon);
  const auto kernels = capture_file(file, flags);
  const codegen::Kernel& captured = find_kernel(kernels, options.source.substr(colon + 1), file);
  codegen::Signature signature = signature_from_text(captured, options.arguments);
  signature.fast_math = options.fast_math;
  const codegen::Kernel specialised = codegen::specialise(captured, signature);
  if (options.target == "ir") {
    write(codegen::to_text(specialised));
  } else if (options.target == "json") {
    write(codegen::to_json(specialised) + "\n");
  } else {
    const codegen::xsimd::Emitted emitted = codegen::xsimd::emit(specialised, signature);
    write(options.target == "xsimd" ? emitted.text : compiled(options, emitted, captured.name));
  }
  return 0;
}

}  // namespace

void add_capture_command(CLI::App& app, const std::vector<std::string>& flags, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("capture", "Shows the kernels of a source file as IR: FILE -- compiler flags");
  command->add_option("FILE", options->source, "The source file")->required();
  command->callback(
      [&action, &flags, options] { action = [&flags, options] { return run_capture(*options, flags); }; });
}

void add_emit_command(CLI::App& app, const std::vector<std::string>& flags, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("emit", "Shows what is emitted for a kernel: FILE:KERNEL -- compiler flags");
  command->add_option("FILE:KERNEL", options->source, "The source file and the kernel's name in it")
      ->required();
  command->add_option("--target", options->target, "What to show")
      ->check(CLI::IsMember({"xsimd", "ir", "json", "object", "assembly", "llvm"}))
      ->capture_default_str();
  command->add_option("--arg", options->arguments, "An argument: x=float[8,8], rank=int32, k=int32:4")
      ->allow_extra_args(false);
  command->add_option("--target-cpu", options->target_cpu,
                      "For object, assembly and llvm: native, x86-64-v3 …");
  command->add_flag("--fast-math", options->fast_math, "Contraction across operations");
  command->callback(
      [&action, &flags, options] { action = [&flags, options] { return run_emit(*options, flags); }; });
}

}  // namespace trilith::tool
