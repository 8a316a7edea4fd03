// jit/cache/directory.hpp -- which folder the disk cache is in, and whether it may be trusted.
#pragma once

#include <string>

namespace trilith::jit {

struct CacheDirectory {
  std::string path;     ///< empty: no disk cache
  std::string problem;  ///< why there is none; the caller reports it once
  bool writable = false;
};

/// `configured`, else TRILITH_CACHE_DIR, else $XDG_CACHE_HOME/trilith, else $HOME/.cache/trilith. Creates it
/// 0700 (0755 when `shared`). A folder that another user owns or may write to holds code we must not run:
/// that throws pl::ConfigError. A folder that cannot be made or written is no error: the result says why.
[[nodiscard]] CacheDirectory open_cache_directory(const std::string& configured, bool shared);

}  // namespace trilith::jit
