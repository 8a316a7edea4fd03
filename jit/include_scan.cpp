// jit/include_scan.cpp
#include "jit/include_scan.hpp"

#include "jit/file.hpp"
#include "jit/key.hpp"

#include <cstddef>
#include <filesystem>
#include <set>

namespace trilith::jit {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// The name between quotes of a line `# include "name"`, or `embed`, `import`, `include_next`; else empty.
std::string_view quoted_name(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_blanks(line.substr(1));
  bool includes = false;
  for (const std::string_view directive : {"include_next", "include", "import", "embed"})
    if (line.starts_with(directive)) {
      line = without_blanks(line.substr(directive.size()));
      includes = true;
      break;
    }
  if (!includes || !line.starts_with('"')) return {};
  const std::size_t end = line.find('"', 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(1, end - 1);
}

class Scan {
 public:
  std::vector<ScannedInclude> found;

  void read(const std::string& path, std::string_view text) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view name = quoted_name(text.substr(begin, end - begin));
      begin = end + 1;
      if (name.empty()) continue;
      const std::string included = (folder / name).string();
      std::string content;
      if (seen_.contains(included) || !read_file(included, content)) continue;
      seen_.insert(included);
      found.push_back({included, content_hash(content)});
      read(included, content);
    }
  }

 private:
  std::set<std::string> seen_;
};

}  // namespace

std::vector<ScannedInclude> scan_includes(const std::string& path, std::string_view text) {
  Scan scan;
  scan.read(path, text);
  return std::move(scan.found);
}

}  // namespace trilith::jit
