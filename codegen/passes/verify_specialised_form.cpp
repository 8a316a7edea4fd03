#include "codegen/error.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/shape_rule.hpp"
#include "codegen/passes/verify_rules.hpp"
#include "codegen/remote.hpp"
#include "codegen/tile_call.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace trilith::codegen::passes {
namespace {

class SpecialisedForm {
 public:
  explicit SpecialisedForm(const Kernel& kernel)
      : kernel_(kernel), assignments_(kernel.variables.size(), 0), defined_(kernel.variables.size(), false) {}

  void run() {
    count_assignments(kernel_.body);
    for (std::size_t i = 0; i < kernel_.variables.size(); ++i) check(static_cast<VariableId>(i));
    for (const Parameter& parameter : kernel_.parameters)
      defined_[index(parameter.variable)] = !parameter.specialised;
    for (const ClosureField& capture : kernel_.captures) defined_[index(capture.variable)] = true;
    for (std::size_t i = 0; i < kernel_.variables.size(); ++i)
      if (kernel_.variables[i].kind == VariableKind::Extent) defined_[i] = true;
    check(kernel_.body);
  }

 private:
  using Set = std::vector<bool>;
  /// Variables surely assigned, or nothing where control never comes.
  using Flow = std::optional<Set>;

  [[noreturn]] void fail(const std::string& rule) const { broken(kernel_, rule, at_); }
  static std::size_t index(VariableId id) { return static_cast<std::size_t>(id); }
  [[nodiscard]] const Variable& variable(VariableId id) const { return kernel_.variables[index(id)]; }

  void count_assignments(const std::vector<Statement>& list) {
    for (const Statement& s : list) {
      if (s.variable != no_variable) ++assignments_[index(s.variable)];
      count_assignments(s.body);
      count_assignments(s.else_body);
    }
  }

  void check(VariableId id) {
    const Variable& v = variable(id);
    at_ = v.location;
    if (v.type.any_dtype || v.type.any_shape) fail("variable " + v.name + " has no complete type");
    if (v.type.is_tensor() && v.kind != VariableKind::Parameter)
      fail("tensor " + v.name + " is no parameter");
    if (v.kind != VariableKind::Local && assignments_[index(id)] != 0) fail(v.name + " is assigned");
    for (const Dim& dim : v.type.shape) {
      if (dim.is_constant()) continue;
      const Variable& extent = variable(dim.variable);
      if (extent.kind == VariableKind::Local
              ? assignments_[index(dim.variable)] != 1
              : extent.kind == VariableKind::Capture && extent.type.dtype != DType::Int64)
        fail("the extent " + extent.name + " of " + v.name + " is not assigned exactly once");
    }
  }

  // Expressions.

  /// A tree of scalars.
  void check_scalar(const Expr& e) {
    if (!e.type.is_scalar()) fail("a scalar is expected, not " + type_text(kernel_, e.type));
    const Group group = operation(e.op).group;
    if (e.op == Op::Constant) return;
    if (e.op == Op::Variable) return check_variable(e);
    if (e.op != Op::Conditional && (group == Group::Structure || group == Group::Create ||
                                    group == Group::Move || group == Group::Debug))
      fail("'" + std::string(operation(e.op).name) + "' in a scalar expression");
    for (const Expr& operand : e.operands) check_scalar(operand);
    if (e.op == Op::Conditional) {
      if (e.operands[0].type.dtype != DType::Bool || !(e.operands[1].type == e.type) ||
          !(e.operands[2].type == e.type))
        fail("a conditional of mixed types");
    } else {
      check_result(e);
    }
  }

  void check_variable(const Expr& e) {
    if (!(e.type == variable(e.variable).type))
      fail("a use of " + variable(e.variable).name + " with another type");
    if (reachable() && !defined_[index(e.variable)])
      fail(variable(e.variable).name + " is read where it may have no value");
  }

  void check_result(const Expr& e) {
    try {
      const Type expected = result_type(kernel_, e.op, e.operands, e.type.dtype, {});
      if (!(expected == e.type))
        fail("'" + std::string(operation(e.op).name) + "' gives " + type_text(kernel_, expected) + ", not " +
             type_text(kernel_, e.type));
    } catch (const pl::UserError& error) {
      fail(error.what());
    }
  }

  void check_operand(const Expr& e) {
    if (e.type.is_scalar()) return check_scalar(e);
    if (!e.type.is_tile() || e.op != Op::Variable)
      fail("an operand that is neither a tile's variable nor a scalar");
    check_variable(e);
  }

  void check_list(const Expr& list, std::size_t size) {
    if (list.operands.size() != size)
      fail("a list of " + std::to_string(list.operands.size()) + " instead of " + std::to_string(size));
    for (const Expr& item : list.operands) {
      check_scalar(item);
      if (item.type.dtype != DType::Int64) fail("an offset or extent that is no int64");
    }
  }

  const Type& check_tensor(const Expr& e) {
    if (e.op != Op::Variable || !variable(e.variable).type.is_tensor())
      fail("a view that is no tensor parameter");
    return variable(e.variable).type;
  }

  /// The last extents of the list are the tile's shape; those before are 1.
  void check_shape(const Expr& list, const std::vector<Dim>& shape) {
    if (list.operands.size() < shape.size()) fail("a tile of higher rank than its region");
    const std::size_t dropped = list.operands.size() - shape.size();
    for (std::size_t axis = 0; axis < list.operands.size(); ++axis) {
      const Expr& item = list.operands[axis];
      const Dim dim = axis < dropped ? Dim{1} : shape[axis - dropped];
      if (dim.is_constant() ? !item.is_constant() || item.value.as_int64() != dim.extent
                            : item.op != Op::Variable || item.variable != dim.variable)
        fail("a shape list that is not the tile's shape");
    }
  }

  void check_tile(const Expr& e) {
    switch (e.op) {
      case Op::Variable: return check_variable(e);
      case Op::Full:
        check_list(e.operands[0], e.type.shape.size());
        check_shape(e.operands[0], e.type.shape);
        check_scalar(e.operands[1]);
        if (e.operands[1].type.dtype != e.type.dtype) fail("'full' of another dtype than its element");
        return;
      case Op::Load: {
        const Type& tensor = check_tensor(e.operands[0]);
        check_list(e.operands[1], tensor.shape.size());
        check_list(e.operands[2], tensor.shape.size());
        check_shape(e.operands[2], e.type.shape);
        if (e.type.dtype != tensor.dtype) fail("'load' of another dtype than its tensor");
        return;
      }
      default: break;
    }
    const Group group = operation(e.op).group;
    if (group == Group::Structure || group == Group::Move || group == Group::Debug)
      fail("a tile made by '" + std::string(operation(e.op).name) + "'");
    if (is_tile_call(e.op)) return check_tile_call(e);
    for (const Expr& operand : e.operands) check_operand(operand);
    check_result(e);
  }

  void check_tile_call(const Expr& e) {
    for (const Expr& operand : e.operands) {
      if (operand.op == Op::List)
        check_list(operand, operand.operands.size());
      else if (operand.type.is_tensor())
        static_cast<void>(check_tensor(operand));
      else
        check_operand(operand);
    }
    try {
      const TileCallType expected = tile_call_type(kernel_, e, {});
      bool agrees = expected.dtype == e.type.dtype && expected.shape.size() == e.type.shape.size();
      // A computed extent has a variable of its own, whose value the rule cannot see.
      for (std::size_t axis = 0; agrees && axis < expected.shape.size(); ++axis)
        agrees = expected.shape[axis].is_constant()
                     ? e.type.shape[axis].is(expected.shape[axis].value.as_int64())
                     : !e.type.shape[axis].is_constant();
      if (!agrees) fail("'" + std::string(operation(e.op).name) + "' of another type than its rule gives");
    } catch (const pl::UserError& error) {
      fail(error.what());
    }
  }

  void check_read(const Expr& e) {
    const Type& tile = e.operands[0].type;
    check_operand(e.operands[0]);
    if (!tile.is_tile() || !(e.type == Type::scalar(tile.dtype))) fail("'read' of something that is no tile");
    check_list(e.operands[1], tile.shape.size());
  }

  [[nodiscard]] bool is_window(VariableId id) const {
    return std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(), [&](const Parameter& parameter) {
      return parameter.variable == id && parameter.window;
    });
  }

  void check_int64(const Expr& e) {
    check_scalar(e);
    if (e.type.dtype != DType::Int64) fail("a peer or value that is no int64");
  }

  /// Both lists have the window's rank; those of the other tensor have that one's, and the same region.
  void check_remote(const Expr& e) {
    if (e.op == Op::Fence) return;
    const RemoteOperands roles = remote_operands(e);
    const auto operand = [&](int role) -> const Expr& { return e.operands[static_cast<std::size_t>(role)]; };
    const Type& window = check_tensor(operand(roles.window));
    const std::string name = "'" + std::string(operation(e.op).name) + "'";
    if (!is_window(operand(roles.window).variable)) fail(name + " of a tensor that is no window");
    if (roles.offsets >= 0) check_list(operand(roles.offsets), window.shape.size());
    if (roles.shape >= 0) check_list(operand(roles.shape), window.shape.size());
    if (roles.peer >= 0) check_int64(operand(roles.peer));
    if (roles.to >= 0) check_int64(operand(roles.to));
    for (const CellOperands& cells : {roles.counts, roles.signal}) {
      if (!cells.given()) continue;
      const Type& type = check_tensor(operand(cells.window));
      if (!is_window(operand(cells.window).variable) || type.dtype != DType::Int32)
        fail(name + " with cells that are no window of int32");
      check_list(operand(cells.offsets), type.shape.size());
      check_list(operand(cells.shape), type.shape.size());
    }
    if (roles.value >= 0) {
      check_int64(operand(roles.value));
      if (window.dtype != DType::Int32) fail(name + " of cells that are no int32");
    }
    if (roles.other >= 0) {
      const Type& other = check_tensor(operand(roles.other));
      check_list(operand(roles.other_offsets), other.shape.size());
      if (other.dtype != window.dtype) fail(name + " between two dtypes");
    }
    if (roles.tile >= 0) {
      const Type& tile = operand(roles.tile).type;
      check_operand(operand(roles.tile));
      if (!tile.is_tile() || tile.dtype != window.dtype || tile.shape.size() > window.shape.size())
        fail(name + " of " + type_text(kernel_, tile) + " to " + type_text(kernel_, window));
    }
    if (e.op == Op::RemoteLoad) {
      check_shape(operand(roles.shape), e.type.shape);
      if (e.type.dtype != window.dtype) fail(name + " of another dtype than its window");
    }
    if (is_rank_scalar(e.op) && !(e.type == Type::scalar(DType::Int32))) fail(name + " that is no int32");
  }

  void check_effect(const Expr& e) {
    if (e.op == Op::Print) return check_operand(e.operands[0]);
    if (e.op == Op::Check) {
      for (const Expr& operand : e.operands) {
        check_scalar(operand);
        if (operand.type.dtype != DType::Int64) fail("a check of something that is no int64");
      }
      return;
    }
    if (operation(e.op).group == Group::Synchronise) return;
    if (is_remote(e.op)) return check_remote(e);
    if (e.op != Op::Store) fail("'" + std::string(operation(e.op).name) + "' as a statement");
    check_operand(e.operands[0]);
    const Type& tensor = check_tensor(e.operands[2]);
    const Type& tile = e.operands[0].type;
    if (!tile.is_tile() || tile.dtype != tensor.dtype || tile.shape.size() > tensor.shape.size())
      fail("a store of " + type_text(kernel_, tile) + " to " + type_text(kernel_, tensor));
    check_list(e.operands[1], tensor.shape.size());
  }

  void check_condition(const Expr& e) {
    check_scalar(e);
    if (e.type.dtype != DType::Bool) fail("a condition that is no bool");
  }

  // Statements, in the order they run; `defined_` follows.

  [[nodiscard]] bool reachable() const { return reachable_; }
  Flow flow() const { return reachable_ ? Flow(defined_) : std::nullopt; }
  void go_on(Flow where) {
    reachable_ = where.has_value();
    if (reachable_) defined_ = std::move(*where);
  }
  static Flow meet(Flow a, const Flow& b) {
    if (!a.has_value()) return b;
    if (b.has_value())
      for (std::size_t i = 0; i < a->size(); ++i) (*a)[i] = (*a)[i] && (*b)[i];
    return a;
  }

  void check(const std::vector<Statement>& list) {
    for (const Statement& s : list) check(s);
  }

  void check(const Statement& s) {
    at_ = s.location;
    switch (s.kind) {
      case StatementKind::Assign:
        if (!(s.value.type == variable(s.variable).type))
          fail(variable(s.variable).name + " is " + type_text(kernel_, variable(s.variable).type) +
               " and assigned " + type_text(kernel_, s.value.type));
        if (is_tile_call(s.value.op) && overwrites_operand(s.value, s.variable))
          fail("a tile call that writes the memory it reads");
        if (is_remote(s.value.op))
          check_remote(s.value);
        else if (s.value.type.is_tile())
          check_tile(s.value);
        else if (s.value.op == Op::Read)
          check_read(s.value);
        else
          check_scalar(s.value);
        defined_[index(s.variable)] = true;
        break;
      case StatementKind::Evaluate: check_effect(s.value); break;
      case StatementKind::If: {
        check_condition(s.value);
        const Flow before = flow();
        check(s.body);
        Flow then = flow();
        go_on(before);
        check(s.else_body);
        go_on(meet(std::move(then), flow()));
        break;
      }
      case StatementKind::For:
        if (s.loop == LoopKind::Unroll) fail("an unroll loop that is not written out");
        for (const Expr* bound : {&s.begin, &s.end, &s.step}) {
          check_scalar(*bound);
          if (bound->type.dtype != DType::Int64) fail("a loop bound that is no int64");
        }
        check_loop(s);
        break;
      case StatementKind::While:
        check_condition(s.value);
        if (!s.step_body.empty()) fail("a while with a step");
        check_loop(s);
        break;
      case StatementKind::Block: {
        exits_.push_back({s.block, std::nullopt});
        check(s.body);
        go_on(meet(flow(), exits_.back().second));
        exits_.pop_back();
        break;
      }
      case StatementKind::Leave:
        for (auto& [block, exit] : exits_)
          if (block == s.block) exit = meet(std::move(exit), flow());
        reachable_ = false;
        break;
      case StatementKind::Break:
      case StatementKind::Continue: reachable_ = false; break;
    }
  }

  /// Behind a loop only what was assigned before it counts: it may run no round, and may break in the first.
  void check_loop(const Statement& s) {
    const Flow before = flow();
    if (s.kind == StatementKind::For) defined_[index(s.variable)] = true;
    check(s.body);
    go_on(before);
    if (s.kind == StatementKind::While && s.value.is_constant() && s.value.value.bits != 0 &&
        !has_break(s.body))
      reachable_ = false;  // left only by a Leave
  }

  static bool has_break(const std::vector<Statement>& list) {
    return std::any_of(list.begin(), list.end(), [](const Statement& s) {
      const bool loop = s.kind == StatementKind::For || s.kind == StatementKind::While;
      return s.kind == StatementKind::Break || (!loop && (has_break(s.body) || has_break(s.else_body)));
    });
  }

  const Kernel& kernel_;
  SourceLocation at_;
  std::vector<int> assignments_;
  Set defined_;
  bool reachable_ = true;
  std::vector<std::pair<std::int32_t, Flow>> exits_;
};

}  // namespace

void verify_specialised_form(const Kernel& kernel) { SpecialisedForm(kernel).run(); }

}  // namespace trilith::codegen::passes
