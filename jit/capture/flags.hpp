// jit/capture/flags.hpp -- private: a target's compile flags as arguments for this clang.
#pragma once

#include <string>
#include <vector>

namespace trilith::capture {

/// g++ flags clang does not know, outputs, warnings and our own force-included headers are dropped.
[[nodiscard]] std::vector<std::string> clang_arguments(const std::string& source,
                                                       const std::vector<std::string>& flags);

/// The folder with clang's own headers (stddef.h, immintrin.h); empty when there is none.
[[nodiscard]] std::string resource_directory();

/// How the name of a header that trilith_capture force-includes ends.
inline constexpr const char* generated_suffix = ".trilith.hpp";

}  // namespace trilith::capture
