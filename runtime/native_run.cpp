#include "runtime/native_run.hpp"

#include "codegen/reference.hpp"
#include "codegen/remote.hpp"
#include "codegen/xsimd/emit.hpp"

#include <cstring>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;

codegen::TensorView dense_view(codegen::Value& value) {
  codegen::TensorView view{value.dtype, value.bytes.data(), value.shape, codegen::Shape(value.shape.size())};
  std::int64_t stride = 1;
  for (std::size_t axis = value.shape.size(); axis-- > 0;) {
    view.strides[axis] = stride;
    stride *= value.shape[axis];
  }
  return view;
}

codegen::Value scalar_value(codegen::DType dtype, std::uint64_t bits) {
  codegen::Value value(dtype, {});
  value.is_scalar = true;
  std::memcpy(value.bytes.data(), &bits, value.bytes.size());
  return value;
}

/// Runs the captured kernel on copies of the arguments: it knows the place of every expression.
void interpret_copies(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                      const Argument* arguments, const void* closure, const codegen::Block& block = {}) {
  const codegen::Kernel& ir = plan.kernel->ir;
  std::vector<codegen::Value> memory;
  memory.reserve(parameters.size());
  std::vector<codegen::Argument> given;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].tensor) {
      given.emplace_back(scalar_value(parameters[i].dtype, arguments[i].scalar));
      continue;
    }
    const ViewRef& view = arguments[i].view;
    const codegen::Shape extents(view.extents, view.extents + view.rank);
    const codegen::TensorView source{view.dtype, view.data, extents,
                                     codegen::Shape(view.strides, view.strides + view.rank)};
    memory.push_back(codegen::reference::load(source, codegen::Shape(extents.size(), 0), extents, {}));
    given.emplace_back(dense_view(memory.back()));
  }
  std::vector<codegen::Value> captures;
  for (std::size_t i = 0; i < plan.captures.size(); ++i)
    captures.push_back(
        scalar_value(ir.variables[static_cast<std::size_t>(ir.captures[i].variable)].type.dtype,
                     read_capture(closure, plan.captures[i])));
  codegen::interpret(ir, given, captures, {}, block);
}

}  // namespace

std::vector<std::pair<int, int>> in_place_pairs(const codegen::Kernel& captured,
                                                const codegen::Signature& signature) {
  return codegen::xsimd::emit(codegen::specialise(captured, signature), signature).in_place;
}

void require_positions(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                       const Argument* arguments, const void* closure, const codegen::Block& block) {
  if (plan.indexes_arrays && !codegen::uses_windows(plan.kernel->ir))
    interpret_copies(plan, parameters, arguments, closure, block);
}

void rethrow_at_the_kernels_line(const UserError& error, const CallPlan& plan,
                                 std::span<const ParameterInfo> parameters, const Argument* arguments,
                                 const codegen::Signature& signature, const void* closure) {
  try {
    (void)codegen::specialise(plan.kernel->ir, signature);
    // Of other ranks the interpreter knows nothing.
    if (!codegen::uses_windows(plan.kernel->ir)) interpret_copies(plan, parameters, arguments, closure);
  } catch (const UserError& found) {
    // Of another line: another mistake, since a native run has written to its arguments before it ended.
    if (error.location().line == 0 || found.location().line == error.location().line) throw;
  }
}

}  // namespace pl::detail
