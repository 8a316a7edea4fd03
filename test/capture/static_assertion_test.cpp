// What the headers refuse by static_assert: the words, and that each mistake mended is none.
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace capture_test;

namespace {

/// Each error of a compiler's report with its notes.
std::vector<std::string> errors_of(const std::string& report) {
  std::vector<std::string> errors;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" error: ") != std::string::npos) errors.emplace_back();
    if (!errors.empty()) errors.back() += line + "\n";
  }
  return errors;
}

}  // namespace

TEST_CASE(
    "every static assertion of the language says what is wrong and where, and the mended form compiles") {
  const Captured& wrong = captured("static_assertions.cpp", {"-ferror-limit=0"});
  CHECK(wrong.report.failed);
  const std::vector<std::string> errors = errors_of(wrong.report.text);
  std::istringstream lines(read(source("static_assertions.cpp")));
  const std::string mark = "// asserted: ";
  int expected = 0, number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t at = line.find(mark);
    if (at == std::string::npos || line.starts_with("//")) continue;
    ++expected;
    const std::string text = line.substr(at + mark.size());
    CAPTURE(text);
    // Also where the assertion stands in a header, whose own line helps nobody.
    const std::string place = "static_assertions.cpp:" + std::to_string(number) + ":";
    CHECK(std::any_of(errors.begin(), errors.end(), [&](const std::string& error) {
      return error.find(text) != std::string::npos && error.find(place) != std::string::npos;
    }));
  }
  CHECK(expected >= 30);
  const Captured& mended = captured("static_assertions.cpp", {"-DMENDED"});
  CHECK_MESSAGE(!mended.report.failed, mended.report.text);
}
