// jit/key.hpp -- what identifies compiled code.
//
// A key is a set of named parts (kernel hash, signature, target, flags, versions …). Its digest names the
// cache entry; the parts are kept in the entry, so that a miss can say which of them differs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trilith::jit {

struct KeyPart {
  std::string name;
  std::string value;
  friend bool operator==(const KeyPart&, const KeyPart&) = default;
};

/// 64 hex digits; the order of the parts does not matter, everything else does.
[[nodiscard]] std::string digest(std::span<const KeyPart> parts);

/// 64 hex digits of the bytes alone.
[[nodiscard]] std::string content_hash(std::string_view bytes);

}  // namespace trilith::jit
