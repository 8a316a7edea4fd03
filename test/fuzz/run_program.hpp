// test/fuzz/run_program.hpp -- one random program compiled and interpreted on equal memory.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/error.hpp"
#include "codegen/random_program.hpp"
#include "codegen/specialise.hpp"
#include "codegen/xsimd/emit.hpp"
#include "emitter/abi_arguments.hpp"
#include "jit/engine.hpp"
#include "runtime/model/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace fuzz {

using namespace trilith::codegen;
using emitter_test::AbiArguments;

/// What a kernel asks of its host.
struct Host {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::string fault;
  std::vector<std::unique_ptr<void, Free>> scratch;
  pl::abi::Services services{
      pl::abi::version, sizeof(pl::abi::Services), this, on_fault, on_scratch, on_print, on_remote, nullptr,
      on_rounds};
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  static void on_fault(void* context, const pl::abi::Fault* fault) {
    static_cast<Host*>(context)->fault =
        std::string(fault->what) + ", given " + std::to_string(fault->given) + ", expected " +
        std::to_string(fault->expected) + ", line " + std::to_string(fault->line);
  }
  static void* on_scratch(void* context, std::uint64_t bytes) {
    auto& blocks = static_cast<Host*>(context)->scratch;
    blocks.emplace_back(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    return blocks.back().get();
  }
  static std::int32_t on_remote(void*, pl::abi::Remote*) { return pl::abi::fault_remote; }
  /// One by one, the last first: nothing may depend on the order.
  static std::int32_t on_rounds(void* context, std::int64_t count, const void* frame, pl::abi::Rounds run) {
    std::int32_t code = pl::abi::fault_none;
    while (count-- > 0)
      if (const std::int32_t of_round = run(frame, &static_cast<Host*>(context)->services, count, count + 1);
          of_round != pl::abi::fault_none)
        code = of_round;
    return code;
  }
  static void on_print(void*, const char*, std::int32_t, std::int32_t, const std::int64_t*, const void*) {}
};

enum class Target { Xsimd, Ascendc };

struct TargetText {
  std::string text, symbol;
};
/// Throws pl::UserError for what the target has no lowering for.
inline TargetText text_for(Target target, const Kernel& kernel, const Signature& signature) {
  const Kernel specialised = specialise(kernel, signature);
  if (target == Target::Xsimd) {
    xsimd::Emitted emitted = xsimd::emit(specialised, signature);
    return {std::move(emitted.text), std::move(emitted.symbol)};
  }
  const ascendc::Emitted emitted = ascendc::emit(specialised, signature);
  return {emitted.text + "\n" + ascendc::model_entry(emitted, specialised), emitted.symbol + "_entry"};
}

/// What the model says of a kernel's AscendC.
struct ModelFault final : trilith::model::FaultSink {
  std::string text, printed;
  void print(const std::string& given) override { printed += given; }
  void fault(const trilith::model::Fault& fault) override {
    text = fault.message + ", line " + std::to_string(fault.text_line) + " of the text";
  }
};

/// A row's largest or smallest element is asked for: where it is a zero, no document of AscendC says of which sign.
inline bool asks_for_extremum(const Expr& expression) {
  const Op op = expression.op;
  return op == Op::RowMax || op == Op::RowMin || op == Op::Max || op == Op::Min ||
         std::ranges::any_of(expression.operands, asks_for_extremum);
}
inline bool asks_for_extremum(const std::vector<Statement>& list) {
  return std::ranges::any_of(list, [](const Statement& statement) {
    return asks_for_extremum(statement.value) || asks_for_extremum(statement.body) ||
           asks_for_extremum(statement.else_body) || asks_for_extremum(statement.step_body);
  });
}

/// Zeros lose their sign.
inline void forget_signs_of_zeros(RandomArguments& arguments) {
  for (Value& value : arguments.memory) {
    if (!is_floating(value.dtype)) continue;
    const std::size_t size = size_of(value.dtype);
    for (std::size_t at = 0; at + size <= value.bytes.size(); at += size) {
      bool zero = (value.bytes[at + size - 1] & std::byte{0x7f}) == std::byte{0};
      for (std::size_t i = 0; i + 1 < size; ++i) zero = zero && value.bytes[at + i] == std::byte{0};
      if (zero) value.bytes[at + size - 1] = std::byte{0};
    }
  }
}

/// Runs `kernel`, which takes the program's arguments, both ways. "": the same memory; else what differs.
/// Throws what specialise, the emitter and the compiler throw.
inline std::string run_both_ways(trilith::jit::Engine& engine, const RandomProgram& program,
                                 const Kernel& kernel, Target target = Target::Xsimd) {
  RandomArguments expected = random_arguments(program), given = random_arguments(program);
  const TargetText emitted = text_for(target, kernel, signature_of(program, given));
  const trilith::jit::KeyPart part{"text", emitted.text};
  const auto code = engine.get(
      {&part, 1}, [&] { return trilith::jit::Source{emitted.text, emitted.symbol, kernel.name, {}, {}}; });

  const AbiArguments arguments(given);
  Host host;
  ModelFault fault;
  const trilith::model::Model model(fault);
  if (target == Target::Ascendc) host.services.model = model.table();
  const std::int32_t code_number = code->entry()(&arguments.args, &host.services);
  // The sign of a NaN is nobody's.
  const auto without_signs_of_nan = [](std::string text) {
    for (auto at = text.find("-nan"); at != std::string::npos; at = text.find("-nan")) text.erase(at, 1);
    return text;
  };
  std::string printed;
  interpret(kernel, expected.arguments, expected.captures,
            [&](const std::string& text) { printed += text + "\n"; });
  if (!fault.text.empty()) return "the model of AscendC faults: " + fault.text;
  if (code_number != 0) return "the compiled kernel faults and the interpreter does not: " + host.fault;
  // On the simulator the host makes the text.
  if (target == Target::Ascendc && without_signs_of_nan(fault.printed) != without_signs_of_nan(printed))
    return "the model prints\n" + fault.printed + "where the interpreter prints\n" + printed;
  if (target == Target::Ascendc && asks_for_extremum(kernel.body))
    for (RandomArguments* arguments : {&expected, &given}) forget_signs_of_zeros(*arguments);
  return difference(program, expected, given);
}

}  // namespace fuzz
