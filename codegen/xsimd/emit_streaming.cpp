// Results larger than the caches go past them: a store that need not read the line first saves a third of the
// traffic. Vectors must then be aligned, so a row begins and ends with partial ones.
#include "codegen/xsimd/nest.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

using fuse::Root;
using fuse::RootKind;
using fuse::Stage;

namespace {

/// Measured: below, a following reader finds the result in the last-level cache; above, most of it is gone
/// anyway.
constexpr std::int64_t streaming_bytes = 16 << 20;
/// A short row has no aligned middle worth it.
constexpr std::int64_t shortest_row = 512;

bool is_loaded(std::span<const Statement> list, VariableId tensor) {
  return std::ranges::any_of(list, [&](const Statement& statement) {
    return (statement.value.op == Op::Load && statement.value.operands[0].variable == tensor) ||
           is_loaded(statement.body, tensor) || is_loaded(statement.else_body, tensor) ||
           is_loaded(statement.step_body, tensor);
  });
}

}  // namespace

const Root* NestEmitter::streamed_root(const Stage& stage) const {
  // Where a pass reduces, the order of the sum must not depend on an address.
  if (!stage.reductions.empty()) return nullptr;
  for (const Root& root : stage.roots) {
    if (root.kind != RootKind::Store || root.statement->value.attributes.atomic != Atomic::None) continue;
    const Stream& stream = writes_.at(&root);
    const VariableId tensor = root.statement->value.operands[2].variable;
    const Product elements = c_.count(c_.kernel.variables[tensor].type.shape);
    const auto size = static_cast<std::int64_t>(size_of(stream.dtype));
    if (stream.dtype == DType::Bool || is_narrow_float(stream.dtype) || !stream.inner.is(1) ||
        !elements.is_constant() || !inner_.is_constant() || elements.factor * size < streaming_bytes ||
        inner_.factor < shortest_row || is_loaded(c_.kernel.body, tensor))
      continue;
    return &root;
  }
  return nullptr;
}

void NestEmitter::streaming_pass(const Stage& stage) {
  const Stream& stream = writes_.at(streamed_);
  const std::string extent = inner_.text();
  c_.out.open("{");
  c_.out.open("const auto edge = [&](std::int64_t j, int rest) {");
  body(stage, {"j", "rest", ""});
  c_.out.close("};");
  c_.out.line("std::int64_t j = device::to_alignment(" + stream.row + ", " + extent + ");");
  c_.out.line("edge(0, static_cast<int>(j));");
  c_.out.line("for (; j + W <= " + extent + "; j += W) {");
  c_.out.indent(1);
  body(stage, {"j", "", ""});
  c_.out.close();
  c_.out.line("edge(j, static_cast<int>(" + extent + " - j));");
  c_.out.close();
  streams_ = true;
}

}  // namespace trilith::codegen::xsimd
