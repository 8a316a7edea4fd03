// jit/cache/disk_cache.hpp -- compiled kernels that outlive the process.
//
// <folder>/v1/entries/<2 hex>/<62 hex>.entry  immutable, written whole or not at all
// <folder>/v1/headers/<key>.pch               precompiled headers, a few of them
// <folder>/v1/sources/<key>.cpp              of kernels that did not compile, or are debugged
// <folder>/v1/locks/<2 hex>.lock              256 files that nobody deletes, for the compile path alone
//
// There is no index: the folder is the truth, so there is nothing to repair. Thread-safe; any number of
// processes.
#pragma once

#include "jit/cache/directory.hpp"
#include "jit/cache/entry.hpp"
#include "jit/cache/file_lock.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trilith::jit {

enum class Lookup { hit, absent, corrupt, lacks_features };

struct LookupResult {
  Lookup outcome = Lookup::absent;
  CacheEntry entry;    ///< of a hit
  std::string detail;  ///< what is corrupt, or which features are missing
  std::uint64_t bytes = 0;
};

/// For `trilith cache`.
struct EntryFile {
  std::string path;
  std::string digest;
  std::uint64_t bytes = 0;
  double age_seconds = 0;  ///< since it was last used
};

class DiskCache {
 public:
  struct Options {
    std::uint64_t limit_bytes = std::uint64_t{1} << 30;  ///< of entries; headers are counted by number
    bool shared = false;
    std::vector<std::string> cpu_features;  ///< what entries may need, sorted
    std::chrono::milliseconds lock_wait{30000};
    /// Test hook: an entry just published by another process is not seen yet, as on a network file system.
    bool hide_after_publish = false;
  };

  /// `directory.path` must not be empty.
  DiskCache(const CacheDirectory& directory, Options options);

  /// A corrupt entry is deleted. Takes no lock.
  [[nodiscard]] LookupResult find(const std::string& digest) const;

  /// False (and `problem`) when it could not be written; then the folder is as before.
  bool publish(const std::string& digest, const CacheEntry& entry, std::string& problem,
               std::uint64_t& bytes);

  /// Deletes least recently used entries until the rest fits the limit. `in_use` protects what this process
  /// runs. Looks only when enough was published since it last did: a scan per entry would make a full cache
  /// slow.
  void evict(const std::function<bool(const std::string& digest)>& in_use);

  /// The lock of the compile path of one key.
  [[nodiscard]] FileLock lock(const std::string& digest, const std::function<bool()>& enough) const;

  [[nodiscard]] std::string header_path(const std::string& digest) const;
  [[nodiscard]] bool make_header_folder() const;
  /// Keeps the few most recently used precompiled headers.
  void evict_headers() const;

  [[nodiscard]] std::vector<EntryFile> list() const;
  /// Paths of the precompiled headers.
  [[nodiscard]] std::vector<std::string> headers() const;
  [[nodiscard]] std::string entry_path(const std::string& digest) const;
  /// Keeps the source of a kernel that did not compile or is debugged; `path` says where.
  bool keep_source(const std::string& digest, const std::string& text, std::string& path) const;
  [[nodiscard]] bool writable() const { return directory_.writable; }
  [[nodiscard]] const std::string& folder() const { return directory_.path; }
  [[nodiscard]] unsigned file_mode() const { return options_.shared ? 0644 : 0600; }

  /// The entry whose key is most like `key`, and the parts that differ ("flags: -O3 here, -O2 there").
  [[nodiscard]] std::string explain_miss(const std::vector<KeyPart>& key) const;

  /// Deletes every entry and precompiled header; returns how many files.
  std::size_t clear() const;

 private:
  bool make_folder(const std::string& path) const;

  CacheDirectory directory_;
  Options options_;
  std::string root_;
  std::atomic<std::uint64_t> published_since_scan_{~std::uint64_t{0}};  // the first publication looks
};

}  // namespace trilith::jit
