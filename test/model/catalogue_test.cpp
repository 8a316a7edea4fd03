// The page of faults is true: every message that it lists stands in the sources.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string contents(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The literal parts of a message: what stands between the ellipses.
std::vector<std::string> parts(const std::string& message) {
  const std::string ellipsis = "…";
  std::vector<std::string> result;
  std::size_t begin = 0;
  while (begin <= message.size()) {
    const std::size_t end = std::min(message.find(ellipsis, begin), message.size());
    if (end - begin > 3) result.push_back(message.substr(begin, end - begin));
    begin = end + ellipsis.size();
  }
  return result;
}

}  // namespace

TEST_CASE("every message of the fault catalogue is one of the model's") {
  const std::filesystem::path model = std::filesystem::path(__FILE__).parent_path() / "../../runtime/model";
  std::string sources;
  for (const auto& entry : std::filesystem::directory_iterator(model))
    if (entry.path().extension() == ".cpp") sources += contents(entry.path());
  // A literal that the formatter has split is one, and a quote in it is a quote.
  sources = std::regex_replace(sources, std::regex("\"\\s*\\n\\s*\""), "");
  const std::string page = contents(model / "faults.md");
  REQUIRE(page.size() > 1000);
  const std::regex message("`([^`]+)`");
  std::istringstream lines(page);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    ++rows;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(cell.begin(), cell.end(), message), end; at != end; ++at)
      for (const std::string& part : parts((*at)[1])) {
        CAPTURE(part);
        CHECK(sources.find(part) != std::string::npos);
      }
  }
  CHECK(rows > 60);
}
