// jit/key.cpp -- BLAKE3, from LLVM: a PCH of 18 MB is hashed in a few milliseconds where SHA-256 takes a
// tenth of a second.
#include "jit/key.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

#include <algorithm>
#include <cstdint>

namespace trilith::jit {
namespace {

std::string hex(llvm::BLAKE3& hasher) {
  const auto bytes = hasher.final();
  return llvm::toHex(llvm::ArrayRef<std::uint8_t>(bytes.data(), bytes.size()), /*LowerCase=*/true);
}

}  // namespace

std::string digest(std::span<const KeyPart> parts) {
  std::vector<const KeyPart*> sorted;
  for (const KeyPart& part : parts) sorted.push_back(&part);
  std::sort(sorted.begin(), sorted.end(),
            [](const KeyPart* a, const KeyPart* b) { return a->name < b->name; });
  llvm::BLAKE3 hasher;
  for (const KeyPart* part : sorted) {
    for (const std::string* text : {&part->name, &part->value}) {
      // The length in front keeps ("ab", "c") and ("a", "bc") apart.
      hasher.update(std::to_string(text->size()) + ":");
      hasher.update(*text);
    }
  }
  return hex(hasher);
}

std::string content_hash(std::string_view bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(bytes.data(), bytes.size()));
  return hex(hasher);
}

}  // namespace trilith::jit
