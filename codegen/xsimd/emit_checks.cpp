// Run-time checks: what specialisation could not prove is tested before memory is touched.
#include "codegen/error.hpp"
#include "codegen/message.hpp"
#include "codegen/xsimd/context.hpp"

#include <utility>

namespace trilith::codegen::xsimd {

void Context::fault_if(const std::string& condition, std::string_view code, const SourceLocation& location,
                       const std::string& what, const std::string& given, const std::string& expected,
                       const std::string& length) {
  const std::string file = location.file < kernel.files.size() ? kernel.files[location.file] : "";
  out.open("if (" + condition + ")");
  out.line("return device::fault(services, " + std::string(code) + ", " + quoted(file) + ", " +
           std::to_string(location.line) + ", " + std::to_string(location.column) + ", " + quoted(what) +
           ", " + given + ", " + expected + (length.empty() ? "" : ", " + length) + ");");
  out.indent(-1);
}

namespace {

void check_region(Context& context, const Statement& statement) {
  const fuse::Region region = fuse::region_of(context.kernel, statement);
  const std::vector<Dim>& extents = context.kernel.variables[region.tensor].type.shape;
  for (std::size_t axis = 0; axis < region.shape.size(); ++axis) {
    const Expr& offset = region.offsets->operands[axis];
    const Dim &shape = region.shape[axis], &extent = extents[axis];
    if (offset.is_constant()) {
      const bool whole = offset.value.as_int64() == 0 && shape == extent;
      if (whole) continue;
      // Provably outside, on a line that may never run: a fault there.
      const bool constant = shape.is_constant() && extent.is_constant();
      if (constant && offset.value.as_int64() >= 0 && offset.value.as_int64() <= extent.extent - shape.extent)
        continue;
    }
    const std::string at = context.index(offset), size = context.dim(shape), limit = context.dim(extent);
    if ((statement.value.attributes.indexed >> axis & 1) != 0) {
      context.fault_if("device::outside(" + at + ", " + size + ", " + limit + ")", "pl::abi::fault_index",
                       offset.location.line != 0 ? offset.location : statement.location, "x[i]", at, limit);
      continue;
    }
    const bool store = statement.value.op == Op::Store;
    context.fault_if("device::outside(" + at + ", " + size + ", " + limit + ")", "pl::abi::fault_range",
                     statement.location, (store ? "store " : "load ") + std::to_string(axis), at, limit,
                     size);
  }
}

void check_full(Context& context, const Statement& statement) {
  for (std::size_t axis = 0; axis < statement.value.type.shape.size(); ++axis) {
    const Dim& dim = statement.value.type.shape[axis];
    if (dim.is_constant() || context.kernel.variables[dim.variable].kind == VariableKind::Extent) continue;
    context.fault_if(context.dim(dim) + " < 0", "pl::abi::fault_shape", statement.location,
                     "full " + std::to_string(axis), context.dim(dim), "0");
  }
}

/// " [{given}, 8] and [3, 8]": the extents that do not agree stand `back` from the end. Nothing where others are run-time
/// values, too, which the fault does not tell.
std::string both_shapes(const Expr& first, const std::string& a, const Expr& second, const std::string& b,
                        std::size_t back) {
  std::string text;
  for (const auto& [tile, number] : {std::pair(&first, a), std::pair(&second, b)}) {
    const std::vector<Dim>& shape = tile->type.shape;
    text += text.empty() ? " [" : " and [";
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const bool meets = shape.size() - axis == back;
      if (!meets && !shape[axis].is_constant()) return "";
      text += (axis == 0 ? "" : ", ") + (meets ? number : std::to_string(shape[axis].extent));
    }
    text += "]";
  }
  return text;
}

void check_operands(Context& context, const Statement& statement) {
  const Expr& value = statement.value;
  std::vector<const Expr*> tiles;
  for (const Expr& operand : value.operands)
    if (operand.type.is_tile()) tiles.push_back(&operand);
  for (const Expr& operand : value.operands) {
    if (!operand.type.is_tile() || operation(value.op).group == Group::RowReduce ||
        operation(value.op).group == Group::ColReduce)
      continue;
    const std::vector<Dim>&shape = operand.type.shape, &result = value.type.shape;
    for (std::size_t back = 1; back <= shape.size(); ++back) {
      const Dim &given = shape[shape.size() - back], &expected = result[result.size() - back];
      if (given == expected || given.is(1)) continue;
      const bool first = &operand == tiles.front();
      const std::string a = first ? message::given_word : message::expected_word,
                        b = first ? message::expected_word : message::given_word;
      const std::string shapes = tiles.size() == 2 ? both_shapes(*tiles[0], a, *tiles[1], b, back) : "";
      context.fault_if(context.dim(given) + " != " + context.dim(expected), "pl::abi::fault_shape",
                       statement.location,
                       message::broadcast(operation(value.op).name, shapes, result.size() - back, a, b),
                       context.dim(given), context.dim(expected));
    }
  }
}

}  // namespace

void Context::check(const Statement& statement) {
  switch (statement.value.op) {
    case Op::Load:
    case Op::Store: check_region(*this, statement); return report_access(statement);
    case Op::Full: return check_full(*this, statement);
    case Op::Variable: return;
    default: return check_operands(*this, statement);
  }
}

}  // namespace trilith::codegen::xsimd
