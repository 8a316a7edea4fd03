// Which tiles are operands of calls, and where they lie.
#include "codegen/ascendc/call.hpp"

#include "codegen/ascendc/lowering.hpp"
#include "codegen/tile_call.hpp"

#include <algorithm>
#include <functional>

namespace trilith::codegen::ascendc {
namespace {

bool is_call(const Expr& value) { return is_tile_call(value.op); }

/// Its operands lie in device memory.
bool is_call(const Statement& statement) {
  return (statement.kind == StatementKind::Assign && is_call(statement.value)) ||
         (statement.kind == StatementKind::Evaluate && statement.value.op == Op::Print);
}

void for_each(const Expr& expression, const std::function<void(VariableId)>& function) {
  if (expression.op == Op::Variable) function(expression.variable);
  for (const Expr& operand : expression.operands) for_each(operand, function);
}

void for_each(std::span<const Statement> list, const std::function<void(const Statement&)>& function) {
  for (const Statement& statement : list) {
    function(statement);
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      for_each(*body, function);
  }
}

}  // namespace

std::string text_of(const View& view) { return view.at.of(Context::name(view.object)); }

void Context::remember_calls(std::span<const Statement> list) {
  for_each(list, [&](const Statement& statement) {
    if (!is_call(statement)) return;
    if (statement.kind == StatementKind::Assign) of_calls.insert(statement.variable);
    for_each(statement.value, [&](VariableId variable) {
      if (kernel.variables[variable].type.is_tile()) of_calls.insert(variable);
    });
  });
}

bool Context::is_operand_region(std::span<const Statement> list, std::size_t at) const {
  const Statement& statement = list[at];
  if (statement.kind != StatementKind::Assign || statement.value.op != Op::Load ||
      uses.writes[statement.variable] != 1)
    return false;
  const bool is_read = at + 1 < list.size() && list[at + 1].value.op == Op::Read &&
                       list[at + 1].value.operands[0].variable == statement.variable;
  if (!is_read && !of_calls.contains(statement.variable)) return false;
  const fuse::Region region = fuse::region_of(kernel, statement);
  const TensorInfo& tensor = tensors.at(region.tensor);
  if (tensor.access != Access::In || tensor.dtype != kernel.variables[statement.variable].type.dtype ||
      !std::ranges::all_of(tensor.strides, &Amount::is_constant))
    return false;
  int reads = 0;
  bool moved = false;
  for_each(list.subspan(at + 1), [&](const Statement& later) {
    // The scalar pipe reads one element where it lies.
    if (is_call(later) || (later.kind == StatementKind::Assign && later.value.op == Op::Read))
      for_each(later.value, [&](VariableId variable) { reads += variable == statement.variable ? 1 : 0; });
    for_each(*region.offsets, [&](VariableId variable) { moved = moved || later.variable == variable; });
  });
  return !moved && reads > 0 && reads == uses.reads[statement.variable];
}

bool Context::is_result_region(std::span<const Statement> list, std::size_t at) const {
  const Statement& statement = list[at];
  if (statement.kind != StatementKind::Assign || !is_call(statement.value) || at + 1 == list.size())
    return false;
  const Group group = operation(statement.value.op).group;
  if (group != Group::Linear && group != Group::Layout) return false;  // these write dense lines
  const VariableId variable = statement.variable;
  const Statement& next = list[at + 1];
  if (!fuse::is_store(next) || uses.reads[variable] != 1 || uses.writes[variable] != 1) return false;
  bool stores = false, reads = false;
  for_each(next.value.operands[0], [&](VariableId used) { stores = stores || used == variable; });
  const fuse::Region region = fuse::region_of(kernel, next);
  const TensorInfo& tensor = tensors.at(region.tensor);
  for_each(statement.value, [&](VariableId used) {
    reads = reads || used == region.tensor;
    const auto found = regions.find(used);
    reads = reads || (found != regions.end() && found->second.object == tensor.object);
  });
  return stores && next.value.operands[0].op == Op::Variable && !reads &&
         next.value.attributes.atomic == Atomic::None &&
         tensor.dtype == kernel.variables[variable].type.dtype &&
         std::ranges::all_of(tensor.strides,
                             [](const Amount& stride) { return stride.is_constant() && stride.factor > 0; });
}

View Context::region_view(const Statement& statement) {
  const fuse::Region region = fuse::region_of(kernel, statement);
  TensorInfo& tensor = tensors.at(region.tensor);
  used_tensors.insert(tensor.object);
  View view{tensor.object, tensor.dtype, {}, {}, {}};
  for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    const Expr& at = region.offsets->operands[axis];
    const Amount& stride = tensor.strides[axis];
    if (at.is_constant())
      view.at.add(stride.times(at.value.as_int64()), "1");
    else
      view.at.add(stride, index(at));
  }
  // Leading axes of one element may be dropped.
  const std::vector<Dim>& shape =
      fuse::is_store(statement) ? statement.value.operands[0].type.shape : statement.value.type.shape;
  view.extents = extents(shape, statement.location);
  for (std::size_t axis = tensor.strides.size() - view.extents.size(); axis < tensor.strides.size(); ++axis)
    view.strides.push_back(tensor.strides[axis]);
  return view;
}

View Context::view_of(VariableId variable) {
  if (const auto found = regions.find(variable); found != regions.end()) return found->second;
  const Home& home = home_of(variable);
  return {home.object, kernel.variables[variable].type.dtype, {}, home.extents, strides_of(home)};
}

/// What the typing rule leaves to the run.
void Context::run_time_checks(const Statement& statement) {
  for (const RunTimeCheck& check :
       tile_call_type(kernel, statement.value, place(statement.location)).checks) {
    const std::string a = index(check.a);
    if (check.kind == RunTimeCheck::NotNegative) {
      fault_if(a + " < 0", fault_shape, statement.location, check.what, a, "0");
      continue;
    }
    const std::string b = index(check.b);
    if (check.kind == RunTimeCheck::Equal) {
      fault_if(a + " != " + b, fault_shape, statement.location, check.what, a, b);
      continue;
    }
    const std::string c = index(check.c);
    fault_if(a + " < 0 || " + a + " > " + c + " - " + b, fault_range, statement.location, check.what, a, c,
             b);
  }
}

void Context::call(const std::string& text, std::vector<Touch> touches) {
  program.nodes.push_back(
      {.kind = Node::Kind::Call, .text = text, .touches = std::move(touches), .location = location});
}

void Context::signal(const std::string& text, std::vector<Touch> touches, WindowCall call) {
  calls.push_back(std::move(call));
  program.nodes.push_back({.kind = Node::Kind::Signal,
                           .text = text,
                           .touches = std::move(touches),
                           .call = static_cast<int>(calls.size()) - 1,
                           .location = location});
}

void Context::function(const std::string& name, const std::string& text) {
  if (std::ranges::none_of(functions, [&](const auto& known) { return known.first == name; }))
    functions.emplace_back(name, text);
}

ObjectId Context::scratch(std::int64_t bytes) {
  const ObjectId object = add_object({.kind = Object::Kind::Calc,
                                      .name = names.fresh("scratch"),
                                      .dtype = DType::UInt8,
                                      .bytes = round_up(bytes, 32)});
  program.nodes.push_back({.kind = Node::Kind::Declare, .object = object, .location = location});
  return object;
}

void Context::tile_call(const Statement& statement) {
  location = statement.location;
  const Expr& value = statement.value;
  const auto check = [&](DType dtype) {
    if (const std::string reason = refusal(value.op, dtype); !reason.empty())
      refuse(operation(value.op).name, dtype, reason, statement.location);
  };
  check(value.type.dtype);
  for (const Expr& operand : value.operands)
    if (operand.type.is_tile() || operand.type.is_tensor()) check(operand.type.dtype);
  comment(statement);
  run_time_checks(statement);
  check_room(value, statement.location);
  TileCall call{*this, statement, value, view_of(statement.variable)};
  switch (operation(value.op).group) {
    case Group::Linear: return lower_product(call);
    case Group::Layout: return lower_layout(call);
    case Group::Generate: return lower_generate(call);
    default: return lower_index(call);
  }
}

}  // namespace trilith::codegen::ascendc
