// The typing rule of products: what they give, and each refusal in its words; printed and written as JSON.
#include "codegen/json.hpp"
#include "codegen/printer.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

Kernel product(Op op, bool trans_a = false, bool trans_b = false, std::vector<DType> dtypes = {}) {
  KernelBuilder k("product");
  std::vector<Expr> operands;
  const auto arity = static_cast<std::size_t>(operation(op).arity);
  dtypes.resize(arity, DType::Float32);
  for (std::size_t i = 0; i < arity; ++i)
    operands.push_back(load(k.tensor("x" + std::to_string(i), Access::In, dtypes[i])));
  Attributes attributes;
  attributes.trans_a = trans_a;
  attributes.trans_b = trans_b;
  k.print(tile_call(op, std::move(operands), attributes));
  return k.take();
}

Signature of(const Shapes& shapes) {
  std::vector<ArgumentSignature> arguments;
  for (const auto& shape : shapes) arguments.push_back(floats(shape));
  return signature(arguments);
}

/// The message without the place in front of it.
std::string refusal(const Kernel& kernel, const Shapes& shapes) {
  const std::string message = message_of<pl::ShapeError>(kernel, of(shapes));
  const auto place = message.find(": ");
  return place == std::string::npos ? message : message.substr(place + 2);
}

}  // namespace

TEST_CASE("inner extents that differ are refused with what would fit") {
  CHECK(refusal(product(Op::Matmul), {{8, 4}, {3, 5}}) ==
        "matmul: the inner extents of a [8, 4] and b [3, 5] are 4 and 3 and must be equal; give a as many "
        "columns as "
        "b has rows");
  CHECK(refusal(product(Op::Matmul), {{8, 4}, {5, 4}}) ==
        "matmul: the inner extents of a [8, 4] and b [5, 4] are 4 and 5 and must be equal; b fits with "
        "{.trans_b = "
        "true}");
  CHECK(refusal(product(Op::Matmul), {{4, 8}, {4, 5}}) ==
        "matmul: the inner extents of a [4, 8] and b [4, 5] are 8 and 4 and must be equal; a fits with "
        "{.trans_a = "
        "true}");
  CHECK(refusal(product(Op::Matmul, false, true), {{8, 4}, {4, 5}}) ==
        "matmul: the inner extents of a [8, 4] and b [4, 5] transposed are 4 and 5 and must be equal; b fits "
        "with "
        "{.trans_b = false}");
}

TEST_CASE("ranks, accumulators and biases that do not fit are refused with what to do") {
  CHECK(refusal(product(Op::Matmul), {{2, 8, 4}, {4, 5}}) ==
        "matmul: the operands must be matrices (rank 2), not a [2, 8, 4] and b [4, 5]; leading batch axes "
        "are taken "
        "by pl::batch_matmul");
  CHECK(refusal(product(Op::Matmul), {{8, 4}, {4}}) ==
        "matmul: the operands must be matrices (rank 2), not a [8, 4] and b [4]; a matrix and a vector are "
        "multiplied "
        "with pl::gemv");
  CHECK(refusal(product(Op::BatchMatmul), {{4}, {4, 5}}) ==
        "batch_matmul: the operands must have rank 2 or more, not a [4] and b [4, 5]; the last two axes are "
        "the "
        "matrices");
  CHECK(refusal(product(Op::BatchMatmul), {{2, 8, 4}, {3, 4, 5}}) ==
        "batch_matmul: the batch axes of a [2, 8, 4] and b [3, 4, 5] do not broadcast; leading extents must "
        "be equal "
        "or 1");
  CHECK(refusal(product(Op::Gemv), {{8, 4}, {4, 5}}) ==
        "gemv: neither a [8, 4] nor b [4, 5] is a vector; multiply matrices with pl::matmul");
  CHECK(refusal(product(Op::Gemv), {{4}, {4}}) ==
        "gemv: the operands must be a matrix and a vector, not a [4] and b [4]; two vectors are multiplied "
        "with "
        "pl::dot");
  CHECK(refusal(product(Op::Dot), {{2, 4}, {4}}) ==
        "dot: the operands must be vectors (rank 1), not a [2, 4] and b [4]; multiply matrices with "
        "pl::matmul");
  CHECK(refusal(product(Op::MatmulAcc), {{8, 6}, {8, 4}, {4, 5}}) ==
        "matmul_acc: the accumulator is [8, 6] and must have the product's shape [8, 5]");
  CHECK(refusal(product(Op::MatmulBias), {{8, 4}, {4, 5}, {8}}) ==
        "matmul_bias: the bias is [8] and must be [N] or [1, N], where N = 5 is the product's number of "
        "columns");
}

TEST_CASE("dtypes of products: mixed ones, other ones and a start of another than the sums") {
  const Kernel mixed = product(Op::Matmul, false, false, {DType::Float32, DType::Float64});
  CHECK(
      message_of<pl::DtypeError>(mixed, signature({floats({8, 4}), tensor_argument(DType::Float64, {4, 5})}))
          .find("matmul: the operands are float and double, and dtypes are not mixed; convert one with "
                "pl::cast<float>(...)") != std::string::npos);
  const Kernel whole = product(Op::Matmul, false, false, {DType::Int32, DType::Int32});
  const std::string message = message_of<pl::DtypeError>(
      whole, signature({tensor_argument(DType::Int32, {8, 4}), tensor_argument(DType::Int32, {4, 5})}));
  CHECK(message.find("matmul: the tile is int32, and ") != std::string::npos);
  CHECK(message.find("float, double are taken; convert it with pl::cast<T>(...)") != std::string::npos);
  const Kernel start = product(Op::MatmulAcc, false, false, {DType::Float64});
  CHECK(message_of<pl::DtypeError>(
            start, signature({tensor_argument(DType::Float64, {8, 5}), floats({8, 4}), floats({4, 5})}))
            .find("matmul_acc: the accumulator is double, and products of float are summed in float; convert "
                  "it with "
                  "pl::cast<float>(...)") != std::string::npos);
}

TEST_CASE("products are printed with their attributes and survive JSON") {
  const Kernel kernel = product(Op::Matmul, true, true);
  CHECK(to_text(kernel).find("matmul(load x0, load x1, trans_a, trans_b)") != std::string::npos);
  const std::string json = to_json(kernel);
  CHECK(to_json(kernel_from_json(json)) == json);
  CHECK(kernel_from_json(json) == kernel);
  const Kernel specialised = specialise(kernel, of({{4, 8}, {5, 4}}));
  CHECK(to_text(specialised).find("[8, 5]") != std::string::npos);
}
