// Emitted texts that people have read, with their memory maps, kept in golden/ and compared to the byte. A change of the
// emitter shows as a diff there: TRILITH_REWRITE_GOLDEN=1 writes them anew.
#include "ascendc/kernels.hpp"
#include "codegen/ascendc/memory_map.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace ascendc_test;

namespace {

void compare_file(const std::string& name, const std::string& text) {
  const std::string path = std::string(TRILITH_SOURCE_DIR) + "/test/ascendc/golden/" + name;
  if (std::getenv("TRILITH_REWRITE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  std::stringstream kept;
  kept << file.rdbuf();
  INFO(name);
  CHECK(text == kept.str());
}

void compare(const std::string& name, const ascendc::Emitted& emitted) {
  compare_file(name + ".txt", emitted.text);
  compare_file(name + ".map.txt", ascendc::memory_map_text(emitted));
}

constexpr DType f32 = DType::Float32, f16 = DType::Float16;

}  // namespace

TEST_CASE("a kernel whose tensors fit is one round: in, compute, out") {
  compare("scale_by_rank", emit(scale_by_rank(), {{f32, {8, 8}}, {f32, {8, 8}}, scalar(DType::Int32)}));
}

TEST_CASE("a row operation is emitted as blocks of rows, spread over cores") {
  compare("softmax", emit(softmax(), {{f32, {1000, 100}}, {f32, {1000, 100}}}));
  compare("softmax_of_long_rows", emit(softmax(), {{f32, {4, 100000}}, {f32, {4, 100000}}}));
  compare("layernorm",
          emit(layernorm(), {{f32, {64, 512}}, {f32, {1, 512}}, {f32, {1, 512}}, {f32, {64, 512}}}));
}

TEST_CASE("rows of a length that only the run knows have the pitch of the longest") {
  compare("softmax_of_length",
          emit(softmax_of_length(500, 100), {{f32, {500, 100}}, {f32, {500, 100}}, scalar(DType::Int64)}));
}

TEST_CASE("a column operation keeps its totals in the unified buffer") {
  compare("column_softmax",
          emit(column_softmax(DType::Float16), {{DType::Float16, {300, 70}}, {DType::Float16, {300, 70}}}));
}

TEST_CASE("short dtypes are computed wide and moved short") {
  compare("add_of_bfloat16",
          emit(elementwise(Op::Add, DType::BFloat16, 2, DType::BFloat16),
               {{DType::BFloat16, {9, 7}}, {DType::BFloat16, {9, 7}}, {DType::BFloat16, {9, 7}}}));
  compare("where", emit(elementwise(Op::Where, f32, 3, f32),
                        {{DType::Bool, {33, 65}}, {f32, {33, 65}}, {f32, {33, 65}}, {f32, {33, 65}}}));
}

TEST_CASE("products run on the cube core, and what follows them beside it") {
  compare("matmul", emit(matmul(), {{f16, {200, 300}}, {f16, {300, 500}}, {f32, {200, 500}}}));
  compare("matmul_bias",
          emit(matmul_bias(), {{f16, {64, 128}}, {f16, {128, 256}}, {f32, {1, 256}}, {f32, {64, 256}}}));
  compare("flash_attention",
          emit(flash_attention(64, 1024, 64, 128),
               {{f16, {64, 128}}, {f16, {1024, 128}}, {f16, {1024, 128}}, {f32, {64, 128}}}));
}

TEST_CASE("integers are folded by halves, and floats of every size by rows") {
  compare("row_sum_of_int32",
          emit(reduction(Op::RowSum, DType::Int32), {{DType::Int32, {40, 100}}, {DType::Int32, {40, 1}}}));
  compare("row_max_of_half", emit(reduction(Op::RowMax, f16), {{f16, {40, 100}}, {f16, {40, 1}}}));
}

TEST_CASE("elements by number are moved by functions in front of the kernel") {
  compare("embedding", emit(embedding(), {{f32, {1000, 64}}, {DType::Int32, {32}}, {f32, {32, 64}}}));
  compare("argmax", emit(argmax(), {{f32, {16, 1000}}, {DType::Int32, {16, 1}}}));
}

TEST_CASE("angles are reduced by pieces, and exactly in a branch of its own") {
  compare("sine", emit(elementwise(Op::Sin, f32, 1, f32), {{f32, {8, 64}}, {f32, {8, 64}}}));
}

TEST_CASE("equal kernels give equal texts, and every line knows its place") {
  const auto once = emit(softmax(), {{f32, {37, 41}}, {f32, {37, 41}}});
  const auto again = emit(softmax(), {{f32, {37, 41}}, {f32, {37, 41}}});
  CHECK(once.text == again.text);
  CHECK(static_cast<std::ptrdiff_t>(once.lines.size()) ==
        std::count(once.text.begin(), once.text.end(), '\n'));
  std::istringstream text(once.text);
  std::string line;
  for (std::size_t i = 0; std::getline(text, line); ++i)
    if (line.find("Exp(") != std::string::npos) CHECK(once.lines[i].line == 4);
}
