#include "codegen/printer.hpp"

#include "codegen/remote.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace trilith::codegen {
namespace {

/// Comments behind statements line up, but not further right than this: one long line must not push them all
/// out of sight.
constexpr std::size_t widest_comment_column = 72;

constexpr const char* fill_names[] = {"zero", "max", "min"};
constexpr const char* memory_names[] = {"vec", "mat", "left", "right", "acc", "bias"};
constexpr const char* reduce_names[] = {"sum", "max", "min", "prod"};
constexpr const char* algorithm_names[] = {"auto", "mesh", "ring"};
constexpr const char* cast_mode_names[] = {"rint", "round", "floor", "ceil", "trunc", "odd"};

std::string_view base_name(std::string_view path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

template <class Float>
std::string shortest(Float value, std::string_view suffix) {
  char text[64];
  std::string result(text, std::to_chars(text, text + sizeof text, value).ptr);
  if (std::isfinite(value)) {
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    result += suffix;
  }
  return result;
}

std::string constant_text(const Constant& constant) {
  switch (constant.dtype) {
    case DType::Bool: return constant.bits != 0 ? "true" : "false";
    case DType::Float32:
      return shortest(std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits)), "f");
    case DType::Float64: return shortest(std::bit_cast<double>(constant.bits), "");
    case DType::Float16:
    case DType::BFloat16:
      return std::string(name_of(constant.dtype)) + "(" +
             shortest(static_cast<float>(constant.as_double()), "") + ")";
    case DType::UInt64: return std::to_string(constant.bits);
    default: return std::to_string(constant.as_int64());
  }
}

/// C++'s precedences, as far as the language has the operators; 0 is a name or a call.
struct Infix {
  Op op;
  const char* symbol;
  int precedence;
};
constexpr Infix infixes[] = {
    {Op::Mul, "*", 1},         {Op::Div, "/", 1},         {Op::Fmod, "%", 1},   {Op::Add, "+", 2},
    {Op::Sub, "-", 2},         {Op::Shl, "<<", 3},        {Op::Shr, ">>", 3},   {Op::Lt, "<", 4},
    {Op::Le, "<=", 4},         {Op::Gt, ">", 4},          {Op::Ge, ">=", 4},    {Op::Eq, "==", 5},
    {Op::Ne, "!=", 5},         {Op::BitAnd, "&", 6},      {Op::BitXor, "^", 7}, {Op::BitOr, "|", 8},
    {Op::LogicalAnd, "&&", 9}, {Op::LogicalOr, "||", 10},
};
constexpr int conditional_precedence = 11;

const Infix* infix_of(Op op) {
  for (const Infix& infix : infixes)
    if (infix.op == op) return &infix;
  return nullptr;
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {
    std::map<std::string, int> seen;
    for (const Variable& variable : kernel.variables) {
      std::string name = variable.name;
      if (name.empty()) name.append("v").append(std::to_string(names_.size()));
      // Shadowing gives two variables one name; people must be able to tell them apart.
      const int count = ++seen[name];
      names_.push_back(count == 1 ? name : name + "." + std::to_string(count));
    }
  }

  std::string kernel_text() {
    std::string head = "kernel " + (kernel_.name.empty() ? std::string("(unnamed)") : kernel_.name) + "(";
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
      head += (i == 0 ? "" : ", ") + parameter_text(kernel_.parameters[i]);
    head += ")";
    for (std::size_t i = 0; i < kernel_.captures.size(); ++i)
      head += (i == 0 ? " captures (" : ", ") + declaration(kernel_.captures[i].variable);
    if (!kernel_.captures.empty()) head += ")";
    if (kernel_.fast_math) head += " fast_math";
    lines_.push_back({std::move(head), comment_of(kernel_.location, true)});
    statements(kernel_.body, 1);
    if (kernel_.returned_parameter >= 0) {
      const auto index = static_cast<std::size_t>(kernel_.returned_parameter);
      line(
          1,
          "return " + (index < kernel_.parameters.size() ? name_of(kernel_.parameters[index].variable) : "?"),
          {});
    }
    return aligned();
  }

  std::string expression(const Expr& expr, int outer = 100) const {
    const int precedence = precedence_of(expr);
    std::string text = bare(expr, precedence);
    return precedence > outer ? "(" + text + ")" : text;
  }

  std::string type_text(const Type& type) const {
    switch (type.kind) {
      case TypeKind::Void: return "void";
      case TypeKind::List: return "list";
      case TypeKind::Scalar: return "scalar<" + dtype_text(type) + ">";
      case TypeKind::Tile: return "tile<" + dtype_text(type) + ">" + shape_text(type);
      case TypeKind::Tensor: return "tensor<" + dtype_text(type) + ">" + shape_text(type);
    }
    return "?";
  }

 private:
  struct Line {
    std::string text;
    std::string comment;
  };

  std::string name_of(VariableId id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < names_.size() ? names_[index] : "?";
  }

  static std::string dtype_text(const Type& type) {
    return type.any_dtype ? "any" : std::string(codegen::name_of(type.dtype));
  }

  std::string shape_text(const Type& type) const {
    if (type.any_shape) return "[...]";
    std::string text = "[";
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      const Dim& dim = type.shape[i];
      text += (i == 0 ? "" : ", ") + (dim.is_constant() ? std::to_string(dim.extent) : name_of(dim.variable));
    }
    return text + "]";
  }

  std::string declaration(VariableId id) const {
    const auto index = static_cast<std::size_t>(id);
    if (id < 0 || index >= kernel_.variables.size()) return "?";
    return name_of(id) + ": " + type_text(kernel_.variables[index].type);
  }

  std::string parameter_text(const Parameter& parameter) const {
    const auto index = static_cast<std::size_t>(parameter.variable);
    if (parameter.variable < 0 || index >= kernel_.variables.size()) return "?";
    const Type& type = kernel_.variables[index].type;
    constexpr const char* access[] = {"in ", "out ", "inout "};
    const char* prefix = parameter.window        ? "window "
                         : type.is_tensor()      ? access[static_cast<int>(parameter.access)]
                         : parameter.specialised ? "const "
                                                 : "";
    return name_of(parameter.variable) + ": " + prefix + type_text(type);
  }

  static int precedence_of(const Expr& expr) {
    if (expr.op == Op::Conditional) return conditional_precedence;
    const Infix* infix = infix_of(expr.op);
    return infix != nullptr && expr.operands.size() == 2 ? infix->precedence : 0;
  }

  std::string operand(const Expr& expr, std::size_t i, int outer = 100) const {
    return i < expr.operands.size() ? expression(expr.operands[i], outer) : "?";
  }

  /// The operands from `first` on, separated by commas.
  std::string operands(const Expr& expr, std::size_t first = 0) const {
    std::string text;
    for (std::size_t i = first; i < expr.operands.size(); ++i)
      text += (i == first ? "" : ", ") + operand(expr, i);
    return text;
  }

  /// "0, 0 : 8, 8", or nothing where both lists are empty.
  std::string region(const Expr& expr, std::size_t offsets, std::size_t shape) const {
    if (shape >= expr.operands.size()) return "?";
    if (expr.operands[offsets].operands.empty() && expr.operands[shape].operands.empty()) return "";
    return operands(expr.operands[offsets]) + " : " + operands(expr.operands[shape]);
  }

  std::string list_at(const Expr& expr, std::size_t i) const {
    return i < expr.operands.size() ? operands(expr.operands[i]) : "?";
  }
  /// "w[0, 4]" of tensor operand i.
  std::string part_of(const Expr& expr, std::size_t i, const std::string& part) const {
    return operand(expr, i, 0) + (part.empty() ? "" : "[" + part + "]");
  }
  static std::string written(const Expr& expr) {
    return expr.attributes.atomic == Atomic::Add ? " += " : " = ";
  }

  std::string cells(const Expr& expr, const CellOperands& roles) const {
    const auto operand = [](int role) { return static_cast<std::size_t>(role); };
    return part_of(expr, operand(roles.window), region(expr, operand(roles.offsets), operand(roles.shape)));
  }

  std::string collective(const Expr& expr) const {
    std::string text = std::string(operation(expr.op).name) + " " + part_of(expr, 0, region(expr, 1, 2));
    const RemoteOperands roles = remote_operands(expr);
    const bool to_root = expr.op == Op::CommReduce || expr.op == Op::CommGather;
    if (roles.peer >= 0) text += (to_root ? " to " : " from ") + operand(expr, 3);
    if (roles.to >= 0) text += " to " + operand(expr, 4);
    if (is_reduction(expr.op))
      text += std::string(", ") + reduce_names[static_cast<int>(expr.attributes.reduce)];
    if (expr.attributes.algorithm != Algorithm::Auto)
      text += std::string(", ") + algorithm_names[static_cast<int>(expr.attributes.algorithm)];
    if (roles.counts.given()) text += ", counts " + cells(expr, roles.counts);
    if (roles.signal.given()) text += ", signal " + cells(expr, roles.signal);
    return text;
  }

  std::string bare(const Expr& expr, int precedence) const {
    switch (expr.op) {
      case Op::Constant: return constant_text(expr.value);
      case Op::Variable: return name_of(expr.variable);
      case Op::List: return "[" + operands(expr) + "]";
      case Op::Conditional:
        return operand(expr, 0, conditional_precedence - 1) + " ? " + operand(expr, 1) + " : " +
               operand(expr, 2, conditional_precedence);
      case Op::Slice: return operand(expr, 0, 0) + ".slice[" + region(expr, 1, 2) + "]";
      case Op::Index: return operand(expr, 0, 0) + "[" + operand(expr, 1) + "]";
      case Op::Load: {
        const std::string part = region(expr, 1, 2);
        return "load " + operand(expr, 0, 0) + (part.empty() ? "" : "[" + part + "]") +
               (expr.attributes.clamp ? " clamp" : "") +
               (expr.operands.size() > 3 ? " valid " + operand(expr, 3) : "");
      }
      case Op::Store: {
        const std::string at = expr.operands.size() == 3 ? operands(expr.operands[1]) : "?";
        return "store " + operand(expr, 2, 0) + (at.empty() ? "" : "[" + at + "]") +
               (expr.attributes.atomic == Atomic::Add ? " += " : " = ") + operand(expr, 0);
      }
      case Op::RemoteLoad:
        return "remote_load " + part_of(expr, 0, region(expr, 2, 3)) + " of " + operand(expr, 1);
      case Op::RemoteStore:
        return "remote_store " + part_of(expr, 1, list_at(expr, 3)) + " of " + operand(expr, 2) +
               written(expr) + operand(expr, 0);
      case Op::RemotePut:
        return "put " + part_of(expr, 0, region(expr, 3, 5)) + " of " + operand(expr, 1) + written(expr) +
               part_of(expr, 2, list_at(expr, 4));
      case Op::RemoteGet:
        return "get " + part_of(expr, 0, list_at(expr, 4)) + " = " + part_of(expr, 1, region(expr, 3, 5)) +
               " of " + operand(expr, 2);
      case Op::Notify:
        return "notify " + part_of(expr, 0, list_at(expr, 2)) + " of " + operand(expr, 1) +
               (expr.attributes.notify == NotifyOp::Set ? " = " : " += ") + operand(expr, 3);
      case Op::Wait:
      case Op::DeferWait:
        return std::string(operation(expr.op).name) + " " + part_of(expr, 0, list_at(expr, 1)) +
               (expr.attributes.compare == WaitCmp::Eq ? " == " : " >= ") + operand(expr, 2);
      case Op::Fence: return "fence";
      case Op::Barrier:
      case Op::Allreduce:
      case Op::Broadcast:
      case Op::Allgather:
      case Op::ReduceScatter:
      case Op::AllToAll:
      case Op::AllToAllV:
      case Op::CommReduce:
      case Op::CommScatter:
      case Op::CommGather:
      case Op::SendRecv: return collective(expr);
      case Op::Full: return "full<" + dtype_text(expr.type) + ">(" + operands(expr) + ")";
      case Op::Cast:
        return "cast<" + dtype_text(expr.type) +
               (expr.attributes.mode == CastMode::Rint
                    ? ""
                    : std::string(", ") + cast_mode_names[static_cast<int>(expr.attributes.mode)]) +
               ">(" + operands(expr) + ")";
      case Op::Print: return "print " + operands(expr);
      case Op::Check: return "check 0 <= " + operand(expr, 0) + " < " + operand(expr, 1);
      default: break;
    }
    const Infix* infix = infix_of(expr.op);
    if (infix != nullptr && expr.operands.size() == 2)
      return operand(expr, 0, precedence) + " " + infix->symbol + " " + operand(expr, 1, precedence - 1);
    return std::string(operation(expr.op).name) + "(" + operands(expr) + attributes_text(expr) + ")";
  }

  /// ", axis 0": of tile calls, what is not the default.
  static std::string attributes_text(const Expr& expr) {
    const Attributes& attributes = expr.attributes;
    std::string text;
    if (attributes.axis != 0) text += ", axis " + std::to_string(attributes.axis);
    if (attributes.trans_a) text += ", trans_a";
    if (attributes.trans_b) text += ", trans_b";
    if (attributes.flag) text += expr.op == Op::SortIndices ? ", descending" : ", largest";
    if (attributes.axis2 != 0) text += ", axis2 " + std::to_string(attributes.axis2);
    if (attributes.upper) text += ", upper";
    if (expr.op == Op::Fillpad) text += std::string(", ") + fill_names[static_cast<int>(attributes.fill)];
    if (expr.op == Op::MoveTo) text += std::string(", ") + memory_names[static_cast<int>(attributes.memory)];
    return text;
  }

  std::string comment_of(const SourceLocation& location, bool with_file) const {
    if (location.line == 0) return {};
    const bool elsewhere = location.file != kernel_.location.file || kernel_.location.line == 0;
    std::string text = "// ";
    if (with_file || elsewhere)
      text += base_name(location.file < kernel_.files.size() ? kernel_.files[location.file] : "?");
    return text + ":" + std::to_string(location.line);
  }

  void line(int depth, std::string text, const SourceLocation& location) {
    lines_.push_back({std::string(static_cast<std::size_t>(depth) * 2, ' ') + std::move(text),
                      comment_of(location, false)});
  }

  void statements(const std::vector<Statement>& body, int depth) {
    for (const Statement& statement : body) this->statement(statement, depth);
  }

  /// In a specialised kernel the first assignment shows the tile's type, which is what one looks for there.
  std::string target(VariableId id) {
    const auto index = static_cast<std::size_t>(id);
    if (!kernel_.specialised || id < 0 || index >= kernel_.variables.size()) return name_of(id);
    const Type& type = kernel_.variables[index].type;
    if (!type.is_tile() || std::exchange(shown_[id], true)) return name_of(id);
    return name_of(id) + ": " + dtype_text(type) + shape_text(type);
  }

  std::string for_text(const Statement& statement) const {
    std::string text = "for " + name_of(statement.variable) + " in " + expression(statement.begin) + " .. " +
                       expression(statement.end);
    if (!statement.step.is_constant() || statement.step.value.as_int64() != 1)
      text += " step " + expression(statement.step);
    switch (statement.loop) {
      case LoopKind::Sequential: break;
      case LoopKind::Parallel: text += " parallel"; break;
      case LoopKind::Unroll: text += " unroll"; break;
      case LoopKind::Pipeline: text += " pipeline(" + std::to_string(statement.stages) + ")"; break;
    }
    return text;
  }

  void statement(const Statement& statement, int depth) {
    const SourceLocation& at = statement.location;
    switch (statement.kind) {
      case StatementKind::Assign: {
        std::string left = target(statement.variable);
        line(depth, left + " = " + expression(statement.value), at);
        break;
      }
      case StatementKind::Evaluate: line(depth, expression(statement.value), at); break;
      case StatementKind::If:
        line(depth, "if " + expression(statement.value), at);
        statements(statement.body, depth + 1);
        if (!statement.else_body.empty()) {
          line(depth, "else", {});
          statements(statement.else_body, depth + 1);
        }
        break;
      case StatementKind::For:
        line(depth, for_text(statement), at);
        statements(statement.body, depth + 1);
        break;
      case StatementKind::While:
        line(depth, "while " + expression(statement.value), at);
        statements(statement.body, depth + 1);
        if (!statement.step_body.empty()) {
          line(depth, "step", {});
          statements(statement.step_body, depth + 1);
        }
        break;
      case StatementKind::Block:
        line(depth, "block " + std::to_string(statement.block), at);
        statements(statement.body, depth + 1);
        break;
      case StatementKind::Leave:
        line(depth, statement.block == 0 ? "return" : "leave block " + std::to_string(statement.block), at);
        break;
      case StatementKind::Break: line(depth, "break", at); break;
      case StatementKind::Continue: line(depth, "continue", at); break;
    }
  }

  std::string aligned() const {
    std::size_t column = 0;
    for (std::size_t i = 1; i < lines_.size(); ++i)
      column = std::max(column, std::min(lines_[i].text.size(), widest_comment_column));
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      text += lines_[i].text;
      if (!lines_[i].comment.empty()) {
        const std::size_t width = lines_[i].text.size();
        text += std::string(i != 0 && width < column ? column - width + 3 : 3, ' ') + lines_[i].comment;
      }
      text += '\n';
    }
    return text;
  }

  const Kernel& kernel_;
  std::vector<std::string> names_;
  std::vector<Line> lines_;
  std::map<VariableId, bool> shown_;
};

}  // namespace

std::string to_text(const Kernel& kernel) { return Printer(kernel).kernel_text(); }

std::string to_text(const Kernel& kernel, const Expr& expression) {
  return Printer(kernel).expression(expression);
}

std::string to_text(const Kernel& kernel, const Type& type) { return Printer(kernel).type_text(type); }

pl::Location location_of(const Kernel& kernel, const SourceLocation& location) {
  if (location.line == 0) return {};
  const bool known = location.file < kernel.files.size();
  return {known ? kernel.files[location.file] : std::string("?"), location.line, location.column};
}

}  // namespace trilith::codegen
