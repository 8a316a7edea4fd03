// jit/tool/emit_command.cpp -- `trilith capture` and `trilith emit`: from a source file to IR, C++ or machine
// code.
#include "codegen/ascendc/cost.hpp"
#include "codegen/ascendc/emit.hpp"
#include "codegen/ascendc/memory_map.hpp"
#include "codegen/ascendc/package.hpp"
#include "codegen/error.hpp"
#include "codegen/json.hpp"
#include "codegen/passes/constant_extents.hpp"
#include "codegen/printer.hpp"
#include "codegen/specialise.hpp"
#include "codegen/xsimd/emit.hpp"
#include "jit/capture/frontend.hpp"
#include "jit/compiler/kernel_compiler.hpp"
#include "jit/file.hpp"
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
  std::string package;  ///< a folder; empty: none
  bool explain = false;
  std::string svg;  ///< of `map`
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

/// Kernels of the hardware have tiles of constant shapes.
void require_constant_extents(const codegen::Kernel& captured, const codegen::Signature& signature) {
  for (std::size_t i = 0; i < signature.arguments.size(); ++i)
    for (const std::int64_t extent : signature.arguments[i].extents)
      if (extent < 0)
        throw pl::UserError(
            "--arg " + captured.variables[static_cast<std::size_t>(captured.parameters[i].variable)].name +
            ": for the hardware every extent is a number, such as float[8,16]: its tiles have constant "
            "shapes");
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

struct SpecialisedKernel {
  codegen::Kernel kernel;
  codegen::Signature signature;
  std::string name;
};

/// FILE:KERNEL for the arguments of the command line. `constant_extents`: of `pl::dynamic`, too.
SpecialisedKernel specialised_kernel(const Options& options, const std::vector<std::string>& flags,
                                     bool constant_extents) {
  const std::size_t colon = options.source.rfind(':');
  if (colon == std::string::npos)
    throw pl::UserError("expected FILE:KERNEL, such as kernel.cpp:scale_by_rank, not \"" + options.source +
                        "\"");
  const std::string file = options.source.substr(0, colon);
  const auto kernels = capture_file(file, flags);
  codegen::Kernel captured = find_kernel(kernels, options.source.substr(colon + 1), file);
  if (constant_extents) captured = codegen::with_constant_extents(std::move(captured));
  codegen::Signature signature = signature_from_text(captured, options.arguments);
  signature.fast_math = options.fast_math;
  if (constant_extents) require_constant_extents(captured, signature);
  return {constant_extents ? codegen::specialise_to_constant_extents(captured, signature)
                           : codegen::specialise(captured, signature),
          signature, captured.name};
}

void write_file(const std::string& path, const std::string& text) {
  if (const std::string reason = jit::publish_with_folders(path, text); !reason.empty())
    throw pl::UserError(path + " cannot be written: " + reason +
                        "; name a file in a folder that may be written");
}

int run_emit(const Options& options, const std::vector<std::string>& flags) {
  const bool ascendc = options.target == "ascendc";
  if (!options.package.empty() && !ascendc)
    throw pl::UserError("--package is for the hardware: give it with --target ascendc, not with --target " +
                        options.target);
  if (options.explain && !ascendc)
    throw pl::UserError("--explain is for the hardware: give it with --target ascendc, not with --target " +
                        options.target);
  if (options.explain && !options.package.empty())
    throw pl::UserError("--explain and --package: give one of them");
  const auto [specialised, signature, name] = specialised_kernel(options, flags, ascendc);
  if (options.target == "ir") {
    write(codegen::to_text(specialised));
  } else if (options.target == "json") {
    write(codegen::to_json(specialised) + "\n");
  } else if (ascendc) {
    const codegen::ascendc::Emitted emitted = codegen::ascendc::emit(specialised, signature);
    if (options.explain) {
      write(codegen::ascendc::estimate_text(emitted));
    } else if (options.package.empty()) {
      write(emitted.text);
    } else {
      for (const auto& [path, text] :
           codegen::ascendc::package_files(codegen::ascendc::package_of(specialised, emitted)))
        write_file(options.package + "/" + path, text);
      write("written to " + options.package + "\n");
    }
  } else {
    const codegen::xsimd::Emitted emitted = codegen::xsimd::emit(specialised, signature);
    write(options.target == "xsimd" ? emitted.text : compiled(options, emitted, name));
  }
  return 0;
}

int run_map(const Options& options, const std::vector<std::string>& flags) {
  const auto [specialised, signature, name] = specialised_kernel(options, flags, true);
  const codegen::ascendc::Emitted emitted = codegen::ascendc::emit(specialised, signature);
  write(codegen::ascendc::memory_map_text(emitted));
  if (!options.svg.empty()) write_file(options.svg, codegen::ascendc::memory_map_svg(emitted));
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
      ->check(CLI::IsMember({"xsimd", "ascendc", "ir", "json", "object", "assembly", "llvm"}))
      ->capture_default_str();
  command->add_option("--arg", options->arguments, "An argument: x=float[8,8], rank=int32, k=int32:4")
      ->allow_extra_args(false);
  command->add_option("--target-cpu", options->target_cpu,
                      "For object, assembly and llvm: native, x86-64-v3 …");
  command->add_flag("--fast-math", options->fast_math, "Contraction across operations");
  command->add_flag("--explain", options->explain,
                    "With --target ascendc: instead of the text an estimate, cycles for each pipe of a core");
  command->add_option("--package", options->package,
                      "With --target ascendc: writes all that the hardware needs to run it into this folder");
  command->callback(
      [&action, &flags, options] { action = [&flags, options] { return run_emit(*options, flags); }; });
}

void add_map_command(CLI::App& app, const std::vector<std::string>& flags, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "map", "Where a kernel's buffers lie in the memories of an Ascend core: FILE:KERNEL -- compiler flags");
  command->add_option("FILE:KERNEL", options->source, "The source file and the kernel's name in it")
      ->required();
  command->add_option("--arg", options->arguments, "An argument: x=float[8,8], rank=int32, k=int32:4")
      ->allow_extra_args(false);
  command->add_option("--svg", options->svg, "Also writes a picture of it to this file");
  command->callback(
      [&action, &flags, options] { action = [&flags, options] { return run_map(*options, flags); }; });
}

}  // namespace trilith::tool
