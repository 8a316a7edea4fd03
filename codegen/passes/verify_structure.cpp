#include "codegen/error.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/verify_rules.hpp"
#include "codegen/remote.hpp"

#include <algorithm>
#include <vector>

namespace trilith::codegen::passes {
namespace {

class Structure {
 public:
  explicit Structure(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (const Variable& variable : kernel_.variables) check(variable);
    for (const Parameter& parameter : kernel_.parameters) {
      if (!is(parameter.variable, VariableKind::Parameter)) fail("a parameter that is no Parameter variable");
      if (parameter.window && (!type_of(parameter.variable).is_tensor() || parameter.access != Access::InOut))
        fail("a window that is no inout tensor");
    }
    for (const ClosureField& capture : kernel_.captures) {
      if (!is(capture.variable, VariableKind::Capture)) fail("a capture that is no Capture variable");
      if (!type_of(capture.variable).is_scalar()) fail("a capture that is no scalar");
    }
    if (kernel_.returned_parameter >= static_cast<std::int32_t>(kernel_.parameters.size()))
      fail("the returned parameter does not exist");
    check(kernel_.body);
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { broken(kernel_, rule, at_); }

  [[nodiscard]] bool exists(VariableId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < kernel_.variables.size();
  }
  [[nodiscard]] bool is(VariableId id, VariableKind kind) const {
    return exists(id) && kernel_.variables[static_cast<std::size_t>(id)].kind == kind;
  }
  [[nodiscard]] const Type& type_of(VariableId id) const {
    return kernel_.variables[static_cast<std::size_t>(id)].type;
  }

  void check(const Variable& variable) {
    at_ = variable.location;
    const Type& type = variable.type;
    if (type.kind == TypeKind::Void || type.kind == TypeKind::List)
      fail("variable " + variable.name + " is neither scalar, tile nor tensor");
    if (variable.kind == VariableKind::Extent && (!type.is_scalar() || type.dtype != DType::Int64))
      fail("extent " + variable.name + " is no int64 scalar");
    check(type);
  }

  void check(const Type& type) {
    if (type.any_shape && !type.shape.empty()) fail("a type of any shape that has a shape");
    if (type.is_scalar() && !type.shape.empty()) fail("a scalar that has a shape");
    if (type.shape.size() > static_cast<std::size_t>(max_rank)) fail("a type of rank above 8");
    for (const Dim& dim : type.shape) {
      if (dim.is_constant() ? dim.extent < 0 : !exists(dim.variable)) fail("an extent that cannot be");
      if (!dim.is_constant() &&
          (!type_of(dim.variable).is_scalar() || type_of(dim.variable).dtype != DType::Int64))
        fail("a run-time extent that is no int64 scalar");
    }
  }

  void check_list(const Expr& e) {
    if (e.op != Op::List) fail("offsets or a shape that are no list");
  }

  void check(const Expr& e) {
    if (e.location.line != 0) at_ = e.location;
    const Operation& row = operation(e.op);
    const std::string name = "'" + std::string(row.name) + "'";
    const bool has_valid_extents = e.op == Op::Load && !kernel_.specialised && e.operands.size() == 4;
    const bool has_signal =
        is_collective(e.op) && e.operands.size() == static_cast<std::size_t>(row.arity) + signal_operands;
    if (row.arity >= 0 && e.operands.size() != static_cast<std::size_t>(row.arity) && !has_valid_extents &&
        !has_signal)
      fail(name + " with " + std::to_string(e.operands.size()) + " operands, it takes " +
           std::to_string(row.arity));
    if (e.location.line != 0 && e.location.file >= kernel_.files.size()) fail("a place in an unknown file");
    check(e.type);
    switch (e.op) {
      case Op::Constant:
        if (!e.type.is_scalar() || e.type.dtype != e.value.dtype)
          fail("a constant of another type than its value");
        break;
      case Op::Variable:
        if (!exists(e.variable)) fail("a variable that does not exist");
        break;
      case Op::Full: check_list(e.operands[0]); break;
      case Op::Load:
        if (kernel_.specialised && e.attributes.clamp) fail("a load that is still to be cut");
        for (std::size_t i = 1; i < e.operands.size(); ++i) check_list(e.operands[i]);
        break;
      case Op::Valid:
      case Op::SetValid:
      case Op::Fillpad:
        if (kernel_.specialised) fail(name + ", which only captured kernels have");
        if (e.op == Op::SetValid) check_list(e.operands[1]);
        break;
      case Op::Slice:
        check_list(e.operands[1]);
        check_list(e.operands[2]);
        break;
      case Op::Read:
      case Op::Store: check_list(e.operands[1]); break;
      default: break;
    }
    if (row.group == Group::Remote) {
      const RemoteOperands roles = remote_operands(e);
      for (const int list : {roles.offsets, roles.other_offsets, roles.shape, roles.counts.offsets,
                             roles.counts.shape, roles.signal.offsets, roles.signal.shape})
        if (list >= 0) check_list(e.operands[static_cast<std::size_t>(list)]);
    }
    const SourceLocation here = at_;
    for (const Expr& operand : e.operands) {
      if (operand.op == Op::Store && e.op != Op::Store && row.group != Group::Move && e.op != Op::Slice &&
          e.op != Op::Index && e.op != Op::Conditional)
        fail("a store inside " + name);
      if (operand.op == Op::Read) fail("a read inside " + name);
      if (is_remote(operand.op)) fail("a '" + std::string(operation(operand.op).name) + "' inside " + name);
      check(operand);
      at_ = here;
    }
  }

  void check(const std::vector<Statement>& list) {
    for (const Statement& s : list) check(s);
  }

  void check(const Statement& s) {
    at_ = s.location;
    if (s.location.line != 0 && s.location.file >= kernel_.files.size()) fail("a place in an unknown file");
    switch (s.kind) {
      case StatementKind::Assign:
        if (!exists(s.variable)) fail("an assignment to a variable that does not exist");
        if (is_remote(s.value.op) && !is_remote_value(s.value.op))
          fail("'" + std::string(operation(s.value.op).name) + "' as a value");
        check(s.value);
        break;
      case StatementKind::Evaluate:
        if (is_remote_value(s.value.op))
          fail("'" + std::string(operation(s.value.op).name) + "' as a statement");
        check(s.value);
        break;
      case StatementKind::If:
        check(s.value);
        check(s.body);
        check(s.else_body);
        break;
      case StatementKind::For:
        if (!is(s.variable, VariableKind::Local) || !type_of(s.variable).is_scalar())
          fail("a loop variable that is no local scalar");
        for (const Expr* bound : {&s.begin, &s.end, &s.step}) check(*bound);
        loop(s);
        break;
      case StatementKind::While:
        check(s.value);
        loop(s);
        check(s.step_body);
        break;
      case StatementKind::Block:
        if (s.block <= 0) fail("a block without a number");
        if (inside(s.block)) fail("a block inside a block of the same number");
        blocks_.push_back(s.block);
        check(s.body);
        blocks_.pop_back();
        break;
      case StatementKind::Leave:
        if (s.block != 0 && !inside(s.block))
          fail("leave of block " + std::to_string(s.block) + " outside of it");
        break;
      case StatementKind::Break:
      case StatementKind::Continue:
        if (loops_ == 0) fail("a break or continue outside of a loop");
        break;
    }
  }

  void loop(const Statement& s) {
    ++loops_;
    check(s.body);
    --loops_;
  }

  [[nodiscard]] bool inside(std::int32_t block) const {
    return std::find(blocks_.begin(), blocks_.end(), block) != blocks_.end();
  }

  const Kernel& kernel_;
  SourceLocation at_;
  std::vector<std::int32_t> blocks_;
  int loops_ = 0;
};

}  // namespace

void broken(const Kernel& kernel, const std::string& rule, const SourceLocation& location) {
  throw pl::InternalError("verify: " + rule + ", in the " +
                              (kernel.specialised ? "specialised" : "captured") + " kernel " + kernel.name +
                              "; please report this",
                          place(kernel, location));
}

void verify_structure(const Kernel& kernel) { Structure(kernel).run(); }

}  // namespace trilith::codegen::passes
