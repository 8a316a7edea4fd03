// Runs a kernel twice, its AscendC on the CPU model and interpreted, on equal memory between guard pages, and compares
// every element.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "emitter/compare.hpp"
#include "runtime/model/launch.hpp"

namespace ascendc_test {

using namespace trilith::codegen;
using emitter_test::ArgumentSpec;
using emitter_test::Host;
using emitter_test::Memory;
using emitter_test::Options;
using emitter_test::TensorSpec;

inline pl::abi::Entry compile(const ascendc::Emitted& emitted, const Kernel& specialised) {
  return emitter_test::compile({.text = emitted.text + "\n" + ascendc::model_entry(emitted, specialised),
                                .symbol = emitted.symbol + "_entry"});
}

/// Of one launch: what the model says against the text.
struct Faults : trilith::model::FaultSink {
  std::string message;
  void fault(const trilith::model::Fault& fault) override {
    if (message.empty())
      message = fault.core + ", line " + std::to_string(fault.text_line) + ": " + fault.message;
  }
};

/// Gives the fault code, of both or of none.
inline std::int32_t compare_on_model(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments,
                                     const Options& options = {}) {
  const Signature signature = emitter_test::signature_of(kernel, arguments);
  const Kernel specialised = specialise(kernel, signature);
  const ascendc::Emitted emitted = ascendc::emit(specialised, signature);
  INFO(emitted.text);
  const pl::abi::Entry entry = compile(emitted, specialised);

  std::mt19937_64 random(options.seed);
  std::vector<std::unique_ptr<Memory>> given, expected;
  std::vector<pl::abi::Tensor> tensors;
  std::vector<std::uint64_t> scalars;
  std::vector<Argument> interpreted;
  for (const ArgumentSpec& argument : arguments) {
    if (const auto* value = std::get_if<Value>(&argument)) {
      std::uint64_t slot = 0;
      std::memcpy(&slot, value->bytes.data(), value->bytes.size());
      scalars.push_back(slot);
      interpreted.emplace_back(*value);
      continue;
    }
    const TensorSpec& spec = std::get<TensorSpec>(argument);
    given.push_back(std::make_unique<Memory>(spec, options, random));
    expected.push_back(std::make_unique<Memory>(spec, options, random));
    expected.back()->copy_from(*given.back());
    interpreted.emplace_back(
        TensorView{spec.dtype, expected.back()->first(), spec.extents, expected.back()->strides()});
  }
  for (const auto& memory : given)
    tensors.push_back({memory->first(), memory->spec().extents.data(), memory->strides().data()});

  Faults faults;
  const trilith::model::Model model(faults);
  Host host;
  host.services.model = model.table();
  const pl::abi::Args args{tensors.data(), scalars.data(), 0, 1};
  const std::int32_t code = entry(&args, &host.services);
  CHECK(faults.message == "");
  if (!faults.message.empty()) return code;
  bool refused = false;
  try {
    interpret(kernel, interpreted, {});
  } catch (const pl::ShapeError& error) {
    refused = true;
    if (code == 0) MESSAGE("only the interpreter refuses: ", error.what());
  }
  CHECK(refused == (code != 0));
  if (refused || code != 0) return code;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const DType dtype = given[i]->spec().dtype;
    const std::size_t size = size_of(dtype);
    for (std::int64_t element = 0; element < given[i]->count(); ++element) {
      const std::byte* a = given[i]->data() + static_cast<std::size_t>(element) * size;
      const std::byte* b = expected[i]->data() + static_cast<std::size_t>(element) * size;
      if (emitter_test::equal_elements(dtype, a, b, options.tolerance)) continue;
      Constant x{dtype, 0}, y{dtype, 0};
      std::memcpy(&x.bits, a, size);
      std::memcpy(&y.bits, b, size);
      const auto text = [](const Constant& value) {
        return is_floating(value.dtype) ? std::to_string(value.as_double()) : std::to_string(value.bits);
      };
      FAIL_CHECK("tensor ", i, " element ", element, ": model ", text(x), ", interpreted ", text(y));
      if (getenv("ALL")==nullptr) break;
    }
  }
  return code;
}

}  // namespace ascendc_test
