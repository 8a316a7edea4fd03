#include "codegen/cpp_printer.hpp"

#include "codegen/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace trilith::codegen {
namespace {

constexpr const char* cast_modes[] = {"rint", "round", "floor", "ceil", "trunc", "odd"};

class CppPrinter {
 public:
  explicit CppPrinter(const Kernel& kernel) : kernel_(kernel) {}

  std::string print() {
    for (const Variable& variable : kernel_.variables)
      if (variable.kind == VariableKind::Extent)
        line("constexpr auto " + variable.name + " = pl::dynamic(\"" + variable.name + "\");");
    std::string parameters, captured, outer;
    for (const Parameter& parameter : kernel_.parameters) append(parameters, parameter_text(parameter));
    for (const ClosureField& field : kernel_.captures) {
      append(captured, name(field.variable));
      append(outer, cpp(variable(field.variable).type.dtype) + " " + name(field.variable));
    }
    line("auto " + kernel_.name + " = [](" + outer + ") {");
    line("  return pl::jit.incore([" + captured + "](" + parameters + ") {");
    depth_ = 2;
    statements(kernel_.body);
    if (kernel_.returned_parameter >= 0)
      line("return " +
           name(kernel_.parameters[static_cast<std::size_t>(kernel_.returned_parameter)].variable) + ";");
    depth_ = 0;
    line("  });");
    line("};");
    return std::move(text_);
  }

 private:
  [[noreturn]] static void cannot(const std::string& what) {
    throw pl::UserError("this kernel cannot be printed as C++: " + what);
  }

  void line(const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n";
  }
  static void append(std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  }
  [[nodiscard]] const Variable& variable(VariableId id) const {
    return kernel_.variables[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const std::string& name(VariableId id) const { return variable(id).name; }
  static std::string cpp(DType dtype) { return std::string(cpp_name_of(dtype)); }

  // ---------------------------------------------------------------------------------- declarations

  std::string parameter_text(const Parameter& parameter) {
    const Variable& declared = variable(parameter.variable);
    std::string type;
    if (declared.type.is_tensor()) {
      type = "pl::Tensor<" + (declared.type.any_dtype ? "" : cpp(declared.type.dtype));
      if (!declared.type.any_shape && declared.type.shape.empty()) type += ", pl::no_dims";
      if (!declared.type.any_shape)
        for (const Dim& dim : declared.type.shape)
          type += ", " + (dim.is_constant() ? std::to_string(dim.extent) : name(dim.variable));
      type += ">";
      if (parameter.window) cannot("a window");
      if (parameter.access == Access::Out) type = "pl::Out<" + type + ">";
      if (parameter.access == Access::InOut) type = "pl::InOut<" + type + ">";
    } else {
      type = (parameter.specialised ? "pl::Const<" : "pl::Scalar<") + cpp(declared.type.dtype) + ">";
    }
    return type + " " + declared.name;
  }

  /// A named extent is read from a tensor that has it.
  std::string extent_text(VariableId extent) {
    for (const Parameter& parameter : kernel_.parameters) {
      const Type& type = variable(parameter.variable).type;
      if (!type.is_tensor() || type.any_shape) continue;
      for (std::size_t axis = 0; axis < type.shape.size(); ++axis)
        if (type.shape[axis].variable == extent)
          return name(parameter.variable) + ".dim(" + std::to_string(axis) + ")";
    }
    cannot("no tensor has the extent " + name(extent));
  }

  // ---------------------------------------------------------------------------------- expressions

  static std::string number(const Constant& constant, bool literal) {
    if (constant.dtype == DType::Bool) return constant.bits != 0 ? "true" : "false";
    if (is_integer(constant.dtype)) {
      const std::int64_t value = constant.as_int64();
      // The smallest number is no literal: C++ reads a minus and a number that is too large.
      if (value == INT64_MIN) return "INT64_MIN";
      const std::string digits = std::to_string(value);
      return literal ? digits : cpp(constant.dtype) + "{" + digits + "}";
    }
    const double value = constant.as_double();
    if (!std::isfinite(value)) cannot("a constant that is not finite");
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    std::string text(digits, end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return literal || constant.dtype == DType::Float64
               ? text
               : "static_cast<" + cpp(constant.dtype) + ">(" + text + ")";
  }

  std::string list(const Expr& expr) {
    std::string items;
    for (const Expr& item : expr.operands)
      append(items, item.is_constant() ? number(item.value, true) : text(item));
    return "{" + items + "}";
  }

  /// What stands behind the operands: ", {.axis = 1}". An option that is not written here is no silent loss.
  static std::string options(const Expr& expr) {
    const Attributes& given = expr.attributes;
    if (given == Attributes{}) return "";
    Attributes known;
    std::string result;
    const auto field = [&](const char* name, const std::string& value) {
      append(result, "." + std::string(name) + " = " + value);
    };
    switch (expr.op) {
      case Op::Transpose:
        known.axis = given.axis;
        known.axis2 = given.axis2;
        result = ", " + std::to_string(given.axis) + ", " + std::to_string(given.axis2);
        break;
      case Op::Tri:
        known.upper = given.upper;
        result = ", true";
        break;
      case Op::MoveTo: known.memory = given.memory; break;
      case Op::Matmul:
      case Op::MatmulAcc:
      case Op::MatmulBias:
      case Op::BatchMatmul:
        known.trans_a = given.trans_a;
        known.trans_b = given.trans_b;
        if (given.trans_a) field("trans_a", "true");
        if (given.trans_b) field("trans_b", "true");
        result = ", {" + result + "}";
        break;
      case Op::SortIndices:
      case Op::TopkIndices: known.flag = given.flag; break;
      default: break;
    }
    if (takes_axis(expr.op)) known.axis = given.axis;
    if (given != known) cannot("the options of " + std::string(operation(expr.op).name));
    return result;
  }

  /// Their axis is written always: its default is not that of the attribute.
  static bool takes_axis(Op op) {
    switch (op) {
      case Op::Concat:
      case Op::Cumsum:
      case Op::Gather:
      case Op::Scatter:
      case Op::ScatterAdd:
      case Op::SortIndices:
      case Op::TopkIndices: return true;
      default: return operation(op).group == Group::Reduce;
    }
  }

  std::string text(const Expr& expr) {
    const auto operand = [&](std::size_t i) { return text(expr.operands[i]); };
    switch (expr.op) {
      case Op::Constant: return number(expr.value, expr.literal);
      case Op::Variable:
        return variable(expr.variable).kind == VariableKind::Extent ? extent_text(expr.variable)
                                                                    : name(expr.variable);
      case Op::List: return list(expr);
      case Op::Conditional: {
        // One type on both sides, else a pl::Scalar and a number convert to each other.
        const std::string type = cpp(expr.type.dtype);
        return "(" + operand(0) + " ? static_cast<" + type + ">(" + operand(1) + ") : static_cast<" + type +
               ">(" + operand(2) + "))";
      }
      case Op::Dim: return operand(0) + ".dim(" + number(expr.operands[1].value, true) + ")";
      case Op::Rank: return operand(0) + ".rank()";
      case Op::Write: cannot("an element written within an expression");
      case Op::LoadRow: return "pl::gather_row(" + whole(expr) + ", " + operand(3) + ")";
      case Op::PagedGather:
        return "pl::paged_gather(" + whole(expr) + ", " + operand(3) + ", " + operand(4) + ", " + operand(5) +
               ", {.start = " + operand(6) + "})";
      case Op::Slice:
        if (expr.operands[1].operands.empty()) cannot("a slice of a tensor without axes");
        return operand(0) + ".slice(" + operand(1) + ", " + operand(2) + ")";
      case Op::Index: return operand(0) + "[" + operand(1) + "]";
      case Op::Full: return "pl::full<" + cpp(expr.type.dtype) + ">(" + operand(0) + ", " + operand(1) + ")";
      case Op::Load:
        if (expr.operands[1].operands.empty() && expr.operands[2].operands.empty())
          return "pl::load(" + operand(0) + ")";
        return "pl::load(" + operand(0) + ", " + operand(1) + ", " + operand(2) + load_options(expr) + ")";
      case Op::Valid: return operand(0) + ".valid(" + number(expr.operands[1].value, true) + ")";
      case Op::Fillpad: {
        constexpr const char* pads[] = {"zero", "max", "min"};
        return "pl::fillpad(" + operand(0) + ", pl::Pad::" + pads[static_cast<int>(expr.attributes.fill)] +
               ")";
      }
      case Op::Cast:
        return "pl::cast<" + cpp(expr.type.dtype) + ">(" + operand(0) +
               ", {.mode = pl::CastMode::" + cast_modes[static_cast<int>(expr.attributes.mode)] + "})";
      case Op::Tri:
        return "pl::tri<" + cpp(expr.type.dtype) + ">(" + text(expr.operands[0].operands[0]) + ", " +
               text(expr.operands[0].operands[1]) + ", " + operand(1) + options(expr) + ")";
      case Op::TileSlice: return "pl::slice(" + operand(0) + ", " + operand(1) + ", " + operand(2) + ")";
      case Op::MoveTo: {
        constexpr const char* spaces[] = {"Vec", "Mat", "Left", "Right", "Acc", "Bias"};
        return "pl::move(" + operand(0) +
               ", pl::Memory::" + spaces[static_cast<int>(expr.attributes.memory)] + options(expr) + ")";
      }
      case Op::Concat: {
        std::string tiles;
        for (const Expr& tile : expr.operands) append(tiles, text(tile));
        return "pl::concat({" + tiles + "}, {.axis = " + std::to_string(expr.attributes.axis) + "}" +
               options(expr) + ")";
      }
      default: break;
    }
    if (operation(expr.op).group == Group::Remote) cannot("an operation on a window");
    std::string operands;
    for (const Expr& each : expr.operands)
      append(operands, each.is_constant() && each.literal ? literal(expr, each) : text(each));
    if (takes_axis(expr.op)) {
      std::string axis = "{.axis = " + std::to_string(expr.attributes.axis);
      if (expr.op == Op::SortIndices && expr.attributes.flag) axis += ", .descending = true";
      if (expr.op == Op::TopkIndices && !expr.attributes.flag) axis += ", .largest = false";
      append(operands, axis + "}");
    }
    // What no operand tells the dtype of is told it.
    const bool typed = expr.op == Op::Arange || expr.op == Op::Random || expr.op == Op::Reinterpret;
    return "pl::" + std::string(operation(expr.op).name) + (typed ? "<" + cpp(expr.type.dtype) + ">" : "") +
           "(" + operands + options(expr) + ")";
  }

  std::string load_options(const Expr& load) {
    std::string fields;
    if (load.attributes.clamp) append(fields, ".clamp = true");
    if (load.operands.size() > 3) append(fields, ".valid = " + text(load.operands[3]));
    return fields.empty() ? "" : ", {" + fields + "}";
  }

  /// The tensor of a call that takes all of it.
  std::string whole(const Expr& call) {
    if (!call.operands[1].operands.empty())
      cannot("a region of the tensor of " + std::string(operation(call.op).name));
    return text(call.operands[0]);
  }

  /// A literal takes the dtype of a tile beside it. Beside numbers alone C++ would take the wider type.
  static std::string literal(const Expr& operation, const Expr& constant) {
    const auto first = operation.operands.begin() + (operation.op == Op::Where ? 1 : 0);
    const bool beside_tile =
        std::any_of(first, operation.operands.end(), [](const Expr& each) { return each.type.is_tile(); });
    const auto typed =
        std::find_if(operation.operands.begin(), operation.operands.end(), [](const Expr& each) {
          return !each.literal && each.type.is_scalar() && each.type.dtype != DType::Bool;
        });
    if (beside_tile || typed == operation.operands.end()) return number(constant.value, true);
    return "static_cast<" + cpp(typed->type.dtype) + ">(" + number(constant.value, true) + ")";
  }

  std::string store(const Expr& expr) {
    const Expr& offsets = expr.operands[1];
    const std::string tensor = text(expr.operands[2]);
    return "(void)pl::store(" + text(expr.operands[0]) + ", " +
           (offsets.operands.empty() ? "" : list(offsets) + ", ") + tensor +
           (expr.attributes.atomic == Atomic::Add ? ", {.atomic = pl::Atomic::Add}" : "") + ");";
  }

  // ---------------------------------------------------------------------------------- statements

  void statements(const std::vector<Statement>& list) {
    scopes_.emplace_back();
    for (const Statement& each : list) statement(each);
    for (const VariableId id : scopes_.back()) declared_.erase(id);
    scopes_.pop_back();
  }

  void body(const std::string& head, const std::vector<Statement>& list, const std::string& tail = "}") {
    line(head + " {");
    ++depth_;
    statements(list);
    --depth_;
    line(tail);
  }

  void assign(const Statement& statement) {
    const Expr& value = statement.value;
    if (value.op == Op::Write && value.operands[0].variable == statement.variable &&
        declared_.contains(statement.variable))
      return line("pl::write(" + text(value.operands[0]) + ", " + text(value.operands[1]) + ", " +
                  text(value.operands[2]) + ");");
    const Variable& assigned = variable(statement.variable);
    const bool fresh = assigned.kind == VariableKind::Local && declared_.insert(statement.variable).second;
    if (!fresh) return line(assigned.name + " = " + text(statement.value) + ";");
    if (!ever_declared_.insert(statement.variable).second)
      cannot("variable " + assigned.name + " lives in two blocks");
    scopes_.back().push_back(statement.variable);
    const std::string type = assigned.type.is_scalar() ? cpp(assigned.type.dtype) : "auto";
    line(type + " " + assigned.name + " = " + text(statement.value) + ";");
  }

  void statement(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::Assign: return assign(statement);
      case StatementKind::Evaluate:
        return line(statement.value.op == Op::Store ? store(statement.value) : text(statement.value) + ";");
      case StatementKind::If:
        if (statement.else_body.empty()) return body("if (" + text(statement.value) + ")", statement.body);
        body("if (" + text(statement.value) + ")", statement.body, "} else {");
        ++depth_;
        statements(statement.else_body);
        --depth_;
        return line("}");
      case StatementKind::For: return for_loop(statement);
      case StatementKind::While: return while_loop(statement);
      case StatementKind::Block:
        blocks_.push_back(statement.block);
        body("[&]", statement.body, "}();");
        blocks_.pop_back();
        return;
      case StatementKind::Leave:
        if (blocks_.back() != statement.block) cannot("a jump out of more than one block");
        return line("return;");
      case StatementKind::Break: return line("break;");
      case StatementKind::Continue: return line("continue;");
    }
  }

  void for_loop(const Statement& statement) {
    constexpr const char* ranges[] = {"range", "parallel", "unroll", "pipeline"};
    const auto bound = [&](const Expr& expr) {
      return expr.is_constant() ? number(expr.value, true) : text(expr);
    };
    std::string bounds;
    if (statement.loop == LoopKind::Pipeline) {
      // It counts from 0 alone.
      if (!(statement.begin.is_constant() && statement.begin.value.as_int64() == 0 &&
            statement.step.is_constant() && statement.step.value.as_int64() == 1))
        return plain_for(statement);
      bounds = bound(statement.end) + ", {.stage = " + std::to_string(statement.stages) + "}";
    } else {
      bounds = bound(statement.begin) + ", " + bound(statement.end) + ", " + bound(statement.step);
    }
    body("for (auto " + name(statement.variable) + " : pl::" + ranges[static_cast<int>(statement.loop)] +
             "(" + bounds + "))",
         statement.body);
  }

  void plain_for(const Statement& statement) {
    if (!statement.step.is_constant()) cannot("a pipelined loop with a run-time step");
    const std::string& counter = name(statement.variable);
    const std::int64_t step = statement.step.value.as_int64();
    body("for (std::int64_t " + counter + " = " + text(statement.begin) + "; " + counter +
             (step < 0 ? " > " : " < ") + text(statement.end) + "; " + counter +
             " += " + std::to_string(step) + ")",
         statement.body);
  }

  /// A `continue` runs the step, as in a for.
  void while_loop(const Statement& statement) {
    std::string step;
    for (const Statement& each : statement.step_body) {
      if (each.kind != StatementKind::Assign) cannot("the step of a loop is no assignment");
      append(step, name(each.variable) + " = " + text(each.value));
    }
    body("for (; " + text(statement.value) + "; " + step + ")", statement.body);
  }

  const Kernel& kernel_;
  std::string text_;
  int depth_ = 0;
  std::set<VariableId> declared_, ever_declared_;
  std::vector<std::vector<VariableId>> scopes_;
  std::vector<std::int32_t> blocks_{0};
};

}  // namespace

std::string to_cpp(const Kernel& kernel) { return CppPrinter(kernel).print(); }

}  // namespace trilith::codegen
