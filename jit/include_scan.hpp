// jit/include_scan.hpp -- which files a hand-written kernel includes, found without a compiler.
//
// A kernel's key must cover every file that its code is made of, and a cache hit must not load Clang to learn their
// names. So the text is searched for `#include "…"`, in comments and branches that are not taken as well: a file too
// many only makes the key more careful. What this misses (an include through a macro), the engine refuses when it
// compiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trilith::jit {

struct ScannedInclude {
  std::string path;  ///< as Clang would spell it: the folder of the file that includes it, then the name
  std::string hash;  ///< of its content
};

/// Those that exist, in the order they are met, each once; what they include in turn is among them.
[[nodiscard]] std::vector<ScannedInclude> scan_includes(const std::string& path, std::string_view text);

}  // namespace trilith::jit
