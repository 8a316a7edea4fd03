// Operations that move elements and change none: each is a copy of boxes.
#include "codegen/ascendc/call.hpp"

#include <utility>

namespace trilith::codegen::ascendc {
namespace {

/// The region of a view that begins at the offsets of a list.
View region(TileCall& call, View view, const Expr& offsets, const std::vector<Extent>& extents) {
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const Expr& offset = offsets.operands[axis];
    if (offset.is_constant())
      view.at.add(view.strides[axis].times(offset.value.as_int64()), "1");
    else
      view.at.add(view.strides[axis], call.c.index(offset));
  }
  view.extents = extents;
  return view;
}

void concat(TileCall& call) {
  const std::size_t axis = TileCall::axis(call.expr.attributes.axis, call.result.extents.size());
  View part = call.result;
  for (std::size_t i = 0; i < call.expr.operands.size(); ++i) {
    const View from = call.operand(i);
    part.extents = from.extents;
    copy(call, part, from);
    if (const Extent& length = from.extents[axis]; length.is_constant())
      part.at.add(part.strides[axis].times(length.most), "1");
    else
      part.at.add(part.strides[axis], length.text());
  }
}

void expand(TileCall& call) {
  View from = call.operand(0);
  std::vector<Amount> strides(call.result.extents.size() - from.extents.size(), Amount{0});
  for (std::size_t axis = 0; axis < from.extents.size(); ++axis)
    strides.push_back(from.extents[axis].is(1) ? Amount{0} : from.strides[axis]);
  from.strides = std::move(strides);
  from.extents = call.result.extents;
  copy(call, call.result, from);
}

void reshape(TileCall& call) {
  const bool reinterprets = call.op() == Op::Reinterpret;
  const View to = call.result;
  View from = dense(call, call.operand(0), reinterprets);
  if (reinterprets && stored_as(from.dtype) != stored_as(to.dtype)) {
    // The same memory as elements of the other dtype.
    Object other = call.c.program.objects[from.object];
    other.name = call.c.names.fresh(other.name + "_as_" + type_name(stored_as(to.dtype)));
    other.dtype = to.dtype;
    from.object = call.c.add_object(std::move(other));
  }
  from.dtype = to.dtype;
  from.extents = to.extents;
  from.strides = dense_strides(to.extents);
  copy(call, to, from);
}

}  // namespace

void lower_layout(TileCall& call) {
  const Attributes& attributes = call.expr.attributes;
  switch (call.op()) {
    case Op::Transpose: {
      View from = call.operand(0);
      const std::size_t a = TileCall::axis(attributes.axis, from.extents.size()),
                        b = TileCall::axis(attributes.axis2, from.extents.size());
      std::swap(from.extents[a], from.extents[b]);
      std::swap(from.strides[a], from.strides[b]);
      return copy(call, call.result, from);
    }
    case Op::TileSlice:
      return copy(call, call.result,
                  region(call, call.operand(0), call.expr.operands[1], call.result.extents));
    case Op::Assemble: {
      const View whole = call.operand(0), part = call.operand(1);
      if (whole.object != call.result.object) copy(call, call.result, whole);
      return copy(call, region(call, call.result, call.expr.operands[2], part.extents), part);
    }
    case Op::Concat: return concat(call);
    case Op::Pad: {
      const View from = call.operand(0);
      fill(call, call.result, call.c.scalar(call.expr.operands[3]));
      return copy(call, region(call, call.result, call.expr.operands[1], from.extents), from);
    }
    case Op::Expand: return expand(call);
    default: return reshape(call);
  }
}

}  // namespace trilith::codegen::ascendc
