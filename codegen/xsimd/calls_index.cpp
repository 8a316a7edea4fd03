// Calls of the operations that choose elements by position or find positions by value.
#include "codegen/error.hpp"
#include "codegen/xsimd/tile_call.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {
namespace {

/// A tile around an axis: what lies outside of it, along it, inside of it.
struct Around {
  std::string outer, extent, inner;

  Around(TileCall& call, const std::vector<Dim>& shape, std::size_t axis)
      : outer(call.count(shape, 0, axis)),
        extent(call.extent(shape[axis])),
        inner(call.count(shape, axis + 1, shape.size())) {}
};

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string function(const std::string& name, const std::vector<std::string>& template_arguments,
                     const std::vector<std::string>& arguments) {
  return "device::" + name + "<" + joined(template_arguments) + ">(" + joined(arguments) + ")";
}

/// The call, and a fault where it finds an index out of range.
void write_checked(TileCall& call, const std::string& what, const std::string& text) {
  Context& c = call.context();
  c.fault_if("!" + text, "pl::abi::fault_index", call.statement().location, what, "bad.given", "bad.bound");
}

/// An array of integers; never empty, as C++ wants it.
void write_array(TileCall& call, const std::string& name, const std::vector<std::string>& items) {
  call.context().out.line("const std::int64_t " + name + "[] = {" + (items.empty() ? "0" : joined(items)) +
                          "};");
}

/// Operand 0, a view of a tensor: its first element, its extents and strides.
struct TensorOperand {
  std::string first;
  std::vector<std::string> extents, strides;

  explicit TensorOperand(TileCall& call) {
    Context& c = call.context();
    const Expr& use = call.call().operands[0];
    TensorInfo& tensor = c.tensors.at(use.variable);
    std::string offset;
    for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
      if (!tensor.run_time_strides[axis].empty()) tensor.uses_stride[axis] = true;
      const Expr& at = call.call().operands[1].operands[axis];
      const std::string stride = tensor.strides[axis].text();
      if (!at.is_constant() || at.value.as_int64() != 0)
        offset += (offset.empty() ? "" : " + ") + c.index(at) + " * " + stride;
      if (axis < static_cast<std::size_t>(call.attributes().axis)) continue;
      extents.push_back(call.item(2, axis));
      strides.push_back(stride);
    }
    first = tensor.name + (offset.empty() ? "" : " + (" + offset + ")");
  }
};

/// Pointer to operand 0, which may be the memory of the result.
std::string changed(TileCall& call) {
  return call.context().buffer_of(call.call().operands[0].variable).pointer();
}

}  // namespace

void write_argument(TileCall& call) {
  const Op op = call.call().op;
  const bool last = op == Op::RowArgmax || op == Op::RowArgmin;
  const bool largest = op == Op::RowArgmax || op == Op::ColArgmax;
  const std::vector<Dim>& shape = call.type(0).shape;
  const Around x(call, shape, shape.size() - (last ? 1 : 2));
  call.write("argument", joined({call.dtype(0), largest ? "true" : "false"}),
             {call.result(), call.tile(0), x.outer, x.extent, x.inner});
}

void write_cumsum(TileCall& call) {
  const Around x(call, call.type(0).shape, call.axis(call.attributes().axis));
  call.write("cumsum", call.dtype(0), {call.result(), call.tile(0), x.outer, x.extent, x.inner});
}

void write_gather(TileCall& call) {
  const std::size_t axis = call.axis(call.attributes().axis);
  const Around x(call, call.type(0).shape, axis), indices(call, call.type(1).shape, axis);
  Context& c = call.context();
  c.out.open("{");
  c.out.line("device::BadIndex bad;");
  write_checked(call, "gather",
                function("gather", {call.dtype(0), call.dtype(1)},
                         {call.result(), call.tile(0), call.tile(1), x.outer, x.extent, indices.extent,
                          x.inner, "bad"}));
  c.out.close();
}

void write_gather_row(TileCall& call) {
  const std::vector<Dim>& shape = call.type(0).shape;
  const std::string row = call.count(shape, 1, shape.size());
  Context& c = call.context();
  c.out.open("{");
  c.out.line("device::BadIndex bad;");
  write_array(call, "extents", {row});
  write_array(call, "strides", {"1"});
  write_checked(call, "gather_row",
                function("gather_row", {call.dtype(0), call.dtype(1)},
                         {call.result(), call.tile(0), call.tile(1), call.count(call.type(1).shape),
                          call.extent(shape[0]), row, "1", "extents", "strides", "bad"}));
  c.out.close();
}

void write_load_row(TileCall& call) {
  const TensorOperand rows(call);
  Context& c = call.context();
  c.out.open("{");
  c.out.line("device::BadIndex bad;");
  write_array(call, "extents", {rows.extents.begin() + 1, rows.extents.end()});
  write_array(call, "strides", {rows.strides.begin() + 1, rows.strides.end()});
  write_checked(
      call, "gather_row",
      function("gather_row", {call.dtype(0), call.dtype(3)},
               {call.result(), rows.first, call.tile(3), call.count(call.type(3).shape), rows.extents[0],
                rows.strides[0], std::to_string(rows.extents.size() - 1), "extents", "strides", "bad"}));
  c.out.close();
}

void write_paged_gather(TileCall& call) {
  const TensorOperand pages(call);
  const std::vector<Dim>& table = call.type(3).shape;
  Context& c = call.context();
  c.out.open("{");
  c.out.line("device::BadIndex bad;");
  write_array(call, "extents", pages.extents);
  write_array(call, "strides", pages.strides);
  const bool ragged = call.type(4).is_tile();
  if (!ragged) c.out.line("const " + call.dtype(4) + " length = " + call.scalar(4) + ";");
  c.out.line("const bool gathered = " +
             function("paged_gather", {call.dtype(0), call.dtype(3), call.dtype(4)},
                      {call.result(), pages.first, std::to_string(pages.extents.size()), "extents", "strides",
                       call.tile(3), call.count(table, 0, table.size() - 1), call.extent(table.back()),
                       ragged ? call.tile(4) : "&length", ragged ? "1" : "0",
                       c.index(call.call().operands[5]), c.index(call.call().operands[6]), "bad"}) +
             ";");
  c.fault_if("!gathered && bad.in_table", "pl::abi::fault_index", call.statement().location,
             "paged_gather: block table", "bad.given", "bad.bound");
  write_checked(call, "paged_gather", "gathered");
  c.out.close();
}

void write_scatter(TileCall& call) {
  const std::size_t axis = call.axis(call.attributes().axis);
  const Around x(call, call.type(0).shape, axis), indices(call, call.type(1).shape, axis);
  const bool adds = call.call().op == Op::ScatterAdd;
  Context& c = call.context();
  c.out.open("{");
  c.out.line("device::BadIndex bad;");
  write_checked(call, adds ? "scatter_add" : "scatter",
                function("scatter", {call.dtype(0), adds ? "true" : "false", call.dtype(1)},
                         {call.result(), changed(call), call.tile(1), call.tile(2), x.outer, x.extent,
                          indices.extent, x.inner, "bad"}));
  c.out.close();
}

void write_order(TileCall& call) {
  const std::vector<Dim>& shape = call.type(0).shape;
  const std::size_t axis = call.axis(call.attributes().axis);
  const Around x(call, shape, axis);
  // Two lists of an element and its position: device/trilith/sort.hpp.
  const std::int64_t words = size_of(call.type(0).dtype) == 8 ? 4 : 2;
  const std::string room = call.scratch("room", DType::Int64, {shape[axis], Dim{words}});
  const bool sorts = call.call().op == Op::SortIndices;
  std::vector<std::string> arguments = {call.result(), call.tile(0), x.outer, x.extent, x.inner};
  if (!sorts) arguments.push_back(call.extent(call.type().shape[axis]));
  arguments.push_back(room);
  call.write(sorts ? "sort_indices" : "topk_indices",
             joined({call.dtype(0), call.attributes().flag ? "true" : "false"}), arguments);
}

std::string Context::element(const Statement& statement, const Type& tile, const Expr& offsets) {
  const std::string name(operation(statement.value.op).name);
  std::string number;
  for (std::size_t axis = 0; axis < tile.shape.size(); ++axis) {
    const Expr& offset = offsets.operands[axis];
    const std::string at = index(offset), extent = dim(tile.shape[axis]);
    if (!offset.is_constant() || !tile.shape[axis].is_constant())
      fault_if("device::outside(" + at + ", 1, " + extent + ")", "pl::abi::fault_index", statement.location,
               name + ": axis " + std::to_string(axis), at, extent);
    number = number.empty() ? at : "(" + number + ") * " + extent + " + " + at;
  }
  return number.empty() ? "0" : number;
}

void Context::read(const Statement& statement) {
  comment(statement);
  const Expr& tile = statement.value.operands[0];
  const std::string at = element(statement, tile.type, statement.value.operands[1]);
  declare(statement.variable);
  out.line(variables[statement.variable] + " = " + buffer_of(tile.variable).pointer() + "[" + at + "];");
}

void write_element(TileCall& call) {
  Context& c = call.context();
  const std::string at = c.element(call.statement(), call.type(0), call.call().operands[1]);
  const std::string from = changed(call), to = call.result();
  if (from != to)
    c.out.line("__builtin_memcpy(" + to + ", " + from + ", static_cast<std::size_t>(" +
               call.count(call.type(0).shape) + ") * sizeof(" + call.dtype() + "));");
  c.out.line(to + "[" + at + "] = " + call.scalar(2) + ";");
}

}  // namespace trilith::codegen::xsimd
