// What a kernel prints on the CPU model is what the interpreter prints.
#include "ascendc/on_model.hpp"
#include "emitter/valid_kernels.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;
using namespace emitter_test;
using namespace trilith::codegen::build;

TEST_CASE("on the model, tiles and scalars are printed in the words of the interpreter") {
  KernelBuilder k("prints");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr tile = k.let("tile", load(x));
  k.print(tile);
  k.print(k.let("half", cast(DType::Float16, tile * literal(0.1))));
  k.print(k.let("negative", call(Op::Lt, {tile, literal(0)})));
  k.print(k.let("total", call(Op::RowSum, {cast(DType::Int64, tile * literal(1000))})));
  // More rows and columns than are shown, and more than two axes.
  k.print(k.let("large", tile_call(Op::Expand, {k.let("number", cast(DType::UInt16, tile)),
                                                build::list({3, 6, 3, 70})})));
  k.print(k.let("element", read(tile, {1, 2})));
  k.for_("i", 0, 2, 1, [&](const Expr& i) { k.print(i); });
  k.store(tile, {0, 0}, y);
  const Kernel kernel = k.take();

  std::vector<float> in(3 * 70), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) * 1.7F - 100;
  const auto view = [](std::vector<float>& data) {
    return TensorView{DType::Float32, reinterpret_cast<std::byte*>(data.data()), {3, 70}, {70, 1}};
  };
  std::string expected;
  const std::vector<Argument> arguments{view(in), view(out)};
  interpret(kernel, arguments, {}, [&](const std::string& text) { expected += text + "\n"; });

  const std::vector<ArgumentSpec> specs{TensorSpec{{3, 70}}, TensorSpec{{3, 70}}};
  const Signature signature = emitter_test::signature_of(kernel, specs);
  const Compiled compiled = for_model(specialise(kernel, signature), signature);
  const std::int64_t extents[] = {3, 70}, strides[] = {70, 1};
  const pl::abi::Tensor tensors[] = {{in.data(), extents, strides}, {out.data(), extents, strides}};
  Host host;
  host.services.model = compiled.model;
  const pl::abi::Args args{tensors, nullptr, 0, 1};
  CHECK(compiled.entry(&args, &host.services) == 0);
  CHECK(faults().text == "");
  CHECK(faults().printed == expected);
  CHECK(expected.find("... 6 more") != std::string::npos);
}

TEST_CASE(
    "on the model, a tile whose extents only the run knows is printed as the interpreter does, also where "
    "nothing is in it") {
  const Kernel kernel =
      with_extents(DType::Float32, {20, 70}, [](KernelBuilder& k, const Expr&, const Expr& t) {
        k.print(t);
        return t;
      });
  const std::vector<ArgumentSpec> specs{TensorSpec{{20, 70}}, TensorSpec{{20, 70}}, int64(1), int64(1)};
  const Signature signature = emitter_test::signature_of(kernel, specs);
  const Compiled compiled = for_model(specialise(kernel, signature), signature);
  std::vector<float> in(20 * 70), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) * 0.7F - 300;
  const auto view = [](std::vector<float>& data) {
    return TensorView{DType::Float32, reinterpret_cast<std::byte*>(data.data()), {20, 70}, {70, 1}};
  };
  const std::int64_t extents[] = {20, 70}, strides[] = {70, 1};
  const pl::abi::Tensor tensors[] = {{in.data(), extents, strides}, {out.data(), extents, strides}};
  Host host;
  host.services.model = compiled.model;
  for (const std::int64_t n : {0, 1, 16, 17, 20})
    for (const std::int64_t m : {0, 1, 64, 65, 70}) {
      CAPTURE(n);
      CAPTURE(m);
      std::string expected;
      interpret(kernel, std::vector<Argument>{view(in), view(out), int64(n), int64(m)}, {},
                [&](const std::string& text) { expected += text + "\n"; });
      faults().printed.clear();
      const std::uint64_t scalars[] = {static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(m)};
      const pl::abi::Args args{tensors, scalars, 0, 1};
      CHECK(compiled.entry(&args, &host.services) == 0);
      CHECK(faults().text == "");
      CHECK(faults().printed == expected);
    }
}
