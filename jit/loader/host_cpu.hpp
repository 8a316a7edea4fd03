// jit/loader/host_cpu.hpp -- which CPU code is compiled for, and whether this one can run it.
//
// "native" is this CPU's name for tuning with exactly the features it reports (a hypervisor may hide some
// that the name promises). A named target ("x86-64-v3") is that name's features and nothing else, so that
// machines above it share one key.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace trilith::jit {

struct TargetCpu {
  std::string triple;
  std::string name;                            ///< Clang's -target-cpu
  std::vector<std::string> compiler_features;  ///< Clang's -target-feature values, "+avx2" or "-sse4a"
  std::vector<std::string> required;           ///< features a CPU must have to run the code, sorted
  std::string identity;                        ///< all of the above that belongs into a cache key
};

/// The features of this machine, sorted.
[[nodiscard]] const std::vector<std::string>& host_features();

/// `target_cpu` empty or "native": this machine. Throws pl::ConfigError for an unknown name.
[[nodiscard]] TargetCpu resolve_target(const std::string& target_cpu);

/// The members of `required` that `available` (sorted) lacks.
[[nodiscard]] std::vector<std::string> missing_features(std::span<const std::string> required,
                                                        std::span<const std::string> available);

}  // namespace trilith::jit
