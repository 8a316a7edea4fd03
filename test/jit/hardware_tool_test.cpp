// test/jit/hardware_tool_test.cpp -- what `trilith` shows and writes of a kernel for the hardware: text, estimate, package,
// memory map.
#include "jit/tool.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace jit_test;

namespace {

/// A source with one kernel, and the arguments that it is shown for.
struct Source {
  TemporaryFolder folder;
  std::string file = folder / "kernel.cpp";
  std::string shapes = " --arg x=float[8,64] --arg y=float[8,64]";
  std::string flags = " -- -std=c++20 -I" TRILITH_SOURCE_DIR "/runtime -I" TRILITH_SOURCE_DIR;

  Source() {
    REQUIRE(jit::publish_file(
        file,
        "#include <pl/pl.hpp>\n"
        "auto twice = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {\n"
        "  y = pl::store(2.0f * pl::load(x), y);\n"
        "});\n"
        "auto wide = pl::jit.incore([](pl::Tensor<double> x, pl::Out<pl::Tensor<double>> y) {\n"
        "  y = pl::store(pl::load(x) + pl::load(x), y);\n"
        "});\n"));
  }
  [[nodiscard]] Ended run(const std::string& command, const std::string& kernel = "twice") const {
    return run_tool(command + " " + file + ":" + kernel + shapes + flags);
  }
};

}  // namespace

TEST_CASE("trilith emit --target ascendc shows the text, and refuses by name what the hardware has not") {
  Source source;
  const Ended emitted = source.run("emit --target ascendc");
  CHECK_MESSAGE(emitted.status == 0, emitted.output);
  CHECK(contains(emitted.output, "#include \"kernel_operator.h\""));
  CHECK(contains(emitted.output, "AscendC::Muls("));
  CHECK(contains(emitted.output, "kernel.cpp:3"));

  CHECK(contains(source.run("emit --target ascendc", "thrice").output,
                 "has no kernel \"thrice\"; it has: twice wide"));
  source.shapes = " --arg x=float[N,64] --arg y=float[N,64]";
  const Ended open = source.run("emit --target ascendc");
  CHECK(open.status == 1);
  CHECK(contains(open.output, "--arg x: for the hardware every extent is a number"));
  source.shapes = " --arg x=double[8,64] --arg y=double[8,64]";
  const Ended refused = source.run("emit --target ascendc", "wide");
  CHECK(refused.status == 1);
  CHECK(contains(refused.output, "kernel.cpp:6"));
  CHECK(contains(refused.output,
                 "load of double cannot be emitted: the vector unit of this class has no double"));
}

TEST_CASE("trilith emit --explain estimates how long each pipe is busy") {
  const Source source;
  const Ended explained = source.run("emit --target ascendc --explain");
  CHECK_MESSAGE(explained.status == 0, explained.output);
  CHECK(contains(explained.output, "a lower bound, not a measurement"));
  // 2 KiB in and out at 32 bytes a cycle; 512 floats are 8 repeats.
  CHECK(contains(explained.output, "AIV MTE2            64  32 bytes a cycle"));
  CHECK(contains(explained.output, "AIV V                8  256 bytes a cycle"));
  CHECK(contains(explained.output, "Bound by AIV MTE2: at least 64 cycles"));
  CHECK(!contains(explained.output, "kernel_operator.h"));

  CHECK(contains(source.run("emit --explain").output,
                 "--explain is for the hardware: give it with --target ascendc, not with --target xsimd"));
  CHECK(contains(source.run("emit --target ascendc --explain --package " + source.folder / "p").output,
                 "--explain and --package: give one of them"));
}

TEST_CASE("trilith emit --package writes a folder, and says where it cannot") {
  const Source source;
  const std::string package = source.folder / "some/package";
  const Ended written = source.run("emit --target ascendc --package " + package);
  CHECK_MESSAGE(written.status == 0, written.output);
  CHECK(contains(written.output, "written to " + package));
  for (const char* file : {"manifest.json", "README.md", "CMakeLists.txt", "host/main.cpp"})
    CHECK_MESSAGE(std::filesystem::exists(package + "/" + file), file);

  const Ended refused = source.run("emit --target ascendc --package /proc/none");
  CHECK(refused.status == 1);
  CHECK(contains(refused.output, "/proc/none"));
  CHECK(contains(refused.output, "cannot be written"));
  CHECK(contains(source.run("emit --package " + package).output,
                 "--package is for the hardware: give it with --target ascendc, not with --target xsimd"));
}

TEST_CASE("trilith map shows where buffers lie, as text and as a picture") {
  const Source source;
  const Ended text = source.run("map");
  CHECK_MESSAGE(text.status == 0, text.output);
  CHECK(contains(text.output, "trilith_twice"));
  CHECK(contains(text.output, "UB: "));
  CHECK(contains(text.output, "in0"));

  const std::string picture = source.folder / "pictures/map.svg";
  CHECK(source.run("map --svg " + picture).status == 0);
  std::string svg;
  REQUIRE(jit::read_file(picture, svg));
  CHECK(contains(svg, "<svg"));
  CHECK(contains(svg, "in0"));

  const Ended refused = source.run("map --svg /proc/none/map.svg");
  CHECK(refused.status == 1);
  CHECK(contains(refused.output, "/proc/none/map.svg cannot be written"));
  CHECK(contains(source.run("map", "thrice").output, "has no kernel \"thrice\""));
  CHECK(contains(run_tool("map " + source.file + source.flags).output, "expected FILE:KERNEL"));
}
