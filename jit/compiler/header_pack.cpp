// jit/compiler/header_pack.cpp
#include "jit/compiler/header_pack.hpp"

#include "codegen/error.hpp"
#include "jit/file.hpp"
#include "jit/key.hpp"

#include <algorithm>
#include <charconv>
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
  for (const HeaderPack::File& file : pack.files)
    body += "file " + std::to_string(file.size) + " " + file.hash + " " + file.path + "\n";
  return body;
}

}  // namespace

HeaderPack read_header_pack(const std::string& folder) {
  std::string text;
  if (!read_file(folder + "/manifest", text)) damaged(folder, "is missing (no manifest)");
  HeaderPack pack;
  pack.folder = folder;
  // Read by every process, also by one that only looks into the cache: no stream a line.
  std::string_view rest = text;
  const auto take = [&rest](char end) {
    const std::size_t at = std::min(rest.find(end), rest.size());
    const std::string_view piece = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return piece;
  };
  if (take('\n') != "trilith-headers 1") damaged(folder, "has a manifest of another format");
  while (!rest.empty()) {
    const std::string_view kind = take(' ');
    if (kind == "file") {
      HeaderPack::File& file = pack.files.emplace_back();
      const std::string_view size = take(' ');
      std::from_chars(size.data(), size.data() + size.size(), file.size);
      file.hash = take(' ');
      file.path = take('\n');
    } else if (kind == "root") {
      pack.roots.emplace_back(take('\n'));
    } else if (kind == "content") {
      pack.content = take('\n');
    } else {
      damaged(folder, "has a damaged manifest");
    }
  }
  if (pack.content != content_hash(manifest_body(pack))) damaged(folder, "has a damaged manifest");
  return pack;
}

void verify_header_pack(const HeaderPack& pack) {
  std::string text;
  for (const HeaderPack::File& file : pack.files) {
    if (!read_file(pack.folder + "/" + file.path, text)) damaged(pack.folder, "lacks " + file.path);
    if (text.size() != file.size || content_hash(text) != file.hash)
      damaged(pack.folder, "has a changed " + file.path);
  }
}

std::string header_pack_manifest(const HeaderPack& pack) {
  const std::string body = manifest_body(pack);
  return "trilith-headers 1\ncontent " + content_hash(body) + "\n" + body;
}

}  // namespace trilith::jit
