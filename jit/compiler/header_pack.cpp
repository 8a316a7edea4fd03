// jit/compiler/header_pack.cpp
#include "jit/compiler/header_pack.hpp"

#include "codegen/error.hpp"
#include "jit/file.hpp"
#include "jit/key.hpp"

#include <algorithm>
#include <string_view>

namespace trilith::jit {
namespace {

[[noreturn]] void damaged(const std::string& folder, const std::string& what) {
  throw pl::InternalError("Trilith's header pack " + folder + " " + what +
                          "; build or install Trilith again, or set TRILITH_HEADER_PACK to a whole pack "
                          "(TRILITH_EAGER=1 runs kernels without compiling them)");
}

std::string manifest_body(const HeaderPack& pack) {
  std::string body;
  for (const std::string& root : pack.roots) body += "root " + root + "\n";
  return body + pack.files;
}

/// Takes what is before the next `end` from `rest`.
std::string_view take(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return piece;
}

}  // namespace

void HeaderPack::add_file(const std::string& path, std::string_view text) {
  files += "file " + std::to_string(text.size()) + " " + content_hash(text) + " " + path + "\n";
}

HeaderPack read_header_pack(const std::string& folder) {
  std::string text;
  if (!read_file(folder + "/manifest", text)) damaged(folder, "is missing (no manifest)");
  HeaderPack pack;
  pack.folder = folder;
  std::string_view rest = text;
  if (take(rest, '\n') != "trilith-headers 1") damaged(folder, "has a manifest of another format");
  if (take(rest, ' ') != "content") damaged(folder, "has a damaged manifest");
  pack.content = take(rest, '\n');
  if (pack.content != content_hash(rest)) damaged(folder, "has a damaged manifest");
  while (rest.starts_with("root ")) {
    take(rest, ' ');
    pack.roots.emplace_back(take(rest, '\n'));
  }
  pack.files = std::move(text.erase(0, text.size() - rest.size()));
  return pack;
}

void verify_header_pack(const HeaderPack& pack) {
  std::string text;
  for (std::string_view rest = pack.files; !rest.empty();) {
    take(rest, ' ');
    const std::string size(take(rest, ' '));
    const std::string_view hash = take(rest, ' ');
    const std::string path(take(rest, '\n'));
    if (!read_file(pack.folder + "/" + path, text)) damaged(pack.folder, "lacks " + path);
    if (std::to_string(text.size()) != size || content_hash(text) != hash)
      damaged(pack.folder, "has a changed " + path);
  }
}

std::string header_pack_manifest(const HeaderPack& pack) {
  const std::string body = manifest_body(pack);
  return "trilith-headers 1\ncontent " + content_hash(body) + "\n" + body;
}

}  // namespace trilith::jit
