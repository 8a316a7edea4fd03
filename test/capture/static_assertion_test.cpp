// What the headers refuse by static_assert: the words, and that each mistake mended is none.
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

using namespace capture_test;

TEST_CASE("every static assertion of the language says what is wrong, and the mended form compiles") {
  const Captured& wrong = captured("static_assertions.cpp", {"-ferror-limit=0"});
  CHECK(wrong.report.failed);
  std::string errors;
  for (const auto& diagnostic : wrong.report.diagnostics)
    if (diagnostic.severity == trilith::capture::Diagnostic::Severity::Error)
      errors += diagnostic.message + "\n";
  std::istringstream lines(read(source("static_assertions.cpp")));
  const std::string mark = "// asserted: ";
  int expected = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos || line.starts_with("//")) continue;
    ++expected;
    const std::string text = line.substr(at + mark.size());
    CAPTURE(text);
    CHECK(errors.find(text) != std::string::npos);
  }
  CHECK(expected >= 30);
  const Captured& mended = captured("static_assertions.cpp", {"-DMENDED"});
  CHECK_MESSAGE(!mended.report.failed, mended.report.text);
}
