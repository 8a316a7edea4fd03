// jit/compiler/flags.cpp
#include "jit/compiler/flags.hpp"

namespace trilith::jit {

std::vector<std::string> language_arguments(const TargetCpu& target, const CompileOptions& options) {
  std::vector<std::string> arguments = {
      "-triple",
      target.triple,
      "-std=c++20",
      "-O3",
      "-fgnuc-version=4.2.1",
      "-target-cpu",
      target.name,
      // JITLink places an object's code and data side by side, anywhere; as a PIE it needs no GOT for its own
      // symbols.
      "-mrelocation-model",
      "pic",
      "-pic-level",
      "2",
      "-pic-is-pie",
      // No exceptions or RTTI (the -cc1 default for the first): a kernel has no run-time library to lean on.
      "-fno-rtti",
      "-fno-threadsafe-statics",
      // With C++20 modules on, Clang looks up each of its 3,400 built-in functions in the precompiled header
      // and reads those it finds there: 9,300 declarations for an empty kernel instead of 800.
      "-fno-cxx-modules",
      // bcmp is not among the functions a kernel object may refer to.
      "-fno-builtin-bcmp",
      // Emitted code is checked by its own tests; a user cannot act on a warning in it.
      "-w",
      // Our key already covers every header: Clang need not stat them, and an installed tree may be moved.
      "-fno-validate-pch",
      "-vectorize-loops",
      "-vectorize-slp",
  };
  // Decision 7: each operation is rounded once unless the user asked otherwise. -fmath-errno is off by the
  // -cc1 default; without reassociation Clang folds no pair of functions that would lose a NaN.
  // The transcendental functions of the device header switch contraction off where it would falsify error
  // terms.
  arguments.emplace_back(options.fast_math ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
  for (const std::string& feature : target.compiler_features) {
    arguments.emplace_back("-target-feature");
    arguments.push_back(feature);
  }
  if (options.debug) {
    for (const char* argument : {"-debug-info-kind=line-tables-only", "-dwarf-version=4",
                                 "-mframe-pointer=all", "-fdebug-compilation-dir=/trilith"})
      arguments.emplace_back(argument);
  }
  return arguments;
}

std::vector<std::string> header_arguments(const HeaderPack& pack) {
  std::vector<std::string> arguments = {"-nostdsysteminc", "-nobuiltininc"};
  for (const std::string& root : pack.roots) {
    arguments.emplace_back("-internal-isystem");
    arguments.push_back(pack.folder + "/" + root);
  }
  return arguments;
}

}  // namespace trilith::jit
