// A kernel is found, and its captured constants are read right, under g++ and under clang.
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace capture_test;

namespace {

std::vector<unsigned char> bytes_of(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

double field(const trilith::codegen::Kernel& kernel, const trilith::codegen::ClosureField& capture,
             const std::vector<unsigned char>& closure) {
  const auto read_as = [&](auto value) {
    std::memcpy(&value, closure.data() + capture.offset, sizeof value);
    return static_cast<double>(value);
  };
  switch (kernel.variables[static_cast<std::size_t>(capture.variable)].type.dtype) {
    case trilith::codegen::DType::Bool: return read_as(static_cast<unsigned char>(0));
    case trilith::codegen::DType::Int32: return read_as(0);
    case trilith::codegen::DType::UInt32: return read_as(0u);
    case trilith::codegen::DType::Int64: return read_as(std::int64_t{0});
    case trilith::codegen::DType::Float32: return read_as(0.0f);
    default: return read_as(0.0);
  }
}

/// Captures sources/identity.cpp, compiles it with the compiler and checks every kernel it reports.
void check_compiler(const std::string& compiler) {
  const Scratch scratch;
  const std::string file = source("identity.cpp");
  const Captured& kernels = captured("identity.cpp");
  INFO(kernels.report.text);
  REQUIRE_FALSE(kernels.report.failed);
  write(scratch.path / "capture.hpp", trilith::capture::header_text(file, kernels.kernels));
  std::string command = compiler + " -w -include " + (scratch.path / "capture.hpp").string();
  for (const std::string& flag : flags()) command += " " + flag;
  command += " " + file + " " + TRILITH_SOURCE_DIR + "/runtime/capture_lookup.cpp -o " +
             (scratch.path / "program").string();
  const Run built = run(command);
  INFO(built.output);
  REQUIRE(built.exit_code == 0);
  const Run ran = run((scratch.path / "program").string());
  REQUIRE(ran.exit_code == 0);
  // Lines: expected name, record index or "none", closure size, closure bytes in hex, expected values.
  std::istringstream lines(ran.output);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(compiler << ": " << line);
    std::istringstream words(line);
    std::string name, index, hex;
    std::size_t size = 0;
    words >> name >> index >> size >> hex;
    // Two kernels of one macro expansion in an ordinary function: clang's names tell nothing, so none is
    // chosen.
    if (compiler != "g++" && (name == "main_one" || name == "main_two")) {
      CHECK(index == "none");
      continue;
    }
    REQUIRE(index != "none");
    const auto& kernel = kernels.kernels.at(std::stoul(index)).kernel;
    CHECK(kernel.name == name);
    CHECK(kernel.closure_size == size);
    const std::vector<unsigned char> closure = bytes_of(hex);
    std::vector<double> values;
    for (double value = 0; words >> value;) values.push_back(value);
    REQUIRE(values.size() == kernel.captures.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(field(kernel, kernel.captures[i], closure) == values[i]);
  }
  CHECK(count == 26);
}

}  // namespace

TEST_CASE("every form of kernel is found with its captured values under g++") { check_compiler("g++"); }

TEST_CASE("every form of kernel is found with its captured values under clang") {
  for (const char* compiler : {"clang++-19", "clang++"})
    if (run(std::string("command -v ") + compiler).exit_code == 0) return check_compiler(compiler);
  MESSAGE("no clang++ on this machine");
}
