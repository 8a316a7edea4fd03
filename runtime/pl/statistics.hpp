// runtime/pl/statistics.hpp -- what was compiled, what was found in a cache, and how long it took.
//
//   const pl::Statistics s = pl::statistics();   // of this thread's context; a snapshot
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace pl {

/// Where the code of a specialisation came from when it was first needed.
enum class Origin : std::uint8_t { Compiled, Disk, Memory };

/// What became of a specialisation's extents, those of `pl::Tensor<T>`.
enum class Extents : std::uint8_t {
  Constant,              ///< within RunConfig.specialisation_budget: constants of the code
  RunTime,               ///< beyond it: run-time values, as far as the kernel allows
  ConstantBeyondBudget,  ///< beyond it, but the kernel needs them as constants (or has none)
};

struct SpecialisationStatistics {
  std::string kernel;     ///< the kernel's name
  std::string location;   ///< "file:line" of its definition
  std::string signature;  ///< "float[8, 8], out float[8, 8], int32"
  Origin origin = Origin::Compiled;
  double seconds = 0;  ///< from the call to the code being ready
  Extents extents = Extents::Constant;
};

struct Statistics {
  std::uint64_t memory_hits = 0;    ///< calls and compile requests answered from memory
  std::uint64_t disk_hits = 0;      ///< specialisations loaded from the disk cache
  std::uint64_t misses = 0;         ///< specialisations that no cache held
  std::uint64_t compiles = 0;       ///< compilations that succeeded
  std::uint64_t eager_calls = 0;    ///< kernel calls that ran the lambda natively
  std::uint64_t bytes_read = 0;     ///< from the disk cache
  std::uint64_t bytes_written = 0;  ///< to the disk cache
  double specialise_seconds = 0;
  double emit_seconds = 0;
  double compile_seconds = 0;
  double link_seconds = 0;
  std::vector<SpecialisationStatistics> specialisations;  ///< in the order they were first needed
};

[[nodiscard]] Statistics statistics();

}  // namespace pl
