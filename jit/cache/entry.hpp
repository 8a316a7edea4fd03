// jit/cache/entry.hpp -- one cache entry as bytes.
//
//   magic (8) · format (4) · BLAKE3 of the body in hex (64) · body
//
// The body is a sequence of length-prefixed texts. Every byte of an entry is covered by the magic, the format
// number or the checksum, so any change is seen.
#pragma once

#include "jit/key.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trilith::jit {

struct CacheEntry {
  std::vector<KeyPart> key;
  std::vector<std::string> required_features;  ///< of the CPU, sorted
  std::string name;                            ///< the kernel and its specialisation, for people
  std::string symbol;
  std::string metadata;
  std::string object;
};

[[nodiscard]] std::string encode_entry(const CacheEntry& entry);

/// Nothing, and the reason ("wrong magic", "checksum"), when the bytes are not a whole entry of this format.
[[nodiscard]] std::optional<CacheEntry> decode_entry(std::string_view bytes, std::string& reason);

/// Part of every key: an entry of another format is never asked for.
inline constexpr unsigned cache_format = 1;

}  // namespace trilith::jit
