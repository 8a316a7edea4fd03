// Properties of the emitted text: what people read, and how much of it there is.
#include "codegen/specialise.hpp"
#include "codegen/xsimd/context.hpp"
#include "codegen/xsimd/emit.hpp"
#include "emitter/kernels.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

using namespace emitter_test;
using Pairs = std::vector<std::pair<int, int>>;

namespace {

ArgumentSignature tensor(std::vector<std::int64_t> extents, DType dtype = DType::Float32,
                         Layout layout = Layout::Dense) {
  ArgumentSignature argument;
  argument.is_tensor = true;
  argument.dtype = dtype;
  argument.extents = std::move(extents);
  argument.layout = layout;
  return argument;
}
ArgumentSignature scalar(DType dtype) {
  ArgumentSignature argument;
  argument.dtype = dtype;
  return argument;
}

xsimd::Emitted emit(const Kernel& kernel, std::vector<ArgumentSignature> arguments) {
  Signature signature;
  signature.arguments = std::move(arguments);
  signature.captures.resize(kernel.captures.size());
  return xsimd::emit(specialise(kernel, signature), signature);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("scale_by_rank at 8x8 is one flat loop of five lines") {
  const auto emitted = emit(scale_by_rank(), {tensor({8, 8}), tensor({8, 8}), scalar(DType::Int32)});
  CHECK(emitted.symbol == "trilith_scale_by_rank");
  CHECK(emitted.text == R"(// Kernel scale_by_rank, kernel.cpp:1. Emitted by Trilith for the CPU simulator.
#include "trilith/device.hpp"

namespace device = trilith::device;

extern "C" std::int32_t trilith_scale_by_rank(const pl::abi::Args* args, const pl::abi::Services* services) {
  const float* const x = static_cast<const float*>(args->tensors[0].data);
  float* const y = static_cast<float*>(args->tensors[1].data);
  const std::int32_t rank = device::scalar<std::int32_t>(args, 0);
  // kernel.cpp:2: tile = load x[0, 0 : 8, 8]
  // kernel.cpp:3: rank_f32 = cast<float>(rank)
  // kernel.cpp:4: scaled = tile * rank_f32
  // kernel.cpp:5: result = scaled + tile
  // kernel.cpp:6: store y[0, 0] = result
  const float rank_f32 = device::cast<float>(rank);
  {
    constexpr int W = device::lanes<float>;
    for (std::int64_t j = 0; j < 64; j += W) {
      const auto tile = device::load<float, W>(x + j);
      const auto scaled = device::mul(tile, device::splat<float, W>(rank_f32));
      const auto result = device::add(scaled, tile);
      device::store(y + j, result);
    }
  }
  return pl::abi::fault_none;
}
)");
}

TEST_CASE("row softmax is one nest of three passes with one row buffer") {
  const std::string text = emit(softmax(), {tensor({1024, 1024}), tensor({1024, 1024})}).text;
  CHECK(count(text, "for (std::int64_t i0") == 1);
  CHECK(count(text, "for (std::int64_t j") == 3);
  CHECK(count(text, "alignas(64) float") == 1);
  CHECK(count(text, "device::exp(") == 1);
  CHECK(count(text, "Scratch") == 0);
  CHECK(count(text, "load_partial") == 0);  // 1024 is a multiple of every vector width
}

TEST_CASE("an elementwise chain needs no buffer and only as much tail as its extents ask for") {
  const Kernel kernel = scale_by_rank();
  const auto text = [&](std::int64_t rows, std::int64_t columns) {
    return emit(kernel, {tensor({rows, columns}), tensor({rows, columns}), scalar(DType::Int32)}).text;
  };
  CHECK(count(text(64, 64), "load_partial") == 0);
  CHECK(count(text(5, 5), "load_partial") == 1);
  CHECK(count(text(1, 3), "device::load<") == 0);  // shorter than the shortest vector
  for (const auto& [rows, columns] : {std::pair{64, 64}, {5, 5}, {1, 3}, {37, 91}}) {
    CHECK(count(text(rows, columns), "alignas") == 0);
    CHECK(count(text(rows, columns), "for (std::int64_t i") == 0);
  }
}

TEST_CASE("layernorm keeps nothing but sums and reads its row three times") {
  const std::string text =
      emit(layernorm(), {tensor({64, 256}), tensor({1, 256}), tensor({1, 256}), tensor({64, 256})}).text;
  CHECK(count(text, "for (std::int64_t i0") == 1);
  CHECK(count(text, "for (std::int64_t j") == 3);
  CHECK(count(text, "alignas") == 0);
}

TEST_CASE("equal kernels give equal text, twenty times") {
  const auto arguments = {tensor({-1, 77}), tensor({-1, 77})};
  const std::string first = emit(softmax(), arguments).text, column = emit(column_softmax(), arguments).text;
  for (int i = 0; i < 20; ++i) {
    CHECK(emit(softmax(), arguments).text == first);
    CHECK(emit(column_softmax(), arguments).text == column);
  }
}

TEST_CASE("only an input read where the output is written later, element for element, may share its memory") {
  const auto shape = tensor({8, 8});
  CHECK(emit(scale_by_rank(), {shape, shape, scalar(DType::Int32)}).in_place == Pairs{{0, 1}});
  CHECK(emit(softmax(), {shape, shape}).in_place == Pairs{{0, 1}});
  CHECK(emit(layernorm(), {shape, tensor({1, 8}), tensor({1, 8}), shape}).in_place == Pairs{{0, 3}});
  SUBCASE("another region") {
    KernelBuilder k("shift");
    const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
    k.store(load(x, {0, 0}, {7, 8}), {1, 0}, y);
    CHECK(emit(k.take(), {shape, shape}).in_place.empty());
  }
  SUBCASE("read again by a later statement") {
    KernelBuilder k("twice");
    const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
    const Expr z = k.tensor("z", Access::Out, DType::Float32);
    k.store(load(x) + literal(1), {0, 0}, y);
    k.store(call(Op::ColSum, {load(x)}), {0, 0}, z);
    CHECK(emit(k.take(), {shape, shape, tensor({1, 8})}).in_place.empty());
  }
  SUBCASE("read behind the store, though one nest computes both") {
    KernelBuilder k("behind");
    const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
    const Expr z = k.tensor("z", Access::Out, DType::Float32);
    k.store(load(x) * literal(2), {0, 0}, y);
    k.store(load(x) + literal(1), {0, 0}, z);
    CHECK(emit(k.take(), {shape, shape, shape}).in_place == Pairs{{0, 2}});
  }
  SUBCASE("in a loop") {
    KernelBuilder k("loop");
    const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
    const Expr n = k.scalar("n", DType::Int64);
    k.for_("i", 0, n, 1, [&](const Expr&) { k.store(load(x) + literal(1), {0, 0}, y); });
    CHECK(emit(k.take(), {shape, shape, scalar(DType::Int64)}).in_place.empty());
  }
}

TEST_CASE("literals come back bit for bit") {
  const auto store_literal = [&](const Constant& value) {
    KernelBuilder k("fill");
    const Expr y = k.tensor("y", Access::Out, value.dtype);
    k.store(full(value.dtype, {64}, constant(value)), {0}, y);
    return emit(k.take(), {tensor({64}, value.dtype)}).text;
  };
  const auto has = [&](const Constant& value, const char* text) {
    CAPTURE(store_literal(value));
    CHECK(count(store_literal(value), std::string(", W>(") + text + ")") == 1);
  };
  has(Constant::of(0.5f), "0.5f");
  has(Constant::of(-0.0f), "-0.0f");
  has(Constant::of(0.1f), "0x1.99999ap-4f");
  has(Constant::of(-0.1), "-0x1.999999999999ap-4");
  has(Constant::of(std::numeric_limits<float>::denorm_min()), "0x0.000002p-126f");
  has(Constant::of(std::numeric_limits<float>::infinity()), "__builtin_bit_cast(float, 0x7f800000u)");
  has(Constant::of(std::bit_cast<float>(0xffc00001u)), "__builtin_bit_cast(float, 0xffc00001u)");
  has(Constant::of(std::numeric_limits<std::int32_t>::min()), "(-2147483647 - 1)");
  has(Constant::of(std::numeric_limits<std::int64_t>::min()), "(std::int64_t{-9223372036854775807} - 1)");
}

TEST_CASE("names that C++ or the emitted text uses itself are given another") {
  KernelBuilder k("operator");
  const Expr x = k.tensor("class", Access::In, DType::Float32),
             y = k.tensor("device", Access::Out, DType::Float32);
  const Expr t = k.let("W", load(x));
  const Expr u = k.let("W", t + t);
  k.store(u, {0}, y);
  const std::string text = emit(k.take(), {tensor({64}), tensor({64})}).text;
  CHECK(count(text, "class_2") > 0);
  CHECK(count(text, "device_2") > 0);
  CHECK(count(text, "auto W =") == 0);
}

TEST_CASE("a length called length is not taken for the emitted text's own") {
  // paged_gather's call has a local of that name: it would be initialised with itself.
  KernelBuilder k("paged");
  const Expr pages = k.tensor("pages", Access::In, DType::Float32),
             table = k.tensor("table", Access::In, DType::Int32),
             y = k.tensor("y", Access::Out, DType::Float32);
  const Expr length = k.scalar("length", DType::Int64);
  const Expr rows = k.let("rows", tile_call(Op::PagedGather, {pages, list({}), list({}), load(table), length,
                                                              integer(4), integer(0)}));
  k.store(rows, {}, y);
  const Kernel kernel = k.take();
  const std::string text =
      emit(kernel, {tensor({3, 2, 8}), tensor({2}, DType::Int32), tensor({4, 8}), {false, DType::Int64}})
          .text;
  CHECK(count(text, "length = length;") == 0);
  CHECK(count(text, "length = length_2;") == 1);
}

TEST_CASE("only a kernel of half includes its header, and its sums are kept in float") {
  const auto half =
      emit(softmax(DType::Float16), {tensor({4, 64}, DType::Float16), tensor({4, 64}, DType::Float16)});
  CHECK(count(half.text, "#include \"trilith/half.hpp\"\n") == 1);
  CHECK(half.text.find("const auto total_start = device::splat<float, W>(0.0f);") != std::string::npos);
  CHECK(half.text.find("const pl::half total = device::cast<pl::half>(device::reduce_add(") !=
        std::string::npos);
  CHECK(count(emit(softmax(), {tensor({4, 64}), tensor({4, 64})}).text, "half") == 0);
}

TEST_CASE("literals of every dtype are what they say") {
  const auto text = [](DType dtype, std::uint64_t bits) { return xsimd::literal(Constant{dtype, bits}); };
  CHECK(text(DType::Int8, ~std::uint64_t{127}) == "std::int8_t{-128}");
  CHECK(text(DType::UInt8, 255) == "std::uint8_t{255}");
  CHECK(text(DType::Int16, ~std::uint64_t{0}) == "std::int16_t{-1}");
  CHECK(text(DType::UInt32, 4294967295) == "std::uint32_t{4294967295}");
  CHECK(text(DType::UInt64, ~std::uint64_t{0}) == "std::uint64_t{18446744073709551615u}");
  CHECK(text(DType::Float16, 0x3e00) == "pl::half(1.5f)");
  CHECK(text(DType::BFloat16, 0xff80) == "pl::bfloat16(__builtin_bit_cast(float, 0xff800000u))");
}
