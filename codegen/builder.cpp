#include "codegen/builder.hpp"

#include "codegen/remote.hpp"

#include <utility>

namespace trilith::codegen::build {
namespace {

Expr node(Op op, Type type, std::vector<Expr> operands) {
  Expr expression;
  expression.op = op;
  expression.type = std::move(type);
  expression.operands = std::move(operands);
  return expression;
}

Type list_type() {
  Type type;
  type.kind = TypeKind::List;
  type.dtype = DType::Int64;
  return type;
}

Type tensor_type(DType dtype) {
  Type type;
  type.kind = TypeKind::Tensor;
  type.dtype = dtype;
  type.any_shape = true;
  return type;
}

/// The operand whose dtype the result has: conditions and literals do not decide.
const Expr* deciding_operand(Op op, const std::vector<Expr>& operands) {
  const Expr* found = nullptr;
  for (std::size_t i = op == Op::Where || op == Op::Conditional ? 1 : 0; i < operands.size(); ++i)
    if (found == nullptr || (found->literal && !operands[i].literal)) found = &operands[i];
  return found;
}

Type type_of_call(Op op, const std::vector<Expr>& operands) {
  if (op == Op::Print || op == Op::Check || operation(op).group == Group::Synchronise) return {};
  if (operation(op).group == Group::Identity) return Type::scalar(DType::Int32);
  const Expr* deciding = deciding_operand(op, operands);
  if (deciding == nullptr) return {};
  bool has_tile = false;
  for (const Expr& operand : operands) has_tile = has_tile || operand.type.is_tile();
  Type type = has_tile ? Type::tile(deciding->type.dtype) : Type::scalar(deciding->type.dtype);
  type.any_dtype = deciding->type.any_dtype;
  if (operation(op).group == Group::Compare) {
    type.dtype = DType::Bool;
    type.any_dtype = false;
  }
  return type;
}

}  // namespace

Item::Item(std::int64_t value) : expression(integer(value)) {}

Expr constant(Constant value) {
  Expr expression = node(Op::Constant, Type::scalar(value.dtype), {});
  expression.value = value;
  return expression;
}

Expr literal(double value) {
  Expr expression = constant(Constant::of(value));
  expression.literal = true;
  return expression;
}

Expr literal(int value) {
  Expr expression = constant(Constant::of(static_cast<std::int32_t>(value)));
  expression.literal = true;
  return expression;
}

Expr list(const Items& items) {
  std::vector<Expr> operands;
  for (const Item& item : items) operands.push_back(item.expression);
  return node(Op::List, list_type(), std::move(operands));
}

Expr call(Op op, std::vector<Expr> operands) {
  Type type = type_of_call(op, operands);
  return node(op, std::move(type), std::move(operands));
}

Expr cast(DType to, Expr operand, CastMode mode) {
  Type type = operand.type.is_tile() ? Type::tile(to) : Type::scalar(to);
  Expr expression = node(Op::Cast, std::move(type), {std::move(operand)});
  expression.attributes.mode = mode;
  return expression;
}

Expr tile_call(Op op, std::vector<Expr> operands, const Attributes& attributes, std::optional<DType> dtype) {
  Type type = Type::tile(dtype.value_or(DType::Float32));
  if (!dtype)
    for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand)
      if (operand->type.is_tile()) {
        type.dtype = operand->type.dtype;
        type.any_dtype = operand->type.any_dtype;
      }
  Expr expression = node(op, std::move(type), std::move(operands));
  expression.attributes = attributes;
  return expression;
}

Expr read(Expr tile, const Items& offsets) {
  const DType dtype = tile.type.dtype;
  return node(Op::Read, Type::scalar(dtype), {std::move(tile), list(offsets)});
}

Expr load(Expr tensor, const Items& offsets, const Items& shape) {
  Type type = Type::tile(tensor.type.dtype);
  type.any_dtype = tensor.type.any_dtype;
  return node(Op::Load, std::move(type), {std::move(tensor), list(offsets), list(shape)});
}

Expr load(Expr tensor) { return load(std::move(tensor), {}, {}); }

Expr remote(Op op, std::vector<Expr> operands, const Attributes& attributes) {
  Type type;
  if (is_rank_scalar(op)) type = Type::scalar(DType::Int32);
  if (op == Op::RemoteLoad) type = Type::tile(operands.at(0).type.dtype);
  Expr expression = node(op, std::move(type), std::move(operands));
  expression.attributes = attributes;
  return expression;
}

Expr load(Expr tensor, const Items& offsets, const Items& shape, bool clamp, const Items& valid) {
  Expr expression = load(std::move(tensor), offsets, shape);
  expression.attributes.clamp = clamp;
  if (!valid.empty()) expression.operands.push_back(list(valid));
  return expression;
}

Expr set_valid(Expr tile, const Items& valid) {
  Type type = tile.type;
  return node(Op::SetValid, std::move(type), {std::move(tile), list(valid)});
}

Expr fillpad(Expr tile, Fill fill) {
  Type type = tile.type;
  Expr expression = node(Op::Fillpad, std::move(type), {std::move(tile)});
  expression.attributes.fill = fill;
  return expression;
}

Expr valid(Expr tile, std::int64_t axis) {
  return node(Op::Valid, Type::scalar(DType::Int64), {std::move(tile), integer(axis)});
}

Expr full(DType dtype, const Items& shape, Expr element) {
  return node(Op::Full, Type::tile(dtype), {list(shape), std::move(element)});
}

Expr slice(Expr tensor, const Items& offsets, const Items& shape) {
  Type type = tensor_type(tensor.type.dtype);
  type.any_dtype = tensor.type.any_dtype;
  return node(Op::Slice, std::move(type), {std::move(tensor), list(offsets), list(shape)});
}

Expr index(Expr tensor, const Item& position) {
  Type type = tensor_type(tensor.type.dtype);
  type.any_dtype = tensor.type.any_dtype;
  return node(Op::Index, std::move(type), {std::move(tensor), position.expression});
}

Expr dim(Expr operand, std::int64_t axis) {
  return node(Op::Dim, Type::scalar(DType::Int64), {std::move(operand), integer(axis)});
}

Expr rank(Expr operand) { return node(Op::Rank, Type::scalar(DType::Int64), {std::move(operand)}); }

KernelBuilder::KernelBuilder(std::string name, std::string file) : open_(1) {
  kernel_.name = std::move(name);
  kernel_.files.push_back(std::move(file));
  kernel_.location = next_location();
}

SourceLocation KernelBuilder::next_location() { return {0, line_++, 3}; }

VariableId KernelBuilder::add_variable(std::string name, Type type, VariableKind kind) {
  kernel_.variables.push_back({std::move(name), std::move(type), kind, {0, line_, 3}});
  return static_cast<VariableId>(kernel_.variables.size() - 1);
}

Expr KernelBuilder::use(VariableId id) const {
  Expr expression = node(Op::Variable, kernel_.variables[static_cast<std::size_t>(id)].type, {});
  expression.variable = id;
  return expression;
}

Expr KernelBuilder::add_parameter(std::string name, Type type, Access access, bool specialised) {
  const VariableId id = add_variable(std::move(name), std::move(type), VariableKind::Parameter);
  kernel_.parameters.push_back({id, access, specialised});
  return use(id);
}

Expr KernelBuilder::tensor(std::string name, Access access, DType dtype) {
  return add_parameter(std::move(name), tensor_type(dtype), access, false);
}

Expr KernelBuilder::tensor(std::string name, Access access, DType dtype, std::vector<Dim> shape) {
  Type type = tensor_type(dtype);
  type.any_shape = false;
  type.shape = std::move(shape);
  return add_parameter(std::move(name), std::move(type), access, false);
}

Expr KernelBuilder::any_tensor(std::string name, Access access) {
  Type type = tensor_type(DType::Float32);
  type.any_dtype = true;
  return add_parameter(std::move(name), std::move(type), access, false);
}

Expr KernelBuilder::scalar(std::string name, DType dtype) {
  return add_parameter(std::move(name), Type::scalar(dtype), Access::In, false);
}

Expr KernelBuilder::const_scalar(std::string name, DType dtype) {
  return add_parameter(std::move(name), Type::scalar(dtype), Access::In, true);
}

Expr KernelBuilder::capture(std::string name, DType dtype) {
  const VariableId id = add_variable(std::move(name), Type::scalar(dtype), VariableKind::Capture);
  const auto size = static_cast<std::uint32_t>(size_of(dtype));
  const std::uint32_t offset = (kernel_.closure_size + size - 1) / size * size;
  kernel_.captures.push_back({id, offset});
  kernel_.closure_size = offset + size;
  return use(id);
}

Dim KernelBuilder::dynamic(std::string name) {
  return {0, add_variable(std::move(name), Type::scalar(DType::Int64), VariableKind::Extent)};
}

Expr KernelBuilder::local(std::string name, Type type) {
  return use(add_variable(std::move(name), std::move(type), VariableKind::Local));
}

Statement KernelBuilder::start(StatementKind kind) {
  Statement statement;
  statement.kind = kind;
  statement.location = next_location();
  return statement;
}

namespace {
/// Expressions made outside the builder know no place: they get that of their statement.
void place(Expr& expression, const SourceLocation& location) {
  if (expression.location.line == 0) expression.location = location;
  for (Expr& operand : expression.operands) place(operand, location);
}
}  // namespace

void KernelBuilder::add(Statement statement) {
  if (statement.kind == StatementKind::For) {
    for (Expr* part : {&statement.begin, &statement.end, &statement.step}) place(*part, statement.location);
  } else if (statement.kind <= StatementKind::While) {
    place(statement.value, statement.location);
  }
  open_.back().push_back(std::move(statement));
}

std::vector<Statement> KernelBuilder::statements_of(const Body& body) {
  open_.emplace_back();
  if (body) body();
  std::vector<Statement> statements = std::move(open_.back());
  open_.pop_back();
  return statements;
}

Expr KernelBuilder::let(std::string name, Expr value) {
  const Expr variable = local(std::move(name), value.type);
  assign(variable, std::move(value));
  return variable;
}

void KernelBuilder::assign(const Expr& variable, Expr value) {
  Statement statement = start(StatementKind::Assign);
  statement.variable = variable.variable;
  statement.value = std::move(value);
  add(std::move(statement));
}

void KernelBuilder::store(Expr tile, const Items& offsets, Expr tensor, Atomic atomic) {
  Statement statement = start(StatementKind::Evaluate);
  statement.value = node(Op::Store, {}, {std::move(tile), list(offsets), std::move(tensor)});
  statement.value.attributes.atomic = atomic;
  add(std::move(statement));
}

void KernelBuilder::print(Expr value) {
  Statement statement = start(StatementKind::Evaluate);
  statement.value = call(Op::Print, {std::move(value)});
  add(std::move(statement));
}

void KernelBuilder::check(Expr position, Expr size) {
  Statement statement = start(StatementKind::Evaluate);
  statement.value = call(Op::Check, {std::move(position), std::move(size)});
  add(std::move(statement));
}

Expr KernelBuilder::window(std::string name, DType dtype, std::vector<Dim> shape) {
  Expr made = tensor(std::move(name), Access::InOut, dtype, std::move(shape));
  kernel_.parameters.back().window = true;
  return made;
}

void KernelBuilder::remote(Op op, std::vector<Expr> operands, const Attributes& attributes) {
  Statement statement = start(StatementKind::Evaluate);
  statement.value = build::remote(op, std::move(operands), attributes);
  statement.value.location = statement.location;
  add(std::move(statement));
}

void KernelBuilder::synchronise(Op op) {
  Statement statement = start(StatementKind::Evaluate);
  statement.value = call(op, {});
  add(std::move(statement));
}

void KernelBuilder::if_(Expr condition, const Body& then, const Body& otherwise) {
  Statement statement = start(StatementKind::If);
  statement.value = std::move(condition);
  statement.body = statements_of(then);
  statement.else_body = statements_of(otherwise);
  add(std::move(statement));
}

void KernelBuilder::for_(std::string name, const Item& begin, const Item& end, const Item& step,
                         const std::function<void(Expr)>& body, LoopKind loop) {
  Statement statement = start(StatementKind::For);
  const Expr counter = local(std::move(name), Type::scalar(DType::Int64));
  statement.variable = counter.variable;
  statement.begin = begin.expression;
  statement.end = end.expression;
  statement.step = step.expression;
  statement.loop = loop;
  statement.stages = loop == LoopKind::Pipeline ? 2 : 1;
  statement.body = statements_of([&] { body(counter); });
  add(std::move(statement));
}

void KernelBuilder::while_(Expr condition, const Body& body, const Body& step) {
  Statement statement = start(StatementKind::While);
  statement.value = std::move(condition);
  statement.body = statements_of(body);
  statement.step_body = statements_of(step);
  add(std::move(statement));
}

void KernelBuilder::block(const std::function<void(std::int32_t)>& body) {
  Statement statement = start(StatementKind::Block);
  const std::int32_t number = ++blocks_;
  statement.block = number;
  statement.body = statements_of([&] { body(number); });
  add(std::move(statement));
}

void KernelBuilder::leave(std::int32_t block) {
  Statement statement = start(StatementKind::Leave);
  statement.block = block;
  add(std::move(statement));
}

void KernelBuilder::break_() { add(start(StatementKind::Break)); }
void KernelBuilder::continue_() { add(start(StatementKind::Continue)); }

void KernelBuilder::returns(const Expr& tensor) {
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
    if (kernel_.parameters[i].variable == tensor.variable)
      kernel_.returned_parameter = static_cast<std::int32_t>(i);
}

Kernel KernelBuilder::take() {
  kernel_.body = std::move(open_.front());
  return std::move(kernel_);
}

}  // namespace trilith::codegen::build
