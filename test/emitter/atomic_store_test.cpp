// Stores that add: the reference's numbers in one thread, the right sum from many.
#include "emitter/compare.hpp"

#include <thread>

using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

/// y += x * 2, and y's columns 0 += the row sums.
Kernel adds(DType dtype) {
  KernelBuilder k("adds");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::InOut, dtype);
  const Expr t = k.let("t", load(x));
  k.store(t + t, {0, 0}, y, Atomic::Add);
  k.store(call(Op::RowMax, {t}), {0, 0}, y, Atomic::Add);
  return k.take();
}

}  // namespace

TEST_CASE("a store that adds agrees with the reference on every dtype, width and layout") {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t columns : {1, 7, 16, 17, 67}) {
      if (dtype == DType::Bool) continue;
      CAPTURE(name_of(dtype));
      CAPTURE(columns);
      const TensorSpec shape{{3, columns}, dtype};
      compare_everywhere(adds(dtype), {shape, shape});
      compare(adds(dtype), {shape, TensorSpec{{3, columns}, dtype, Layout::Strided, {2 * columns, 2}}});
    }
}

TEST_CASE("a product is added to its tensor, too, and does not take the tensor's place") {
  KernelBuilder k("adds_product");
  const Expr a = k.tensor("a", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::InOut, DType::Float32);
  k.store(k.let("product", tile_call(Op::Matmul, {load(a), load(b)})), {0, 0}, y, Atomic::Add);
  const Kernel kernel = k.take();
  for (const std::int64_t columns : {1, 16, 19})
    compare(kernel, {TensorSpec{{5, 7}}, TensorSpec{{7, columns}}, TensorSpec{{5, columns}}},
            {.special_values = false, .tolerance = 1e-4});
}

TEST_CASE("a store that adds reads its tensor: it is never done in place of an input") {
  const Kernel kernel = adds(DType::Float32);
  const TensorSpec shape{{3, 8}};
  const Signature signature = signature_of(kernel, {shape, shape});
  CHECK(xsimd::emit(specialise(kernel, signature), signature).in_place.empty());
}

TEST_CASE("threads that add to one tensor lose nothing") {
  for (const DType dtype : {DType::Int32, DType::Float32, DType::Float64}) {
    KernelBuilder k("one");
    const Expr y = k.tensor("y", Access::InOut, dtype);
    const Expr one = k.let("one", full(dtype, {2, 19}, literal(1)));
    k.store(one, {0, 0}, y, Atomic::Add);
    const Kernel kernel = k.take();
    const TensorSpec shape{{2, 19}, dtype};
    const Signature signature = signature_of(kernel, {shape});
    const pl::abi::Entry entry = compile(xsimd::emit(specialise(kernel, signature), signature));
    alignas(64) std::byte memory[2 * 19 * 8] = {};
    constexpr int threads = 4, turns = 2000;
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([&] {
        Host host;
        const pl::abi::Tensor tensor{memory, shape.extents.data(), nullptr};
        const pl::abi::Args args{&tensor, nullptr, 0, 1};
        for (int turn = 0; turn < turns; ++turn) (void)entry(&args, &host.services);
      });
    for (std::thread& worker : workers) worker.join();
    for (int i = 0; i < 2 * 19; ++i) {
      double value = 0;
      if (dtype == DType::Int32) value = reinterpret_cast<const std::int32_t*>(memory)[i];
      if (dtype == DType::Float32) value = reinterpret_cast<const float*>(memory)[i];
      if (dtype == DType::Float64) value = reinterpret_cast<const double*>(memory)[i];
      CHECK(value == threads * turns);
    }
  }
}

TEST_CASE("bools cannot be added, and the user's line says so") {
  KernelBuilder k("bools");
  const Expr x = k.tensor("x", Access::In, DType::Bool), y = k.tensor("y", Access::InOut, DType::Bool);
  k.store(load(x), {0}, y, Atomic::Add);
  const Kernel kernel = k.take();
  const TensorSpec shape{{4}, DType::Bool};
  std::string message;
  try {
    (void)specialise(kernel, signature_of(kernel, {shape, shape}));
  } catch (const pl::DtypeError& error) {
    message = error.what();
    CHECK(error.location().line == 2);
  }
  CHECK(message.find("store: bools cannot be added; convert the tile with pl::cast<std::int32_t>(...)") !=
        std::string::npos);
}
