// Run-time checks: what specialisation could not prove is tested before memory is touched.
#include "codegen/error.hpp"
#include "codegen/passes/shape_rule.hpp"
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

/// Calls visit(axis, offset, size, extent) for each axis on which the region of a load or a store may leave its tensor.
template <class Visit>
void for_each_open_axis(Context& context, const Statement& statement, const Visit& visit) {
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
    visit(axis, context.index(offset), context.dim(shape), context.dim(extent));
  }
}

std::string outside(const std::string& at, const std::string& size, const std::string& limit) {
  return "device::outside(" + at + ", " + size + ", " + limit + ")";
}

void check_region(Context& context, const Statement& statement) {
  const fuse::Region region = fuse::region_of(context.kernel, statement);
  for_each_open_axis(
      context, statement,
      [&](std::size_t axis, const std::string& at, const std::string& size, const std::string& limit) {
        const Expr& offset = region.offsets->operands[axis];
        if ((statement.value.attributes.indexed >> axis & 1) != 0) {
          context.fault_if(outside(at, size, limit), "pl::abi::fault_index",
                           offset.location.line != 0 ? offset.location : statement.location, "x[i]", at,
                           limit);
          return;
        }
        const bool store = statement.value.op == Op::Store;
        context.fault_if(outside(at, size, limit), "pl::abi::fault_range", statement.location,
                         (store ? "store " : "load ") + std::to_string(axis), at, limit, size);
      });
}

void check_shapes(Context& context, const Statement& statement) {
  for (const passes::ShapeCheck& check : passes::shape_checks(context.kernel, statement.value)) {
    const std::string given = context.dim(check.given),
                      expected = check.expected ? context.dim(*check.expected) : "0";
    context.fault_if(given + (check.expected ? " != " : " < ") + expected, "pl::abi::fault_shape",
                     statement.location, check.what, given, expected);
  }
}

}  // namespace

std::string Context::leaves_tensor(const Statement& statement) {
  std::string condition;
  for_each_open_axis(
      *this, statement,
      [&](std::size_t, const std::string& at, const std::string& size, const std::string& limit) {
        condition += (condition.empty() ? "" : " || ") + outside(at, size, limit);
      });
  return condition;
}

void Context::check(const Statement& statement) {
  switch (statement.value.op) {
    case Op::Load:
    case Op::Store: check_region(*this, statement); return report_access(statement);
    case Op::Variable: return;
    default: return check_shapes(*this, statement);
  }
}

}  // namespace trilith::codegen::xsimd
