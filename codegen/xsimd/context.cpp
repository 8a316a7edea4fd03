#include "codegen/xsimd/context.hpp"

#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

namespace {
// Kernels run on threads of the host, whose stacks may be small.
constexpr std::int64_t largest_stack_buffer = 64 << 10;
constexpr std::int64_t largest_stack = 192 << 10;
}  // namespace

std::string Product::text() const {
  if (terms.empty() || factor == 0) return std::to_string(factor);
  std::string text = factor == 1 ? "" : std::to_string(factor);
  for (const std::string& term : terms) text += (text.empty() ? "" : " * ") + term;
  return text;
}

Product Product::operator*(const Product& other) const {
  Product result{factor * other.factor, terms};
  result.terms.insert(result.terms.end(), other.terms.begin(), other.terms.end());
  std::ranges::sort(result.terms);
  if (result.factor == 0) result.terms.clear();
  return result;
}

Context::Context(const Kernel& kernel_, const Signature& signature_)
    : kernel(kernel_), signature(signature_), uses(fuse::count_uses(kernel_)) {
  declared.assign(kernel.variables.size(), false);
  for (const Variable& variable : kernel.variables) variables.push_back(names.fresh(variable.name));
  int index = 0;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const VariableId id = kernel.parameters[i].variable;
    const Variable& variable = kernel.variables[id];
    if (!variable.type.is_tensor()) continue;
    TensorInfo info;
    info.index = index++;
    info.parameter = static_cast<int>(i);
    info.name = variables[id];
    info.access = kernel.parameters[i].access;
    const std::size_t rank = variable.type.shape.size();
    const Layout layout = i < signature.arguments.size() ? signature.arguments[i].layout : Layout::Strided;
    info.strides.resize(rank);
    info.run_time_strides.resize(rank);
    info.uses_stride.assign(rank, false);
    Product dense;
    for (std::size_t axis = rank; axis-- > 0;) {
      const bool known = layout == Layout::Dense || (layout == Layout::InnerDense && axis + 1 == rank);
      if (known) {
        info.strides[axis] = dense;
      } else {
        info.run_time_strides[axis] = names.fresh(info.name + "_stride" + std::to_string(axis));
        info.strides[axis] = Product{1, {info.run_time_strides[axis]}};
      }
      dense = dense * product(variable.type.shape[axis]);
    }
    tensors.emplace(id, std::move(info));
  }
}

Product Context::product(const Dim& dim) const {
  if (dim.is_constant()) return {dim.extent, {}};
  return {1, {variables[dim.variable]}};
}

Product Context::count(const std::vector<Dim>& shape) const {
  Product result;
  for (const Dim& dim : shape) result = result * product(dim);
  return result;
}

std::string Context::place(const SourceLocation& location) const {
  if (location.line == 0 || location.file >= kernel.files.size()) return "?";
  const std::string& file = kernel.files[location.file];
  const auto slash = file.find_last_of('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(location.line);
}

Buffer Context::new_buffer(const std::string& hint, DType dtype, std::vector<Dim> shape,
                           std::int64_t padding) {
  Buffer buffer{names.fresh(hint), dtype, std::move(shape), false};
  const Product elements = count(buffer.shape);
  const std::int64_t room = elements.factor + padding;
  const std::int64_t bytes = room * static_cast<std::int64_t>(size_of(dtype));
  buffer.on_stack =
      elements.is_constant() && bytes <= largest_stack_buffer && stack_bytes + bytes <= largest_stack;
  if (buffer.on_stack) {
    stack_bytes += bytes;
    declarations.push_back("alignas(64) " + type_name(dtype) + " " + buffer.name + "[" +
                           std::to_string(std::max<std::int64_t>(room, 1)) + "];");
  } else {
    declarations.push_back("device::Scratch<" + type_name(dtype) + "> " + buffer.name + ";");
  }
  return buffer;
}

Buffer& Context::buffer_of(VariableId variable) {
  const auto found = buffers.find(variable);
  if (found != buffers.end()) return found->second;
  const Type& type = kernel.variables[variable].type;
  return buffers.emplace(variable, new_buffer(variables[variable] + "_buffer", type.dtype, type.shape))
      .first->second;
}

void Context::reserve(const Buffer& buffer, const SourceLocation& location, std::int64_t padding) {
  if (buffer.on_stack) return;
  std::string elements = count(buffer.shape).text();
  if (padding != 0) elements += " + " + std::to_string(padding);
  fault_if("!" + buffer.name + ".reserve(services, " + elements + ")", "pl::abi::fault_out_of_memory",
           location, "scratch memory of the kernel, in elements", elements, "0");
}

}  // namespace trilith::codegen::xsimd
