// Each row of the operation table against each backend, the words of the page, and the headers' doc comments.
#include "codegen/operation_words.hpp"
#include "operations/example.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace operations_test;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Functions of the operation headers: name -> whether a doc comment stands above it.
std::map<std::string, bool> header_functions() {
  std::map<std::string, bool> result;
  const std::filesystem::path folder = std::filesystem::path(TRILITH_SOURCE_DIR) / "runtime/pl";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("ops") && file != "memory.hpp") continue;
    std::istringstream lines(read(entry.path()));
    bool documented = false, is_detail = false;
    const std::regex by_macro(R"(^PL_\w+\((\w+)[,)].*)");
    const std::regex function(
        R"(^(?:\[\[nodiscard\]\] )?(?:inline )?(?:auto|void|int|Y|Tile<[\w: ]+>|Scalar<T>|detail::ReadElement<T>|Sorted<T>|Out<[^(]*>|InOut<[^(]*>) (\w+)\(.*)");
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("namespace detail {")) is_detail = true;
      if (line.starts_with("}  // namespace detail")) is_detail = false;
      if (is_detail) continue;
      std::smatch match;
      if (line.starts_with("///")) {
        documented = true;
      } else if (std::regex_match(line, match, by_macro) || std::regex_match(line, match, function)) {
        result[match[1]] = result[match[1]] || documented;
      } else if (line.empty()) {
        documented = false;
      }
    }
  }
  return result;
}

std::string name_in(std::string_view call) { return std::string(call.substr(0, call.find_first_of("(<"))); }

}  // namespace

TEST_CASE("every operation has words for the page: how it is written, its shape rule, its meaning") {
  for (const Operation& row : operations()) {
    CAPTURE(row.name);
    if (!has_cells(row)) continue;
    REQUIRE(words(row.op) != nullptr);
    CHECK_FALSE(words(row.op)->call.empty());
    CHECK_FALSE(shape_rule(row.op).empty());
    CHECK_FALSE(meaning(row.op).empty());
    // The IR's way of naming operands is not for this page.
    CHECK(meaning(row.op).find("operand ") == std::string_view::npos);
    CHECK(meaning(row.op).find("attributes.") == std::string_view::npos);
  }
}

TEST_CASE("every operation has its cell in every backend, for every dtype it takes") {
  for (const Operation& row : operations()) {
    if (!has_cells(row)) continue;
    for (const DType dtype : dtypes_of(row)) {
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      CHECK(try_reference(row.op, dtype) == "");
      CHECK(try_interpreter(row.op, dtype) == "");
      CHECK(try_eager(row.op, dtype) == "");
      CHECK(try_xsimd(row.op, dtype) == "");
    }
  }
}

TEST_CASE("every operation is emitted as AscendC, or refused with a reason, for every dtype it takes") {
  for (const Operation& row : operations()) {
    if (!has_cells(row)) continue;
    for (const DType dtype : dtypes_of(row)) {
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      const AscendcCell cell = ascendc_cell(row.op, dtype);
      CHECK((cell.way == AscendcCell::Refused) == !cell.reason.empty());
    }
  }
  CHECK(ascendc_cell(Op::Add, DType::Float32).way == AscendcCell::Instruction);
  CHECK(ascendc_cell(Op::Matmul, DType::Float16).way == AscendcCell::Instruction);
  CHECK(ascendc_cell(Op::Add, DType::BFloat16).way == AscendcCell::Composed);
  CHECK(ascendc_cell(Op::Cumsum, DType::Float32).way == AscendcCell::Elements);
  CHECK(ascendc_cell(Op::Add, DType::Float64).way == AscendcCell::Refused);
}

TEST_CASE("a dtype that a row does not list is refused by the reference") {
  for (const Operation& row : operations()) {
    // Load and its like take every dtype; these have none.
    if (!has_cells(row) || row.group == Group::Identity || row.group == Group::Synchronise) continue;
    for (int i = 0; i < dtype_count; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (accepts(row.dtypes, dtype)) continue;
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      CHECK(try_reference(row.op, dtype) != "");
    }
  }
}

TEST_CASE("every operation has a documented C++ function, and every function of the headers is on the page") {
  const std::map<std::string, bool> functions = header_functions();
  std::set<std::string> on_page;
  for (const Operation& row : operations())
    if (has_cells(row)) on_page.insert(name_in(words(row.op)->call));
  for (const ComposedFunction& function : composed_functions()) on_page.insert(name_in(function.call));
  on_page.insert("sel");
  for (const std::string& name : on_page) {
    CAPTURE(name);
    REQUIRE(functions.contains(name));
    CHECK(functions.at(name));
  }
  for (const auto& [name, documented] : functions) {
    CAPTURE(name);
    CHECK(on_page.contains(name));
  }
}

TEST_CASE("the operation reference is the one that the table gives") {
  const std::string committed = read(std::filesystem::path(TRILITH_SOURCE_DIR) / "runtime/operations.md");
  CHECK_MESSAGE(committed == page(),
                "runtime/operations.md is not what the table gives: build the target operations_page");
}
