// jit/loader/host_cpu.cpp -- LLVM's CPU tables, asked once.
#include "jit/loader/host_cpu.hpp"

#include "codegen/error.hpp"

#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#if defined(__x86_64__)
#include "llvm/TargetParser/X86TargetParser.h"
#endif

#include <algorithm>

namespace trilith::jit {
namespace {

struct Host {
  std::string name;
  std::vector<std::string> features;           // those it has
  std::vector<std::string> compiler_features;  // those it has and lacks, signed
};

const Host& host() {
  // Leaked on purpose: kernels may be compiled from destructors of static objects.
  static const Host* const known = [] {
    auto* found = new Host;
    found->name = llvm::sys::getHostCPUName().str();
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      const std::string name = feature.first().str();
      found->compiler_features.push_back((feature.second ? "+" : "-") + name);
      if (feature.second) found->features.push_back(name);
    }
    std::sort(found->features.begin(), found->features.end());
    std::sort(found->compiler_features.begin(), found->compiler_features.end());
    return found;
  }();
  return *known;
}

/// The features that come with a CPU's name; false when LLVM does not know the name.
bool features_of(const std::string& name, std::vector<std::string>& features) {
#if defined(__x86_64__)
  if (llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None) return false;
  llvm::SmallVector<llvm::StringRef> implied;
  llvm::X86::getFeaturesForCPU(name, implied);
  for (const llvm::StringRef feature : implied) {
    // "64bit" is the mode and no CPU reports it; "x87" neither.
    if (feature != "64bit" && feature != "x87" && feature != "nopl") features.push_back(feature.str());
  }
  std::sort(features.begin(), features.end());
  return true;
#else
  (void)features;
  return name == host().name;
#endif
}

}  // namespace

const std::vector<std::string>& host_features() { return host().features; }

TargetCpu resolve_target(const std::string& target_cpu) {
  TargetCpu target;
  target.triple = llvm::sys::getProcessTriple();
  if (target_cpu.empty() || target_cpu == "native") {
    target.name = host().name;
    target.compiler_features = host().compiler_features;
    target.required = host().features;
    target.identity = target.triple + " " + target.name;
    for (const std::string& feature : target.compiler_features) target.identity += " " + feature;
    return target;
  }
  target.name = target_cpu;
  if (!features_of(target_cpu, target.required))
    throw pl::ConfigError(
        "target_cpu \"" + target_cpu +
        "\" is not a CPU that LLVM knows; expected \"native\", a level such as \"x86-64-v3\" or a "
        "CPU name such as \"skylake-avx512\"");
  target.identity = target.triple + " " + target.name;
  return target;
}

std::vector<std::string> missing_features(std::span<const std::string> required,
                                          std::span<const std::string> available) {
  std::vector<std::string> missing;
  std::set_difference(required.begin(), required.end(), available.begin(), available.end(),
                      std::back_inserter(missing));
  return missing;
}

}  // namespace trilith::jit
