// Emitted AscendC on the CPU model, as code that emitter/compare.hpp calls.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "emitter/compare.hpp"
#include "runtime/model/launch.hpp"

#include <string>

namespace ascendc_test {

using namespace trilith::codegen;

/// Keeps the fault of the last launch. The kernels of these tests run one at a time.
struct Faults final : trilith::model::FaultSink {
  std::string text, printed;
  void print(const std::string& given) override { printed += given; }
  void fault(const trilith::model::Fault& fault) override {
    text = fault.message + " (line " + std::to_string(fault.text_line) + ", " + fault.core + ")";
  }
};
inline Faults& faults() {
  static Faults all;
  return all;
}

[[nodiscard]] inline emitter_test::Compiled compile_text(const ascendc::Emitted& emitted,
                                                         const std::string& text, const Kernel& specialised) {
  static const trilith::model::Model model(faults());
  faults().text.clear();
  faults().printed.clear();
  const std::string all = text + "\n" + ascendc::model_entry(emitted, specialised);
  return {text, emitter_test::compile(all, emitted.symbol + "_entry"), emitted.in_place, model.table()};
}

[[nodiscard]] inline emitter_test::Compiled for_model(const Kernel& specialised, const Signature& signature) {
  const ascendc::Emitted emitted = ascendc::emit(specialised, signature);
  return compile_text(emitted, emitted.text, specialised);
}

/// Runs a kernel on the model and by the interpreter and compares all memory.
inline void agrees(const Kernel& kernel, const std::vector<emitter_test::ArgumentSpec>& arguments,
                   const emitter_test::Options& options = {}) {
  const std::int32_t code = emitter_test::compare(kernel, arguments, options, for_model);
  INFO(faults().text);
  CHECK(code == 0);
}

}  // namespace ascendc_test
