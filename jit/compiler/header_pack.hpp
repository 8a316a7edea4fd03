// jit/compiler/header_pack.hpp -- the headers that emitted code is compiled with, carried by Trilith itself.
//
// A folder with a `manifest` and one sub-folder an include root. The manifest's first lines are
//
//   trilith-headers 1
//   content <hash of all that follows>
//   root <sub-folder>                 (in search order)
//   file <size> <hash> <path>         (one a header)
//
// so a cache key needs one small read, and the headers themselves are opened only to build a precompiled
// header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trilith::jit {

struct HeaderPack {
  std::string folder;
  std::string content;  ///< identifies every header of the pack
  std::vector<std::string> roots;
  std::string files;  ///< the manifest's lines of that kind: read apart only when a header is built

  void add_file(const std::string& path, std::string_view text);
};

/// Throws pl::InternalError that names the pack when its manifest is missing or damaged.
[[nodiscard]] HeaderPack read_header_pack(const std::string& folder);

/// Reads every header of the pack; throws pl::InternalError that names the first missing or changed one.
void verify_header_pack(const HeaderPack& pack);

/// The manifest of a pack, whose `content` is computed here.
[[nodiscard]] std::string header_pack_manifest(const HeaderPack& pack);

}  // namespace trilith::jit
