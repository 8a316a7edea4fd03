// Operations that choose elements by position, or find positions by value: the scalar pipe walks lines of one axis in the
// unified buffer. Lines of another axis than the last are transposed on their way, in the workspace.
#include "codegen/ascendc/call.hpp"
#include "codegen/ascendc/float_bits.hpp"
#include "codegen/ascendc/index_functions.hpp"

#include <algorithm>
#include <bit>

namespace trilith::codegen::ascendc {
namespace {

constexpr std::int64_t most_line = 48 << 10;  ///< bytes of one buffer: three of them and the queues fit

std::string number(std::int64_t value) { return std::to_string(value); }
std::string word(bool value) { return value ? "true" : "false"; }

/// The type that the elements are, and that they are moved as; in the text.
std::string own_type(DType dtype) { return dtype == DType::Bool ? "uint8_t" : type_name(dtype); }
std::string moved_type(DType dtype) { return type_name(stored_as(dtype)); }
/// What elements of a dtype are compared and added as.
std::string number_type(DType dtype) { return is_floating(dtype) ? "float" : own_type(dtype); }

/// Lines along one axis, one behind the other.
struct Lines {
  View view;
  Extent count = 1, length = 1;
};

View with_last(View view, std::size_t axis) {
  const Extent extent = view.extents[axis];
  const Amount stride = view.strides[axis];
  view.extents.erase(view.extents.begin() + static_cast<std::ptrdiff_t>(axis));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  view.extents.push_back(extent);
  view.strides.push_back(stride);
  return view;
}

Lines lines_of(TileCall& call, const View& view, std::size_t axis) {
  const View turned = with_last(view, axis);
  Lines lines{dense(call, turned), 1, turned.extents.back()};
  if (!lines.length.is(0))
    lines.count = product_of(std::span(turned.extents).first(turned.extents.size() - 1));
  if (lines.length.is(0)) lines.count = 0;
  if (lines.length.most * bytes_of(view.dtype) > most_line)
    call.c.refuse(operation(call.op()).name, view.dtype,
                  "a line of " + number(lines.length.most) + " elements along its axis does not fit into " +
                      number(most_line) + " bytes of the unified buffer; work on shorter tiles",
                  call.statement.location);
  return lines;
}

/// Where the result's lines are written: the result itself, or memory from which they are turned back.
struct Target {
  View view, turned;
  bool turns = false;
};

Target target_of(TileCall& call, std::size_t axis) {
  Target target;
  target.turned = with_last(call.result, axis);
  target.turns = axis + 1 != call.result.extents.size() || !call.result.is_dense();
  target.view = call.result;
  if (target.turns) target.view = new_view(call, target.turned);
  return target;
}

void finish(TileCall& call, const Target& target) {
  if (target.turns) copy(call, target.turned, target.view);
}

/// A buffer of the unified buffer as elements of a type.
struct Buffer {
  ObjectId object = -1;
  std::string text;
};
Buffer buffer(TileCall& call, std::int64_t elements, DType dtype) {
  const ObjectId object = call.c.scratch(std::max<std::int64_t>(elements, 1) * bytes_of(dtype));
  return {object, Context::name(object) + ".ReinterpretCast<" + moved_type(dtype) + ">()"};
}

/// What a function takes that moves lines in, walks them element by element, and moves lines out.
std::vector<Work> by_lines(std::initializer_list<View> in, const View& out, std::int64_t elements) {
  std::int64_t bytes = 0;
  for (const View& view : in) bytes += view.size().most * bytes_of(view.dtype);
  return {{Work::Unit::MoveIn, bytes},
          {Work::Unit::Scalar, elements},
          {Work::Unit::MoveOut, out.size().most * bytes_of(out.dtype)}};
}

/// The call of a function that finds the first index out of range, of each kind that `what` names; it goes on with
/// index 0, and the report says so.
void checked_call(TileCall& call, const std::vector<std::string>& what, std::string text,
                  std::vector<Touch> touches, std::vector<Work> work) {
  Context& c = call.c;
  c.function("BadIndex", functions::bad_index);
  c.open("{", false);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < what.size(); ++i) {
    found.push_back(c.names.fresh("bad"));
    c.program.nodes.push_back(
        {.kind = Node::Kind::Code, .text = "BadIndex " + found.back() + ";", .location = c.location});
    text += ", " + found.back();
  }
  c.call(text + ");", std::move(touches));
  c.takes(std::move(work));
  for (std::size_t i = 0; i < what.size(); ++i) {
    c.checks.push_back({fault_index, what[i], call.statement.location});
    c.program.nodes.push_back({.kind = Node::Kind::Code,
                               .text = "if (" + found[i] + ".found) Fault(workspace, " +
                                       number(static_cast<std::int64_t>(c.checks.size())) + ", " + found[i] +
                                       ".given, " + found[i] + ".bound, 0);",
                               .location = c.location});
  }
  c.close();
}

void argument(TileCall& call) {
  const View x = call.operand(0);
  const bool last = call.op() == Op::RowArgmax || call.op() == Op::RowArgmin;
  const bool largest = call.op() == Op::RowArgmax || call.op() == Op::ColArgmax;
  const std::size_t axis = x.extents.size() - (last ? 1 : 2);
  if (x.extents[axis].is(0)) return fill(call, call.result, "-1");
  const Lines lines = lines_of(call, x, axis);
  call.c.function("Line", functions::line);
  call.c.function("ArgLines", functions::arg_lines);
  const Buffer line = buffer(call, lines.length.most, x.dtype), found = buffer(call, 8, DType::Int32);
  // The result has one element a line, in the same order, whichever axis it was.
  const Target target = target_of(call, call.result.extents.size() - 1);
  call.c.call(
      "ArgLines<" + own_type(x.dtype) + ", " + number_type(x.dtype) + ", " + word(largest) + ">(" +
          text_of(target.view) + ", " + text_of(lines.view) + ", " + line.text + ", " + found.text + ", " +
          lines.count.text() + ", " + lines.length.text() + ");",
      {{target.view.object, true}, {lines.view.object, false}, {line.object, true}, {found.object, true}});
  call.c.takes(by_lines({lines.view}, target.view, lines.view.size().most + lines.count.most));
  finish(call, target);
}

void cumsum(TileCall& call) {
  const View x = call.operand(0);
  const std::size_t axis = TileCall::axis(call.expr.attributes.axis, x.extents.size());
  const Lines lines = lines_of(call, x, axis);
  const Target target = target_of(call, axis);
  call.c.function("Line", functions::line);
  const bool floats = is_floating(x.dtype);
  const std::string function = floats ? "SumFloatLines" : "SumLines";
  if (floats) {
    call.c.function("FloatOf", functions::float_of);
    call.c.function("DigitsOf", functions::float_parts);
    call.c.function("RunningSum", functions::running_sum);
  }
  call.c.function(function, floats ? functions::sum_float_lines : functions::sum_lines);
  const Buffer line = buffer(call, lines.length.most, x.dtype);
  call.c.call(function + "(" + text_of(target.view) + ", " + text_of(lines.view) + ", " + line.text + ", " +
                  lines.count.text() + ", " + lines.length.text() + ");",
              {{target.view.object, true}, {lines.view.object, false}, {line.object, true}});
  // Of a float, about as many instructions of the scalar pipe.
  call.c.takes(by_lines({lines.view}, target.view, (floats ? 40 : 2) * lines.view.size().most));
  finish(call, target);
}

void order(TileCall& call) {
  const View x = call.operand(0);
  const std::size_t axis = TileCall::axis(call.expr.attributes.axis, x.extents.size());
  const Extent kept = call.result.extents[axis];
  const Lines lines = lines_of(call, x, axis);
  const Target target = target_of(call, axis);
  call.c.function("Line", functions::line);
  call.c.function("OrderLines", functions::order_lines);
  const Buffer line = buffer(call, lines.length.most, x.dtype),
               a = buffer(call, lines.length.most, DType::Int32),
               b = buffer(call, lines.length.most, DType::Int32);
  call.c.call("OrderLines<" + own_type(x.dtype) + ", " + number_type(x.dtype) + ", " +
                  word(call.expr.attributes.flag) + ">(" + text_of(target.view) + ", " + text_of(lines.view) +
                  ", " + line.text + ", " + a.text + ", " + b.text + ", " + lines.count.text() + ", " +
                  lines.length.text() + ", " + kept.text() + ");",
              {{target.view.object, true},
               {lines.view.object, false},
               {line.object, true},
               {a.object, true},
               {b.object, true}});
  // A merge reads two positions and their elements, and writes one.
  const std::int64_t merges =
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(lines.length.most - 1, 0)));
  call.c.takes(by_lines({lines.view}, target.view, lines.view.size().most * (5 * merges + 1)));
  finish(call, target);
}

void gather(TileCall& call) {
  const View x = call.operand(0), indices = call.operand(1);
  const std::size_t axis = TileCall::axis(call.expr.attributes.axis, x.extents.size());
  const Lines from = lines_of(call, x, axis), at = lines_of(call, indices, axis);
  const Target target = target_of(call, axis);
  call.c.function("BadIndex", functions::bad_index);
  call.c.function("Line", functions::line);
  call.c.function("GatherLines", functions::gather_lines);
  const Buffer line = buffer(call, from.length.most, x.dtype),
               numbers = buffer(call, at.length.most, indices.dtype),
               result = buffer(call, at.length.most, x.dtype);
  // Where the axis has no element every index is outside, and no line is read.
  checked_call(call, {"gather"},
               "GatherLines<" + own_type(indices.dtype) + ">(" + text_of(target.view) + ", " +
                   text_of(from.view) + ", " + text_of(at.view) + ", " + line.text + ", " + numbers.text +
                   ", " + result.text + ", " + at.count.text() + ", " + from.length.text() + ", " +
                   at.length.text(),
               {{target.view.object, true},
                {from.view.object, false},
                {at.view.object, false},
                {line.object, true},
                {numbers.object, true},
                {result.object, true}},
               by_lines({from.view, at.view}, target.view, 3 * at.view.size().most));
  finish(call, target);
}

void scatter(TileCall& call) {
  const View x = call.operand(0), indices = call.operand(1), source = call.operand(2);
  const std::size_t axis = TileCall::axis(call.expr.attributes.axis, x.extents.size());
  const Lines lines = lines_of(call, x, axis), at = lines_of(call, indices, axis),
              given = lines_of(call, source, axis);
  const Target target = target_of(call, axis);
  const bool adds = call.op() == Op::ScatterAdd;
  call.c.function("BadIndex", functions::bad_index);
  call.c.function("Line", functions::line);
  call.c.function("ScatterLines", functions::scatter_lines);
  const Buffer line = buffer(call, lines.length.most, x.dtype),
               numbers = buffer(call, at.length.most, indices.dtype),
               values = buffer(call, at.length.most, x.dtype);
  const std::string sum = is_floating(x.dtype) ? "float" : "uint64_t";
  checked_call(
      call, {adds ? "scatter_add" : "scatter"},
      "ScatterLines<" + own_type(indices.dtype) + ", " + sum + ", " + word(adds) + ">(" +
          text_of(target.view) + ", " + text_of(lines.view) + ", " + text_of(at.view) + ", " +
          text_of(given.view) + ", " + line.text + ", " + numbers.text + ", " + values.text + ", " +
          (lines.count.is(0) ? at.count : lines.count).text() + ", " + lines.length.text() + ", " +
          at.length.text(),
      {{target.view.object, true},
       {lines.view.object, false},
       {at.view.object, false},
       {given.view.object, false},
       {line.object, true},
       {numbers.object, true},
       {values.object, true}},
      by_lines({lines.view, at.view, given.view}, target.view, (adds ? 4 : 3) * at.view.size().most));
  finish(call, target);
}

/// The region of tensor operand 0 that load_row and paged_gather read.
View tensor_view(TileCall& call) {
  Context& c = call.c;
  TensorInfo& tensor = c.tensors.at(call.expr.operands[0].variable);
  c.used_tensors.insert(tensor.object);
  View view{tensor.object, tensor.dtype, {}, {tensor.extents.begin(), tensor.extents.end()}, {}};
  for (const Amount& stride : tensor.strides) {
    if (!stride.is_constant())
      c.refuse(operation(call.op()).name, tensor.dtype,
               "strides that only the run tells; pass a dense tensor", call.statement.location);
    view.strides.push_back(stride);
  }
  const Expr &offsets = call.expr.operands[1], &shape = call.expr.operands[2];
  if (shape.operands.empty()) return view;
  for (std::size_t axis = 0; axis < view.extents.size(); ++axis) {
    const Expr& at = offsets.operands[axis];
    if (at.is_constant())
      view.at.add(view.strides[axis].times(at.value.as_int64()), "1");
    else
      view.at.add(view.strides[axis], c.index(at));
    const Expr& length = shape.operands[axis];
    view.extents[axis] = length.is_constant() ? Extent(length.value.as_int64())
                                              : c.extent({0, length.variable}, call.statement.location);
  }
  const auto dropped = static_cast<std::ptrdiff_t>(call.expr.attributes.axis);
  view.extents.erase(view.extents.begin(), view.extents.begin() + dropped);
  view.strides.erase(view.strides.begin(), view.strides.begin() + dropped);
  return view;
}

/// The same with rows (all axes behind the first `leading`) that lie side by side.
View with_dense_rows(TileCall& call, const View& view, std::size_t leading) {
  const std::vector<Amount> strides = dense_strides(view.extents);
  bool lies = true;
  for (std::size_t axis = leading; axis < view.extents.size(); ++axis)
    lies = lies && (view.extents[axis].is(1) || view.strides[axis] == strides[axis]);
  if (lies) return view;
  const View own = new_view(call, view);
  copy(call, own, view);
  return own;
}

void rows(TileCall& call, const View& from_any, const View& indices_any) {
  if (call.result.size().is(0) && indices_any.size().is(0)) return;
  const View from = with_dense_rows(call, from_any, 1), indices = dense(call, indices_any);
  const Extent count = indices_any.size(), row = product_of(std::span(from.extents).subspan(1));
  const Target target = target_of(call, call.result.extents.size() - 1);
  const std::string type = moved_type(from.dtype);
  call.c.function("CopyRows", copy_rows);
  call.c.function("BadIndex", functions::bad_index);
  call.c.function("Line", functions::line);
  call.c.function("GatherRows", functions::gather_rows);
  const Buffer numbers = buffer(call, std::min<std::int64_t>(count.most, 1024), indices.dtype),
               elements = buffer(call, std::min<std::int64_t>(row.most, most_line / bytes_of(from.dtype)),
                                 from.dtype);
  checked_call(call, {"gather_row"},
               "GatherRows<" + own_type(indices.dtype) + ">(" + text_of(target.view) + ", " + text_of(from) +
                   ", " + text_of(indices) + ", " + numbers.text + ", " + elements.text + ", " +
                   count.text() + ", " + row.text() + ", " + from.strides[0].text() + ", " +
                   from.extents[0].text(),
               {{target.view.object, true},
                {from.object, false},
                {indices.object, false},
                {numbers.object, true},
                {elements.object, true}},
               by_lines({call.result, indices}, call.result, count.most));
  finish(call, target);
}

void pages(TileCall& call) {
  Context& c = call.c;
  const View from = with_dense_rows(call, tensor_view(call), 2), table = dense(call, call.operand(3));
  const bool each = call.expr.operands[4].type.is_tile();
  if (call.result.size().is(0)) return;
  const std::size_t leading = table.extents.size() - 1;
  const Extent entries = table.extents.back(), count = call.result.extents[leading];
  const Extent sequences = product_of(std::span(table.extents).first(leading));
  const Extent row = product_of(std::span(call.result.extents).subspan(leading + 1));
  const Target target = target_of(call, call.result.extents.size() - 1);
  c.function("CopyRows", copy_rows);
  c.function("FillRows", fill_rows);
  c.function("BadIndex", functions::bad_index);
  c.function("Line", functions::line);
  c.function("GatherPages", functions::gather_pages);
  const Buffer numbers = buffer(call, entries.most, table.dtype),
               elements = buffer(call, std::min<std::int64_t>(row.most, most_line / bytes_of(from.dtype)),
                                 from.dtype);
  std::vector<Touch> touches{{target.view.object, true},
                             {from.object, false},
                             {table.object, false},
                             {numbers.object, true},
                             {elements.object, true}};
  std::string lengths = "OneLength{" + (each ? std::string() : c.index(call.expr.operands[4])) + "}";
  if (each) {
    const View all = dense(call, call.operand(4));
    const Buffer held = buffer(call, sequences.most, all.dtype);
    c.call("LoadLine(" + held.text + ", " + text_of(all) + ", " + sequences.text() + ");",
           {{all.object, false}, {held.object, true}});
    c.takes({{Work::Unit::MoveIn, sequences.most * bytes_of(all.dtype)}});
    touches.push_back({held.object, false});
    lengths = "Lengths<" + own_type(all.dtype) + ", " + moved_type(all.dtype) + ">{" + held.text + "}";
  }
  const std::string where = "Pages{" + entries.text() + ", " + from.extents[1].text() + ", " +
                            from.extents[0].text() + ", " + from.strides[0].text() + ", " +
                            from.strides[1].text() + ", " + row.text() + "}";
  checked_call(call, {"paged_gather: block table", "paged_gather"},
               "GatherPages<" + own_type(table.dtype) + ">(" + text_of(target.view) + ", " + text_of(from) +
                   ", " + text_of(table) + ", " + lengths + ", " + numbers.text + ", " + elements.text +
                   ", " + where + ", " + sequences.text() + ", " + count.text() + ", " +
                   c.index(call.expr.operands[6]),
               std::move(touches), by_lines({call.result, table}, call.result, sequences.times(count).most));
  finish(call, target);
}

void write(TileCall& call) {
  Context& c = call.c;
  const View x = call.operand(0);
  if (x.object != call.result.object) copy(call, call.result, x);
  View element = call.result;
  const std::vector<Expr>& offsets = call.expr.operands[1].operands;
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    const Extent extent = element.extents[axis];
    const std::string at = c.index(offsets[axis]);
    const bool constant = offsets[axis].is_constant();
    if (!constant || !extent.is_constant())
      c.fault_if(at + " < 0 || " + at + " >= " + extent.text(), fault_index, call.statement.location,
                 "write: axis " + number(static_cast<std::int64_t>(axis)), at, extent.text());
    element.at.add(element.strides[axis].times(constant ? offsets[axis].value.as_int64() : 1),
                   constant ? "1" : at);
    element.extents[axis] = 1;
  }
  fill(call, element, c.scalar(call.expr.operands[2]));
}

}  // namespace

void lower_index(TileCall& call) {
  if (call.op() == Op::Write) return write(call);
  if (call.op() == Op::GatherRow) return rows(call, call.operand(0), call.operand(1));
  if (call.op() == Op::LoadRow) return rows(call, tensor_view(call), call.operand(3));
  if (call.op() == Op::PagedGather) return pages(call);
  const bool reads_indices = call.op() == Op::Scatter || call.op() == Op::ScatterAdd;
  if (call.result.size().is(0) && !reads_indices) return;
  switch (call.op()) {
    case Op::RowArgmax:
    case Op::RowArgmin:
    case Op::ColArgmax:
    case Op::ColArgmin: return argument(call);
    case Op::Cumsum: return cumsum(call);
    case Op::Gather: return gather(call);
    case Op::Scatter:
    case Op::ScatterAdd: return scatter(call);
    default: return order(call);
  }
}

}  // namespace trilith::codegen::ascendc
