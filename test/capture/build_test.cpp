// trilith_capture() in a project of its own: what is captured, and what is captured again after which edit.
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

using namespace capture_test;

namespace {

constexpr const char* project = R"(cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
add_executable(trilith-capture IMPORTED)
set_target_properties(trilith-capture PROPERTIES IMPORTED_LOCATION "@TOOL@")
include(@ROOT@/jit/capture/trilith_capture.cmake)
add_library(language INTERFACE)
target_compile_features(language INTERFACE cxx_std_20)
target_include_directories(language INTERFACE @ROOT@ @ROOT@/runtime)
target_compile_options(language INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno> -fno-such-gcc-only-thing=1)
set(TILE 8 CACHE STRING "")
add_library(kernels STATIC kernels.cpp)
target_compile_definitions(kernels PRIVATE TILE=${TILE})
target_include_directories(kernels PRIVATE $<$<BOOL:1>:${CMAKE_CURRENT_SOURCE_DIR}>)
target_link_libraries(kernels PUBLIC language)
trilith_capture(kernels SOURCES kernels.cpp)
add_executable(program main.cpp @ROOT@/runtime/capture_lookup.cpp)
target_link_libraries(program PRIVATE kernels)
trilith_capture(program SOURCES main.cpp)
)";

constexpr const char* jit = R"(#pragma once
#include <pl/capture_record.hpp>
#include <pl/scalar.hpp>
#include <iostream>
namespace pl {
struct Jit {
  template <class F>
  int incore(F, std::source_location where = std::source_location::current(),
             const detail::CaptureUnit* unit = detail::current_capture_unit()) const {
    const detail::CaptureRecord& record = detail::find_capture(unit, where, typeid(F));
    std::cout << record.name << ' ' << record.json_size << ' ' << record.hash << std::endl;
    return 0;
  }
};
inline constexpr Jit jit;
}
)";

struct Project {
  Scratch scratch;
  std::string compiler;

  explicit Project(std::string with) : compiler(std::move(with)) {
    std::string text = project;
    for (const auto& [mark, value] : {std::pair<std::string, std::string>{"@TOOL@", TRILITH_CAPTURE_TOOL},
                                      {"@ROOT@", TRILITH_SOURCE_DIR}})
      for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
        text.replace(at, mark.size(), value);
    // g++ refuses flags it does not know, clang is the one that must not see g++'s.
    const std::string unknown = " -fno-such-gcc-only-thing=1";
    text.replace(text.find(unknown), unknown.size(), compiler == "g++" ? " -fno-tree-vrp -fipa-pta" : "");
    write(scratch.path / "CMakeLists.txt", text);
    write(scratch.path / "jit.hpp", jit);
    write(scratch.path / "size.hpp", "constexpr int size = 3;\n");
    write(scratch.path / "kernels.cpp",
          "#include \"jit.hpp\"\n#include \"size.hpp\"\nstatic auto in_library = "
          "pl::jit.incore([](pl::Scalar<int> n) {\n"
          "  int m = n;\n  for (int i = 0; i < TILE; ++i) m = m * size + TILE;\n});\n"
          "void use() { auto in_function = pl::jit.incore([](pl::Scalar<int>) {}); (void)in_function; }\n");
    write(scratch.path / "main.cpp",
          "#include \"jit.hpp\"\nvoid use();\nauto in_program = pl::jit.incore([](pl::Scalar<float>) "
          "{});\nint main() { use(); }\n");
  }
  Run configure(const std::string& more = "") const {
    return run("cmake -S " + scratch.path.string() + " -B " + (scratch.path / "build").string() +
               " -G Ninja -DCMAKE_CXX_COMPILER=" + compiler + " -DCMAKE_BUILD_TYPE=Debug " + more);
  }
  Run build() const { return run("cmake --build " + (scratch.path / "build").string() + " -v"); }
  Run program() const { return run((scratch.path / "build" / "program").string()); }
};

bool captures(const Run& build, const std::string& file) {
  return build.output.find("/" + file + ".trilith.hpp --depfile") != std::string::npos;
}

}  // namespace

TEST_CASE("only what an edit reaches is captured again") {
  Project user("g++");
  const Run configured = user.configure();
  INFO(configured.output);
  REQUIRE(configured.exit_code == 0);
  Run built = user.build();
  INFO(built.output);
  REQUIRE(built.exit_code == 0);
  CHECK(captures(built, "kernels.cpp"));
  CHECK(captures(built, "main.cpp"));
  const Run first = user.program();
  CHECK(first.output.find("in_library") != std::string::npos);
  CHECK(first.output.find("in_function") != std::string::npos);
  CHECK(first.output.find("in_program") != std::string::npos);

  built = user.build();
  CHECK_FALSE(captures(built, "kernels.cpp"));
  CHECK_FALSE(captures(built, "main.cpp"));

  SUBCASE("a header reaches the sources that include it, and the kernel changes") {
    write(user.scratch.path / "size.hpp", "constexpr int size = 4;\n");
    built = user.build();
    CHECK(captures(built, "kernels.cpp"));
    CHECK_FALSE(captures(built, "main.cpp"));
    CHECK(user.program().output != first.output);
  }
  SUBCASE("a definition on the command line reaches its target's sources, and the kernel changes") {
    REQUIRE(user.configure("-DTILE=16").exit_code == 0);
    built = user.build();
    CHECK(captures(built, "kernels.cpp"));
    CHECK_FALSE(captures(built, "main.cpp"));
    CHECK(user.program().output != first.output);
  }
  SUBCASE("a refused kernel stops the build at the user's line, and a mended one goes on") {
    const std::string good = read(user.scratch.path / "main.cpp");
    write(user.scratch.path / "main.cpp",
          "#include \"jit.hpp\"\nvoid use();\nauto in_program = pl::jit.incore([](pl::Scalar<float>) { goto "
          "end; end:; });\nint main() { use(); }\n");
    built = user.build();
    CHECK(built.exit_code != 0);
    CHECK(built.output.find("main.cpp:3:58: error: goto") != std::string::npos);
    write(user.scratch.path / "main.cpp", good);
    CHECK(user.build().exit_code == 0);
    CHECK(user.program().output == first.output);
  }
}

TEST_CASE("a project that clang compiles captures the same kernels") {
  for (const std::string compiler : {"clang++-19", "clang++"}) {
    if (run("command -v " + compiler).exit_code != 0) continue;
    Project user(compiler);
    REQUIRE(user.configure().exit_code == 0);
    const Run built = user.build();
    INFO(built.output);
    REQUIRE(built.exit_code == 0);
    CHECK(user.program().output.find("in_library") != std::string::npos);
    CHECK(user.program().output.find("in_function") != std::string::npos);
    return;
  }
  MESSAGE("no clang++ on this machine");
}
