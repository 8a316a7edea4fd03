// Calls of matrix products. An operand that is nothing but a load is read from its tensor, with the tensor's strides.
#include "codegen/tile_call/linear.hpp"

#include "codegen/xsimd/tile_call.hpp"

namespace trilith::codegen::xsimd {
namespace {

/// Extent of an axis of a shape; 1 where there is none.
Dim extent_of(const std::vector<Dim>& shape, int axis) {
  return axis < 0 ? Dim{1, no_variable} : shape[static_cast<std::size_t>(axis)];
}
Product stride_of(const std::vector<Product>& strides, int axis) {
  return axis < 0 ? Product{0, {}} : strides[static_cast<std::size_t>(axis)];
}
std::string constant_or_dynamic(const Product& product) {
  return product.is_constant() ? product.text() : std::string("device::dynamic");
}

struct Batch {
  std::vector<std::string> variables;  ///< of the loops over the result's leading axes
  std::size_t rank = 0;                ///< of the result
};

/// " + batch0 * 64": where the matrix of this batch lies in a tile of these strides.
std::string batch_offset(const Batch& batch, const std::vector<Dim>& shape,
                         const std::vector<Product>& strides) {
  std::string text;
  for (std::size_t axis = 0; axis < batch.variables.size(); ++axis) {
    const std::size_t back = batch.rank - axis;
    if (back > shape.size() || batch.variables[axis].empty()) continue;
    const std::size_t own = shape.size() - back;
    if (shape[own].is(1) || strides[own].is(0)) continue;
    text += " + " + batch.variables[axis] + (strides[own].is(1) ? "" : " * " + strides[own].text());
  }
  return text;
}

}  // namespace

void write_linear(TileCall& call) {
  Context& c = call.context();
  const Op op = call.call().op;
  const std::size_t first = op == Op::MatmulAcc ? 1 : 0;
  const std::vector<Dim>&a = call.type(first).shape, &b = call.type(first + 1).shape;
  if (is_narrow_float(call.type(first).dtype)) c.headers.insert("matmul_half.hpp");
  const ProductAxes axes = product_axes(op, call.attributes(), a.size(), b.size());
  const std::vector<Dim>& result = call.type().shape;
  const Product m = c.product(extent_of(a, axes.m)), n = c.product(extent_of(b, axes.n));
  // Of two extents that are equal when the checks are passed, the constant one says more.
  const Dim a_k = extent_of(a, axes.a_k), b_k = extent_of(b, axes.b_k);
  const Product k = c.product(a_k.is_constant() ? a_k : b_k);
  const TileCall::Memory to = call.result_memory();

  const std::string packed = c.names.fresh(c.variables[call.variable()] + "_packed");
  c.declarations.push_back("device::Scratch<" + call.dtype() + "> " + packed + ";");
  c.out.open("{");
  Batch batch;
  batch.rank = result.size();
  if (op == Op::BatchMatmul)
    for (std::size_t axis = 0; axis + 2 < result.size(); ++axis) {
      batch.variables.push_back(result[axis].is(1) ? std::string() : c.names.fresh("batch"));
      if (result[axis].is(1)) continue;
      const std::string& name = batch.variables.back();
      c.out.open("for (std::int64_t " + name + " = 0; " + name + " < " + c.dim(result[axis]) + "; ++" + name +
                 ") {");
    }
  const auto matrix = [&](std::size_t operand, int rows, int columns) {
    const TileCall::Memory memory = call.memory(operand);
    const Product row = stride_of(memory.strides, rows), column = stride_of(memory.strides, columns);
    std::string text = "device::matrix<" + constant_or_dynamic(row) + ", " + constant_or_dynamic(column) +
                       ">(" + memory.pointer + batch_offset(batch, call.type(operand).shape, memory.strides);
    if (!row.is_constant() || !column.is_constant()) text += ", " + row.text() + ", " + column.text();
    return text + ")";
  };
  const bool run_time = !m.is_constant() || !n.is_constant() || !k.is_constant();
  c.out.line("const auto product = device::matrix_product<" + constant_or_dynamic(m) + ", " +
             constant_or_dynamic(n) + ", " + constant_or_dynamic(k) + ">(");
  c.out.line("    " + matrix(axes.a, axes.m, axes.a_k) + ", " + matrix(axes.b, axes.b_k, axes.n) +
             (run_time ? ", " + m.text() + ", " + n.text() + ", " + k.text() : "") + ");");
  c.fault_if("!" + packed + ".reserve(services, product.workspace())", "pl::abi::fault_out_of_memory",
             call.location(), "scratch memory of the kernel, in elements", "product.workspace()", "0");
  std::string start = "nullptr, 0";
  if (axes.start >= 0)
    start = call.tile(static_cast<std::size_t>(axes.start)) + ", " +
            (op == Op::MatmulBias ? std::string("0") : n.text());
  const Product row = axes.n < 0 ? Product{} : axes.m < 0 ? n : to.strides[result.size() - 2];
  c.out.line("product.run(" + to.pointer + batch_offset(batch, result, to.strides) + ", " + row.text() +
             ", " + start + ", " + packed + ".data);");
  for (const std::string& variable : batch.variables)
    if (!variable.empty()) c.out.close();
  c.out.close();
}

}  // namespace trilith::codegen::xsimd
