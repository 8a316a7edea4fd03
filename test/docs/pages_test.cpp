// All Markdown pages: none has C++ that nothing builds, and no link leads nowhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pages() {
  std::vector<fs::path> result;
  const fs::path root = TRILITH_SOURCE_DIR;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator();
       ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name == "build" || name.starts_with(".")))
      entry.disable_recursion_pending();
    else if (entry->path().extension() == ".md")
      result.push_back(entry->path());
  }
  return result;
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("every page that has C++ is built by a test") {
  std::istringstream list(TRILITH_BUILT_PAGES);
  const std::set<std::string> built{std::istream_iterator<std::string>(list), {}};
  REQUIRE(built.size() >= 3);
  for (const fs::path& page : pages()) {
    const std::string name = fs::relative(page, TRILITH_SOURCE_DIR).string();
    CAPTURE(name);
    const bool has_code = read(page).find("\n```cpp") != std::string::npos;
    CHECK(has_code == built.contains(name));
  }
}

TEST_CASE("no link of a page leads nowhere") {
  int links = 0;
  for (const fs::path& page : pages()) {
    const std::string text = read(page);
    const std::regex link(R"(\]\(([^)\s:#]+)\))");
    for (auto found = std::sregex_iterator(text.begin(), text.end(), link); found != std::sregex_iterator();
         ++found) {
      const std::string target = (*found)[1];
      // A lambda's parameters look like a link: [](pl::Tensor… has a colon, [](auto has none.
      if (target == "..." || (target.find_first_of("./") == std::string::npos && target != "LICENSE"))
        continue;
      ++links;
      CAPTURE(page.string());
      CAPTURE(target);
      CHECK(fs::exists(page.parent_path() / target));
    }
  }
  CHECK(links > 10);
}
