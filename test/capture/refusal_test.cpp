// What the front end refuses: by name, at the user's place, with the way to mend it; and it never crashes.
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

using namespace capture_test;

TEST_CASE("every kernel the language does not cover is refused where it stands, and says what is wrong") {
  const Captured& refused = captured("refused.cpp");
  REQUIRE(refused.report.failed);
  CHECK(refused.kernels.empty());
  std::istringstream lines(read(source("refused.cpp")));
  std::uint32_t number = 0;
  int expected = 0;
  const std::string mark = "// refused: ";
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t at = line.find(mark);
    if (at == std::string::npos || number < 4) continue;
    ++expected;
    const std::string text = line.substr(at + mark.size());
    std::string got;
    for (const auto& diagnostic : refused.report.diagnostics)
      if (diagnostic.severity == trilith::capture::Diagnostic::Severity::Error &&
          diagnostic.location.line == number)
        got += diagnostic.message + "\n";
    INFO("line " << number << ": " << line);
    INFO("got: " << got);
    CHECK(got.find(text) != std::string::npos);
  }
  CHECK(expected >= 30);
}

TEST_CASE("a refusal shows the source line with a caret and how to mend it") {
  const std::string& text = captured("refused.cpp").report.text;
  CHECK(text.find("refused.cpp:") != std::string::npos);
  CHECK(text.find("error: goto or a label in a kernel") != std::string::npos);
  CHECK(text.find("  goto end;") != std::string::npos);
  CHECK(text.find("^~~~") != std::string::npos);
  CHECK(text.find("note: to mend it: write a loop with break and continue") != std::string::npos);
}

/// What the tool says about this body of a kernel.
static std::string said_of(const std::string& body) {
  const Scratch scratch;
  const auto file = scratch.path / "body.cpp";
  write(file,
        "#include <pl/pl.hpp>\n#include <cmath>\n"
        "auto k = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, float f) {\n" +
            body + "\n});\n");
  std::string command = std::string(TRILITH_CAPTURE_TOOL) + " -o " + (scratch.path / "out.hpp").string() +
                        " " + file.string() + " --";
  for (const std::string& flag : flags()) command += " " + flag;
  const Run ran = run(command);
  CHECK(ran.exit_code != 0);
  return ran.output;
}

TEST_CASE("what a function of a system header may not do is refused where the user calls it") {
  const std::string text = said_of("y = pl::store(pl::load(x) * std::fmin(f, 3.0f), y);");
  INFO(text);
  CHECK(text.find("body.cpp:4:29: error: a call of '__builtin_fminf', whose body is not visible here (at ") !=
        std::string::npos);
  CHECK(text.find("in 'std::fmin', which is called here)") != std::string::npos);
}

TEST_CASE("a tile as a condition is refused with what to write instead") {
  for (const std::string body :
       {"auto t = pl::load(x); if (t > 0.f) t = -t; y = pl::store(t, y);",
        "auto t = pl::load(x); while (pl::row_max(t) > 1.f) t = t * 0.5f; y = pl::store(t, y);"}) {
    const std::string text = said_of(body);
    INFO(text);
    CHECK(text.find("body.cpp:4:") != std::string::npos);
    CHECK(text.find("to mend it: a condition is a scalar: reduce the tile") != std::string::npos);
    CHECK(text.find("pl::where(condition, a, b)") != std::string::npos);
  }
}

TEST_CASE("recursion is refused where the function calls itself") {
  const std::string& text = captured("refused.cpp").report.text;
  CHECK(text.find("recursion: 'recurse' calls itself") != std::string::npos);
  CHECK(text.find("recursion: 'even' calls itself") != std::string::npos);
}

TEST_CASE("broken and strange sources end in a diagnostic, never in a crash of the tool") {
  const Scratch scratch;
  const std::vector<std::string> snippets = {
      "auto k = pl::jit.incore([](Matrix x, Output y) { y = pl::store(pl::load(x), y) });",
      "auto k = pl::jit.incore([](Matrix x, Output y) { undeclared(x); });",
      "auto k = pl::jit.incore([](Matrix x, Output y { });",
      "auto k = pl::jit.incore(",
      "auto k = pl::jit.incore([n, n](Matrix x, Output y) {});",
      "auto k = pl::jit.incore(3);",
      "auto k = pl::jit.incore([n = 0](Matrix x, Output y) mutable { y = pl::store(pl::load(x) * ++n, y); "
      "});",
      "void f() { auto k = pl::jit.incore([m = [n = missing] { return n; }](Matrix x, Output y) {}); }",
      "auto k = pl::jit.incore([](Matrix x, Output y) { y = pl::store(pl::load(x) * pl::zeros<int>({8, 4}), "
      "y); });",
      "auto k = pl::jit.incore([](Matrix x, Matrix y) { pl::store(pl::load(x), y); });",
      "template <class T> struct S { static auto k() { return pl::jit.incore([](T x) { return x.nothing; }); "
      "} }; auto k = S<Matrix>::k();",
  };
  int number = 0;
  for (const std::string& snippet : snippets) {
    const auto file = scratch.path / ("snippet" + std::to_string(number++) + ".cpp");
    write(file,
          "#include <pl/pl.hpp>\nusing Matrix = pl::Tensor<float, 8, 4>;\nusing Output = pl::Out<Matrix>;\n" +
              snippet + "\n");
    std::string command = std::string(TRILITH_CAPTURE_TOOL) + " -o " + (scratch.path / "out.hpp").string() +
                          " " + file.string() + " --";
    for (const std::string& flag : flags()) command += " " + flag;
    const Run result = run(command);
    INFO(snippet << "\n" << result.output);
    CHECK(result.exit_code == 1);
    CHECK(result.output.find(file.string() + ":") != std::string::npos);
    CHECK(result.output.find("error: ") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(scratch.path / "out.hpp"));
  }
}
