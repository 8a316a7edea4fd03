// How the AscendC emitter lowers each operation, by what stands in the kernel that it emits for the example.
#include "codegen/ascendc/emit.hpp"
#include "codegen/error.hpp"
#include "operations/example.hpp"

#include <set>
#include <string_view>

namespace operations_test {
namespace {

bool is_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Copies, synchronisation and questions: no instruction of the operation itself.
const std::set<std::string_view> plumbing = {"DataCopy",
                                             "DataCopyPad",
                                             "PipeBarrier",
                                             "SetFlag",
                                             "WaitFlag",
                                             "GetBlockIdx",
                                             "GetBlockNum",
                                             "GetSubBlockIdx",
                                             "SetAtomicAdd",
                                             "SetAtomicNone",
                                             "CrossCoreSetFlag",
                                             "CrossCoreWaitFlag",
                                             "DataCacheCleanAndInvalid"};

/// Instructions of the vector unit that the kernel itself calls.
int instructions(std::string_view body) {
  constexpr std::string_view prefix = "AscendC::";
  int count = 0;
  for (auto at = body.find(prefix); at != std::string_view::npos; at = body.find(prefix, at)) {
    at += prefix.size();
    auto end = at;
    while (end < body.size() && is_name(body[end])) ++end;
    count += end < body.size() && body[end] == '(' && !plumbing.contains(body.substr(at, end - at)) ? 1 : 0;
  }
  return count;
}

/// Elements that the scalar pipe writes, itself or in a function in front of the kernel.
bool walks_elements(std::string_view body) {
  for (const std::string_view word : {".SetValue(", "FillBy(", "FillRows<", "Lines<", "SumLines(",
                                      "SumFloatLines(", "GatherRows<", "GatherPages<", "PrintRow<"})
    if (body.find(word) != std::string_view::npos) return true;
  return false;
}

}  // namespace

AscendcCell ascendc_cell(Op op, DType dtype) {
  Example example = example_of(op, dtype);
  Value result = reference_result(example);
  const Signature signature = signature_of(arguments_of(example, result));
  try {
    const std::string text = ascendc::emit(specialise(kernel_of(example), signature), signature).text;
    const std::string_view body = std::string_view(text).substr(text.find("extern \"C\""));
    if (walks_elements(body)) return {AscendcCell::Elements, {}};
    return {instructions(body) > 1 ? AscendcCell::Composed : AscendcCell::Instruction, {}};
  } catch (const pl::UserError& error) {
    const std::string message = error.what();
    constexpr std::string_view before = "cannot be emitted: ";
    const auto at = message.find(before);
    return {AscendcCell::Refused, at == std::string::npos ? message : message.substr(at + before.size())};
  }
}

}  // namespace operations_test
