// Which block of a task a kernel is, and barriers, compiled against the interpreter.
#include "emitter/compare.hpp"
#include "emitter/kernels.hpp"

using namespace emitter_test;

namespace {

/// Each block writes its own two elements of y.
Kernel numbered() {
  KernelBuilder k("numbered");
  const Expr y = k.tensor("y", Access::InOut, DType::Int32);
  const Expr at = k.let("at", cast(DType::Int64, call(Op::BlockIdx, {}) * literal(2)));
  const Expr number =
      call(Op::BlockIdx, {}) * literal(100) + call(Op::BlockNum, {}) + call(Op::SubblockIdx, {});
  k.store(full(DType::Int32, {2}, number), {at}, y);
  return k.take();
}

}  // namespace

TEST_CASE("block_idx and block_num are the ones of the call, in compiled and in interpreted kernels") {
  const Kernel kernel = numbered();
  const TensorSpec spec{{8}, DType::Int32};
  CHECK(compare(kernel, {spec}) == 0);  // a direct call: block 0 of 1

  const Signature signature = signature_of(kernel, {spec});
  const pl::abi::Entry entry = compile(xsimd::emit(specialise(kernel, signature), signature));
  std::vector<std::int32_t> compiled(8, -1), interpreted(8, -1);
  const std::int64_t extents[] = {8}, strides[] = {1};
  for (int block = 3; block >= 0; --block) {
    Host host;
    const pl::abi::Tensor tensor{compiled.data(), extents, strides};
    const pl::abi::Args args{&tensor, nullptr, block, 4};
    CHECK(entry(&args, &host.services) == 0);
    const Argument argument = TensorView{DType::Int32, interpreted.data(), {8}, {1}};
    interpret(kernel, std::span(&argument, 1), {}, {}, {block, 4});
  }
  CHECK(compiled == std::vector<std::int32_t>{4, 4, 104, 104, 204, 204, 304, 304});
  CHECK(interpreted == compiled);
}

TEST_CASE("barriers change nothing and do not part what is fused") {
  KernelBuilder k("barriers");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr tile = k.let("tile", load(x));
  k.synchronise(Op::PipeBarrier);
  const Expr twice = k.let("twice", tile + tile);
  k.synchronise(Op::BarrierAll);
  k.store(twice * tile, {0, 0}, y);
  k.synchronise(Op::BarrierAll);
  const Kernel kernel = k.take();
  const std::vector<ArgumentSpec> arguments = {TensorSpec{{3, 17}}, TensorSpec{{3, 17}}};
  CHECK(compare(kernel, arguments) == 0);

  const Signature signature = signature_of(kernel, arguments);
  const Kernel specialised = specialise(kernel, signature);
  const std::string lowered = to_text(specialised), text = xsimd::emit(specialised, signature).text;
  CHECK(lowered.find("barrier_all()") != std::string::npos);
  CHECK(lowered.find("pipe_barrier()") != std::string::npos);
  CHECK(text.find("barrier_all()") != std::string::npos);
  CHECK(text.find("scratch") == std::string::npos);  // the tiles stay in registers
}
