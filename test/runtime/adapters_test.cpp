// Views of other libraries' tensors: Eigen and DLPack. libtorch's adapter is tested where libtorch is installed.
#include "pl/adapters/dlpack.hpp"
#include "pl/adapters/eigen.hpp"
#include "support.hpp"

#include <array>

using support::contains;
using support::message_of;

namespace {

/// y = x * s + 1, natively: what is tested is the view.
auto scale = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Scalar<float> s) {
  (void)pl::store(pl::load(x) * s + 1.0f, y);
});
auto copy_any =
    pl::jit.incore([](pl::Tensor<> x, pl::Out<pl::Tensor<>> y) { (void)pl::store(pl::load(x), y); });

struct Packed {
  std::array<std::int64_t, 2> shape{2, 3};
  std::array<std::int64_t, 2> strides{3, 1};
  std::array<float, 8> data{0, 1, 2, 3, 4, 5, 6, 7};
  DLTensor tensor{};
  Packed() {
    tensor.data = data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape.data();
    tensor.strides = strides.data();
  }
};

}  // namespace

TEST_CASE("Eigen's matrices of both orders, vectors, maps and blocks are views of rank 2 and 1") {
  const support::Eager eager;
  Eigen::MatrixXf columns(3, 4);
  Eigen::Matrix<float, 3, 4, Eigen::RowMajor> rows;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) columns(i, j) = rows(i, j) = static_cast<float>(10 * i + j);
  Eigen::MatrixXf result = Eigen::MatrixXf::Zero(3, 4);
  scale(pl::tensor(columns), pl::tensor(result), 2.0f);
  CHECK(result(2, 3) == 47.0f);
  CHECK(result(0, 1) == 3.0f);
  scale(pl::tensor(rows), pl::tensor(columns), 1.0f);
  CHECK(columns(2, 1) == 22.0f);

  result.setZero();
  scale(pl::tensor(rows.block(1, 1, 2, 2)), pl::tensor(result.topRightCorner(2, 2)), 1.0f);
  CHECK(result(0, 2) == 12.0f);
  CHECK(result(1, 3) == 23.0f);
  CHECK(result(2, 3) == 0.0f);

  float memory[6] = {1, 2, 3, 4, 5, 6};
  Eigen::VectorXf vector(3);
  scale(pl::tensor(Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<2>>(memory, 3)), pl::tensor(vector),
        1.0f);
  CHECK(vector(2) == 6.0f);
  CHECK(pl::tensor(vector).rank() == 1);
  const Eigen::VectorXf constant = vector;
  CHECK(message_of<pl::UserError>([&] { scale(pl::tensor(vector), pl::tensor(constant), 1.0f); }) != "");
}

TEST_CASE("a DLPack tensor is a view, with its offset, its strides or none") {
  const support::Eager eager;
  Packed x, y;
  x.tensor.strides = nullptr;
  x.tensor.byte_offset = 2 * sizeof(float);
  y.shape = {2, 3};
  y.strides = {4, 1};
  scale(pl::from_dlpack<float>(&x.tensor), pl::from_dlpack<float>(&y.tensor), 1.0f);
  CHECK(y.data == std::array<float, 8>{3, 4, 5, 3, 6, 7, 8, 7});
  copy_any(pl::from_dlpack(&x.tensor), pl::from_dlpack(&y.tensor));
  CHECK(y.data == std::array<float, 8>{2, 3, 4, 3, 5, 6, 7, 7});
}

TEST_CASE("a DLPack tensor that cannot be used is refused at the caller's line, with the way out") {
  Packed x;
  x.tensor.dtype = {kDLInt, 32, 1};
  const unsigned line = __LINE__ + 1;
  const std::string other = message_of<pl::DtypeError>([&] { (void)pl::from_dlpack<float>(&x.tensor); });
  CHECK_MESSAGE(contains(other, "int32"), other);
  CHECK_MESSAGE(contains(other, "float"), other);
  CHECK_MESSAGE(contains(other, "adapters_test.cpp:" + std::to_string(line)), other);

  x.tensor.dtype = {kDLComplex, 64, 1};
  const std::string complex = message_of<pl::DtypeError>([&] { (void)pl::from_dlpack(&x.tensor); });
  CHECK_MESSAGE(contains(complex, "DLPack dtype code 5 of 64 bits and 1 lanes is no Trilith dtype"), complex);

  x = Packed();
  x.tensor.device = {kDLCUDA, 0};
  const std::string device = message_of<pl::UserError>([&] { (void)pl::from_dlpack(&x.tensor); });
  CHECK_MESSAGE(contains(device, "copy it to the CPU first"), device);
  CHECK_MESSAGE(contains(message_of<pl::UserError>([&] { (void)pl::from_dlpack(nullptr); }), "null pointer"),
                "");
  x = Packed();
  x.tensor.ndim = 9;
  std::array<std::int64_t, 9> nine{1, 1, 1, 1, 1, 1, 1, 1, 1};
  x.tensor.shape = nine.data();
  CHECK(message_of<pl::ShapeError>([&] { (void)pl::from_dlpack(&x.tensor); }) != "");
}
