#include "codegen/xsimd/tile_call.hpp"

#include "codegen/error.hpp"
#include "codegen/tile_call.hpp"

namespace trilith::codegen::xsimd {
namespace {

constexpr TileCallLowering lowerings[] = {
    {Op::Transpose, "transpose.hpp", write_transpose},
    {Op::Matmul, "matmul.hpp", write_linear},
    {Op::MatmulAcc, "matmul.hpp", write_linear},
    {Op::MatmulBias, "matmul.hpp", write_linear},
    {Op::BatchMatmul, "matmul.hpp", write_linear},
    {Op::Gemv, "matmul.hpp", write_linear},
    {Op::Dot, "matmul.hpp", write_linear},
    {Op::TileSlice, "layout.hpp", write_tile_slice},
    {Op::Assemble, "layout.hpp", write_assemble},
    {Op::Concat, "layout.hpp", write_concat},
    {Op::Reshape, "layout.hpp", write_copy},
    {Op::Reinterpret, "layout.hpp", write_copy},
    {Op::Pad, "layout.hpp", write_pad},
    {Op::Expand, "layout.hpp", write_expand},
    {Op::Arange, "generate.hpp", write_arange},
    {Op::Tri, "generate.hpp", write_tri},
    {Op::Random, "random.hpp", write_random},
    {Op::RowArgmax, "index.hpp", write_argument},
    {Op::RowArgmin, "index.hpp", write_argument},
    {Op::ColArgmax, "index.hpp", write_argument},
    {Op::ColArgmin, "index.hpp", write_argument},
    {Op::Cumsum, "index.hpp", write_cumsum},
    {Op::Gather, "index.hpp", write_gather},
    {Op::GatherRow, "index.hpp", write_gather_row},
    {Op::LoadRow, "index.hpp", write_load_row},
    {Op::PagedGather, "index.hpp", write_paged_gather},
    {Op::Scatter, "index.hpp", write_scatter},
    {Op::ScatterAdd, "index.hpp", write_scatter},
    {Op::SortIndices, "sort.hpp", write_order},
    {Op::TopkIndices, "sort.hpp", write_order},
    {Op::Write, "index.hpp", write_element},
};

void run_time_checks(Context& context, const Statement& statement) {
  const TileCallType type = tile_call_type(context.kernel, statement.value, {});
  for (const RunTimeCheck& check : type.checks) {
    const std::string a = context.index(check.a);
    switch (check.kind) {
      case RunTimeCheck::Equal: {
        const std::string b = context.index(check.b);
        context.fault_if(a + " != " + b, "pl::abi::fault_shape", statement.location, check.what, a, b);
        break;
      }
      case RunTimeCheck::Inside: {
        const std::string b = context.index(check.b), c = context.index(check.c);
        context.fault_if("device::outside(" + a + ", " + b + ", " + c + ")", "pl::abi::fault_range",
                         statement.location, check.what, a, c, b);
        break;
      }
      case RunTimeCheck::NotNegative:
        context.fault_if(a + " < 0", "pl::abi::fault_shape", statement.location, check.what, a, "0");
        break;
    }
  }
}

}  // namespace

void Context::tile_call(const Statement& statement, const Statement* store) {
  for (const TileCallLowering& lowering : lowerings) {
    if (lowering.op != statement.value.op) continue;
    headers.insert(lowering.header);
    comment(statement);
    run_time_checks(*this, statement);
    if (store != nullptr) check(*store);
    report_rows(statement);
    if (!views.contains(statement.variable)) reserve(buffer_of(statement.variable), statement.location);
    TileCall call(*this, statement);
    lowering.write(call);
    return;
  }
  throw pl::InternalError("emitter: no lowering of " + std::string(operation(statement.value.op).name));
}

std::string TileCall::tile(std::size_t i) {
  const Expr& operand = call().operands[i];
  if (operand.op != Op::Variable || !operand.type.is_tile())
    throw pl::InternalError("emitter: a tile operand that is no variable");
  // An accumulator is read before its place is written.
  if (operand.variable == statement_.variable && !(call().op == Op::MatmulAcc && i == 0))
    throw pl::InternalError("emitter: a tile call that writes the memory it reads");
  return c_.buffer_of(operand.variable).pointer();
}

TileCall::Memory TileCall::memory(std::size_t i) {
  const auto view = c_.views.find(call().operands[i].variable);
  if (view != c_.views.end()) return {view->second.pointer, view->second.strides};
  return {tile(i), dense_strides(type(i).shape)};
}

std::vector<Product> TileCall::dense_strides(const std::vector<Dim>& shape) const {
  std::vector<Product> strides(shape.size());
  Product dense;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = dense;
    dense = dense * c_.product(shape[axis]);
  }
  return strides;
}

TileCall::Memory TileCall::result_memory() {
  const auto view = c_.views.find(statement_.variable);
  if (view != c_.views.end()) return {view->second.pointer, view->second.strides};
  return {result(), dense_strides(type().shape)};
}

std::string TileCall::result() { return c_.buffer_of(statement_.variable).pointer(); }

std::string TileCall::count(const std::vector<Dim>& shape, std::size_t from, std::size_t to) const {
  return c_
      .count({shape.begin() + static_cast<std::ptrdiff_t>(from),
              shape.begin() + static_cast<std::ptrdiff_t>(to)})
      .text();
}

std::string TileCall::scratch(const std::string& hint, DType dtype, std::vector<Dim> shape) {
  const Buffer buffer =
      c_.new_buffer(c_.variables[statement_.variable] + "_" + hint, dtype, std::move(shape));
  c_.reserve(buffer, statement_.location);
  return buffer.pointer();
}

void TileCall::write(const std::string& name, const std::string& template_arguments,
                     const std::vector<std::string>& arguments) {
  std::string text = "device::" + name + "<" + template_arguments + ">(";
  for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + arguments[i];
  c_.out.line(text + ");");
}

}  // namespace trilith::codegen::xsimd
