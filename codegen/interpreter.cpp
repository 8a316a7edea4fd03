#include "codegen/interpreter.hpp"

#include "codegen/error.hpp"
#include "codegen/message.hpp"
#include "codegen/printer.hpp"
#include "codegen/reference.hpp"
#include "codegen/remote.hpp"

#include <map>
#include <optional>
#include <utility>

namespace trilith::codegen {
namespace {

/// What a variable or an expression holds.
using Held = std::variant<std::monostate, Value, TensorView>;

std::string text_of(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

/// How a statement ends: with the next one, or by leaving something.
struct Flow {
  enum Kind { Next, Break, Continue, Leave } kind = Next;
  std::int32_t block = 0;
};

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, const std::function<void(const std::string&)>& print, const Block& block)
      : kernel_(kernel), print_(print), block_(block), held_(kernel.variables.size()) {}

  void run(std::span<const Argument> arguments, std::span<const Value> captures) {
    location_ = kernel_.location;
    bind(arguments, captures);
    const Flow flow = execute(kernel_.body);
    if (flow.kind == Flow::Break || flow.kind == Flow::Continue || flow.block != 0)
      fail("a break, continue or leave has nothing to leave");
  }

 private:
  // ------------------------------------------------------------------------------------------- errors

  pl::Location place() const { return location_of(kernel_, location_); }
  [[noreturn]] void fail(const std::string& what) const {
    throw pl::InternalError("kernel '" + kernel_.name + "': " + what + "; please report this", place());
  }

  /// Operations without a place of their own (`full`) report the expression's.
  template <class Call>
  auto placed(const Call& call) const {
    try {
      return call();
    } catch (const pl::ShapeError& error) {
      if (error.location().line != 0) throw;
      throw pl::ShapeError(error.what(), place());
    } catch (const pl::DtypeError& error) {
      if (error.location().line != 0) throw;
      throw pl::DtypeError(error.what(), place());
    }
  }

  // ------------------------------------------------------------------------------------------- binding

  const Variable& variable(VariableId id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= kernel_.variables.size())
      fail("there is no variable " + std::to_string(id));
    return kernel_.variables[static_cast<std::size_t>(id)];
  }
  Held& held(VariableId id) {
    (void)variable(id);
    return held_[static_cast<std::size_t>(id)];
  }

  void bind(std::span<const Argument> arguments, std::span<const Value> captures) {
    if (arguments.size() != kernel_.parameters.size())
      throw pl::UserError("kernel '" + kernel_.name + "' takes " + std::to_string(kernel_.parameters.size()) +
                              " arguments, not " + std::to_string(arguments.size()),
                          place());
    if (captures.size() != kernel_.captures.size())
      fail(std::to_string(captures.size()) + " values for " + std::to_string(kernel_.captures.size()) +
           " captures");
    for (std::size_t i = 0; i < arguments.size(); ++i) bind(kernel_.parameters[i].variable, arguments[i]);
    for (std::size_t i = 0; i < captures.size(); ++i) bind(kernel_.captures[i].variable, captures[i]);
  }

  void bind(VariableId id, const Argument& argument) {
    const Variable& parameter = variable(id);
    const bool is_tensor = std::holds_alternative<TensorView>(argument);
    if (is_tensor != parameter.type.is_tensor())
      throw pl::UserError("argument '" + parameter.name + "' must be a " + (is_tensor ? "scalar" : "tensor"),
                          place());
    const DType given = is_tensor ? std::get<TensorView>(argument).dtype : std::get<Value>(argument).dtype;
    if (!parameter.type.any_dtype && given != parameter.type.dtype)
      throw pl::DtypeError("argument '" + parameter.name + "' is " + std::string(name_of(given)) +
                               " and must be " + std::string(name_of(parameter.type.dtype)),
                           place());
    if (is_tensor)
      bind_extents(parameter, std::get<TensorView>(argument));
    else if (std::get<Value>(argument).bytes.size() != size_of(given))
      throw pl::UserError("argument '" + parameter.name + "' must be a scalar, not a tile", place());
    std::visit([&](const auto& value) { held(id) = value; }, argument);
  }

  void bind_extents(const Variable& parameter, const TensorView& tensor) {
    const Type& type = parameter.type;
    if (type.any_shape) return;
    const auto refuse = [&](const std::string& why) {
      throw pl::ShapeError("argument '" + parameter.name + "' has shape " + text_of(tensor.extents) +
                               ", but " + to_text(kernel_, type) + " is expected" + why,
                           place());
    };
    if (type.shape.size() != tensor.extents.size()) refuse("");
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
      const Dim& dim = type.shape[axis];
      const std::int64_t extent = tensor.extents[axis];
      if (dim.is_constant()) {
        if (dim.extent != extent) refuse("");
        continue;
      }
      Held& bound = held(dim.variable);
      if (std::holds_alternative<std::monostate>(bound)) {
        bound = Value::scalar(extent);
        bound_by_[dim.variable] = parameter.name;
      } else if (std::get<Value>(bound).get<std::int64_t>() != extent) {
        refuse(", where " + variable(dim.variable).name + " is " +
               std::to_string(std::get<Value>(bound).get<std::int64_t>()) + " by argument '" +
               bound_by_[dim.variable] + "'");
      }
    }
  }

  // ------------------------------------------------------------------------------------------- expressions

  Held evaluate(const Expr& expr) {
    const SourceLocation outer = location_;
    if (expr.location.line != 0) location_ = expr.location;
    Held result = evaluate_here(expr);
    location_ = outer;
    return result;
  }

  Held evaluate_here(const Expr& expr) {
    switch (expr.op) {
      case Op::Constant: return constant(expr.value);
      case Op::Variable: return use(expr.variable);
      case Op::List: fail("a list stands where a value is expected");
      case Op::Conditional: return conditional(expr);
      case Op::Dim:
      case Op::Valid: return dim(expr);
      case Op::SetValid:
        return reference::set_valid(value(expr.operands[0]), list(expr.operands[1]), place());
      case Op::Fillpad: return reference::fillpad(value(expr.operands[0]), expr.attributes.fill, place());
      case Op::Rank: return Value::scalar(static_cast<std::int64_t>(shape_of(expr.operands[0]).size()));
      case Op::Slice:
        return reference::slice(tensor(expr.operands[0]), list(expr.operands[1]), list(expr.operands[2]),
                                place());
      case Op::Index: {
        const TensorView view = tensor(expr.operands[0]);
        return reference::index(view, integer(expr.operands[1]), place());
      }
      case Op::Full: return full(expr);
      case Op::Load: return load(expr);
      case Op::Store: store(expr); return {};
      case Op::Print:
        if (print_)
          print_(reference::to_text(value(expr.operands[0])));
        else
          (void)value(expr.operands[0]);
        return {};
      case Op::Check: {
        const std::int64_t position = integer(expr.operands[0]), size = integer(expr.operands[1]);
        if (position < 0 || position >= size)
          throw pl::ShapeError(message::position(position, size), place());
        return {};
      }
      case Op::Read: {
        const Value tile = value(expr.operands[0]);
        return reference::read(tile, list(expr.operands[1]), place());
      }
      case Op::BlockIdx: return Value::scalar(block_.index);
      case Op::BlockNum: return Value::scalar(block_.count);
      case Op::SubblockIdx: return Value::scalar(std::int32_t{0});
      case Op::BarrierAll:
      case Op::PipeBarrier: return {};
      default:
        if (is_remote(expr.op))
          throw pl::UserError("'" + std::string(operation(expr.op).name) +
                                  "' needs other ranks: run the kernel in a pl::jit.host program, with one "
                                  "device a rank",
                              place());
        return is_tile_call(expr.op) ? tile_call(expr) : apply(expr);
    }
  }

  static Value constant(const Constant& constant) {
    Value result(constant.dtype, {});
    result.is_scalar = true;
    std::memcpy(result.bytes.data(), &constant.bits, result.bytes.size());  // little end first
    return result;
  }

  const Held& use(VariableId id) {
    const Held& found = held(id);
    if (std::holds_alternative<std::monostate>(found))
      throw pl::UserError("'" + variable(id).name + "' is used before it has a value", place());
    return found;
  }

  Value value(const Expr& expr) {
    Held result = evaluate(expr);
    if (auto* found = std::get_if<Value>(&result)) return std::move(*found);
    fail("'" + to_text(kernel_, expr) + "' is no tile or scalar");
  }
  TensorView tensor(const Expr& expr) {
    Held result = evaluate(expr);
    if (auto* found = std::get_if<TensorView>(&result)) return std::move(*found);
    fail("'" + to_text(kernel_, expr) + "' is no tensor");
  }

  std::int64_t integer(const Expr& expr) {
    const Value scalar = value(expr);
    if (!scalar.is_scalar || is_floating(scalar.dtype))
      throw pl::ShapeError("an offset, extent or bound must be an integer scalar, and '" +
                               to_text(kernel_, expr) + "' is " + reference::to_text(scalar),
                           place());
    return reference::apply(Op::Cast, std::span(&scalar, 1), {}, DType::Int64, place()).get<std::int64_t>();
  }
  Shape list(const Expr& expr) {
    if (expr.op != Op::List) fail("'" + to_text(kernel_, expr) + "' is no list");
    Shape result;
    for (const Expr& item : expr.operands) result.push_back(integer(item));
    return result;
  }
  bool condition(const Expr& expr) {
    const Value scalar = value(expr);
    if (!scalar.is_scalar)
      throw pl::ShapeError("a condition must be a scalar, and '" + to_text(kernel_, expr) +
                               "' is a tile of shape " + text_of(scalar.shape) +
                               "; use pl::where, or reduce it first",
                           place());
    return reference::apply(Op::Cast, std::span(&scalar, 1), {}, DType::Bool, place()).get<bool>();
  }
  Shape shape_of(const Expr& expr) {
    Held result = evaluate(expr);
    if (auto* view = std::get_if<TensorView>(&result)) return view->extents;
    return std::get<Value>(result).whole_shape();
  }

  Held conditional(const Expr& expr) {
    const Expr& side = expr.operands[condition(expr.operands[0]) ? 1 : 2];
    Held result = evaluate(side);
    if (auto* scalar = std::get_if<Value>(&result);
        scalar != nullptr && side.literal && expr.type.is_scalar())
      return reference::literal_as(*scalar, expr.type.dtype, "?:", place());
    return result;
  }

  Value dim(const Expr& expr) {
    const Shape shape = expr.op == Op::Valid ? value(expr.operands[0]).shape : shape_of(expr.operands[0]);
    const std::int64_t axis = integer(expr.operands[1]);
    if (axis < 0 || static_cast<std::size_t>(axis) >= shape.size())
      throw pl::ShapeError(
          "dim(" + std::to_string(axis) + ") of shape " + text_of(shape) + ": there is no such axis",
          place());
    return Value::scalar(shape[static_cast<std::size_t>(axis)]);
  }

  Value full(const Expr& expr) {
    const Shape shape = list(expr.operands[0]);
    Value element = value(expr.operands[1]);
    if (expr.operands[1].literal && !expr.type.any_dtype)
      element = reference::literal_as(element, expr.type.dtype, "full", place());
    return placed([&] { return reference::full(shape, element); });
  }

  /// Specialised: what was `x[i]` in the kernel is an offset, and the mistake is still the index's.
  void check_indices(const Expr& expr, const TensorView& view, const Shape& offsets) const {
    for (std::size_t axis = 0; axis < offsets.size(); ++axis)
      if ((expr.attributes.indexed >> axis & 1) != 0 &&
          (offsets[axis] < 0 || offsets[axis] >= view.extents[axis]))
        throw pl::ShapeError(message::leading_index(offsets[axis], view.extents[axis]), place());
  }

  Value load(const Expr& expr) {
    const TensorView view = tensor(expr.operands[0]);
    Shape offsets = list(expr.operands[1]);
    Shape shape = list(expr.operands[2]);
    if (offsets.empty() && shape.empty()) {
      offsets.assign(view.extents.size(), 0);
      shape = view.extents;
    }
    check_indices(expr, view, offsets);
    std::optional<Shape> valid;
    if (expr.operands.size() > 3) valid = list(expr.operands[3]);
    Value result = reference::load(view, offsets, shape, expr.attributes.clamp, valid, place());
    // Specialised: a load through a view that drops leading axes names the parameter's, each of extent 1.
    if (!expr.type.any_shape)
      while (result.shape.size() > expr.type.shape.size() && result.shape.front() == 1)
        result.shape.erase(result.shape.begin());
    return result;
  }

  void store(const Expr& expr) {
    Value tile = value(expr.operands[0]);
    Shape offsets = list(expr.operands[1]);
    const TensorView view = tensor(expr.operands[2]);
    if (offsets.empty()) offsets.assign(view.extents.size(), 0);
    if (kernel_.specialised && !tile.is_scalar)
      while (tile.shape.size() < view.extents.size()) tile.shape.insert(tile.shape.begin(), 1);
    check_indices(expr, view, offsets);
    reference::store(tile, offsets, view, place(), expr.attributes.atomic);
  }

  /// Literals alone have C++'s common type: the floating one, else the wider.
  static DType common_dtype(std::span<const Value> literals) {
    DType common = literals.empty() ? DType::Float32 : literals[0].dtype;
    for (const Value& literal : literals) {
      const bool wider = size_of(literal.dtype) > size_of(common);
      if (is_floating(literal.dtype) ? !is_floating(common) || wider : !is_floating(common) && wider)
        common = literal.dtype;
    }
    return common;
  }

  Value tile_call(const Expr& expr) {
    std::vector<reference::CallOperand> operands;
    std::optional<DType> beside;
    for (const Expr& operand : expr.operands) {
      if (operand.op == Op::List) {
        operands.emplace_back(list(operand));
        continue;
      }
      if (operand.type.is_tensor()) {
        operands.emplace_back(tensor(operand));
        continue;
      }
      operands.emplace_back(value(operand));
      if (!beside && operand.type.is_tile()) beside = std::get<Value>(operands.back()).dtype;
    }
    const std::optional<DType> wanted = expr.type.any_dtype ? std::nullopt : std::optional(expr.type.dtype);
    if (!beside) beside = wanted;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (expr.operands[i].literal && beside)
        operands[i] =
            reference::literal_as(std::get<Value>(operands[i]), *beside, operation(expr.op).name, place());
    return reference::tile_call(expr.op, operands, expr.attributes, wanted, place());
  }

  Value apply(const Expr& expr) {
    std::vector<Value> operands;
    operands.reserve(expr.operands.size());
    for (const Expr& operand : expr.operands) operands.push_back(value(operand));
    const std::size_t first = expr.op == Op::Where ? 1 : 0;
    std::optional<DType> beside;
    for (std::size_t i = first; i < operands.size() && !beside; ++i)
      if (!expr.operands[i].literal) beside = operands[i].dtype;
    if (!beside) beside = common_dtype(std::span(operands).subspan(first));
    for (std::size_t i = first; i < operands.size(); ++i)
      if (expr.operands[i].literal)
        operands[i] = reference::literal_as(operands[i], *beside, operation(expr.op).name, place());
    return reference::apply(expr.op, operands, expr.attributes, expr.type.dtype, place());
  }

  // ------------------------------------------------------------------------------------------- statements

  Flow execute(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) {
      location_ = statement.location;
      const Flow flow = execute(statement);
      if (flow.kind != Flow::Next) return flow;
    }
    return {};
  }

  Flow execute(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::Assign: assign(statement); return {};
      case StatementKind::Evaluate: (void)evaluate(statement.value); return {};
      case StatementKind::If:
        return execute(condition(statement.value) ? statement.body : statement.else_body);
      case StatementKind::For: return run_for(statement);
      case StatementKind::While: return run_while(statement);
      case StatementKind::Block: {
        const Flow flow = execute(statement.body);
        const bool here = flow.kind == Flow::Leave && flow.block == statement.block;
        return here ? Flow{} : flow;
      }
      case StatementKind::Leave: return {Flow::Leave, statement.block};
      case StatementKind::Break: return {Flow::Break, 0};
      case StatementKind::Continue: return {Flow::Continue, 0};
    }
    fail("an unknown statement");
  }

  void assign(const Statement& statement) {
    Held result = evaluate(statement.value);
    const Type& type = variable(statement.variable).type;
    if (auto* scalar = std::get_if<Value>(&result)) {
      if (scalar->is_scalar && statement.value.literal && type.is_scalar())
        *scalar = reference::literal_as(*scalar, type.dtype, "=", place());
      check_type(*scalar, statement.variable);
    }
    held(statement.variable) = std::move(result);
  }

  /// The declared type of a variable is the front end's or the specialiser's word: what is computed must
  /// agree.
  void check_type(const Value& result, VariableId id) {
    const Type& type = variable(id).type;
    if (type.is_tile() != !result.is_scalar || (!type.any_dtype && type.dtype != result.dtype))
      fail("'" + variable(id).name + "' is " + to_text(kernel_, type) + " and is given " +
           std::string(name_of(result.dtype)) + (result.is_scalar ? " scalar" : " tile"));
    if (!type.is_tile() || type.any_shape) return;
    Shape declared;
    bool at_run_time = false;
    for (const Dim& dim : type.shape) {
      at_run_time = at_run_time || !dim.is_constant();
      declared.push_back(dim.is_constant() ? dim.extent
                                           : std::get<Value>(use(dim.variable)).get<std::int64_t>());
    }
    if (declared == result.shape) return;
    const std::string what = "'" + variable(id).name + "' is " + to_text(kernel_, type) + ", here " +
                             text_of(declared) + ", and is given shape " + text_of(result.shape);
    if (!at_run_time) fail(what);
    throw pl::ShapeError(what + "; run-time extents that meet must be equal", place());
  }

  Flow run_for(const Statement& statement) {
    std::int64_t counter = integer(statement.begin);
    const std::int64_t end = integer(statement.end);
    const std::int64_t step = integer(statement.step);
    if (step == 0) throw pl::UserError(message::zero_step, place());
    while (step > 0 ? counter < end : counter > end) {
      held(statement.variable) = Value::scalar(counter);
      const Flow flow = execute(statement.body);
      if (flow.kind == Flow::Break) break;
      if (flow.kind == Flow::Leave) return flow;
      // In unsigned arithmetic, since neither the distance nor the next value need fit in 64 signed bits.
      const auto from = static_cast<std::uint64_t>(counter), to = static_cast<std::uint64_t>(end);
      const auto stride = static_cast<std::uint64_t>(step);
      if (step > 0 ? stride >= to - from : 0 - stride >= from - to) break;
      counter += step;
    }
    return {};
  }

  Flow run_while(const Statement& statement) {
    while (condition(statement.value)) {
      const Flow flow = execute(statement.body);
      if (flow.kind == Flow::Break) break;
      if (flow.kind == Flow::Leave) return flow;
      const Flow step = execute(statement.step_body);
      if (step.kind != Flow::Next) return step;
      location_ = statement.location;
    }
    return {};
  }

  const Kernel& kernel_;
  const std::function<void(const std::string&)>& print_;
  Block block_;
  std::vector<Held> held_;
  std::map<VariableId, std::string> bound_by_;
  SourceLocation location_;  ///< of what runs now
};

}  // namespace

void interpret(const Kernel& kernel, std::span<const Argument> arguments, std::span<const Value> captures,
               const std::function<void(const std::string&)>& print, const Block& block) {
  Interpreter(kernel, print, block).run(arguments, captures);
}

}  // namespace trilith::codegen
