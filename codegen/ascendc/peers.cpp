#include "codegen/ascendc/peers.hpp"

#include "codegen/passes/fuse.hpp"
#include "codegen/remote.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::ascendc {
namespace {

bool is_transfer(Op op) {
  return op == Op::RemoteLoad || op == Op::RemoteStore || op == Op::RemotePut || op == Op::RemoteGet;
}

Expr variable(VariableId id, const Type& type, const SourceLocation& at) {
  Expr result;
  result.op = Op::Variable;
  result.variable = id;
  result.type = type;
  result.location = at;
  return result;
}

class Rewriter {
 public:
  explicit Rewriter(const Kernel& kernel) : result_{kernel, {}} {
    result_.kernel.body = rewritten(kernel.body);
  }
  WithPeers take() { return std::move(result_); }

 private:
  std::vector<Statement> rewritten(const std::vector<Statement>& list) {
    std::vector<Statement> out;
    for (const Statement& statement : list) {
      if (is_transfer(statement.value.op)) {
        transfer(statement, out);
        continue;
      }
      if (statement.kind == StatementKind::Assign && is_rank_scalar(statement.value.op)) {
        insert_early(statement, out);
        continue;
      }
      out.push_back(statement);
      Statement& copy = out.back();
      copy.body = rewritten(statement.body);
      copy.else_body = rewritten(statement.else_body);
      copy.step_body = rewritten(statement.step_body);
    }
    return out;
  }

  void transfer(const Statement& statement, std::vector<Statement>& out) {
    const Expr& call = statement.value;
    const RemoteOperands roles = remote_operands(call);
    const auto operand = [&](int role) -> const Expr& {
      return call.operands[static_cast<std::size_t>(role)];
    };
    const Expr part = peer_part(statement, roles, out);
    switch (call.op) {
      case Op::RemoteLoad:
        out.push_back(load(statement.variable, part, operand(roles.offsets), call.type.shape, statement));
        return;
      case Op::RemoteStore:
        out.push_back(store(operand(roles.tile), operand(roles.offsets), part, statement));
        return;
      default: break;
    }
    // The axes that both have; on the others the region is of extent 1.
    const Expr& local = operand(roles.other);
    const std::vector<Expr>& lengths = operand(roles.shape).operands;
    const std::size_t rank = std::min(part.type.shape.size(), local.type.shape.size());
    std::vector<Dim> shape;
    for (std::size_t axis = lengths.size() - std::min(rank, lengths.size()); axis < lengths.size(); ++axis)
      shape.push_back(lengths[axis].is_constant() ? Dim{lengths[axis].value.as_int64(), no_variable}
                                                  : Dim{0, lengths[axis].variable});
    const Type type = Type::tile(part.type.dtype, shape);
    const VariableId moved = add_variable(name_of(operand(roles.window)) + "_moved", type, statement);
    const bool put = call.op == Op::RemotePut;
    const Expr &here = operand(roles.other_offsets), &there = operand(roles.offsets);
    out.push_back(load(moved, put ? local : part, put ? here : there, shape, statement));
    out.push_back(
        store(variable(moved, type, call.location), put ? there : here, put ? part : local, statement));
  }

  /// In front of tiles that it does not depend on, so that it does not part them from what follows: they may then be
  /// computed on their way to a store.
  void insert_early(Statement statement, std::vector<Statement>& out) const {
    auto at = out.end();
    while (at != out.begin() && fuse::is_tile_assign(result_.kernel, *std::prev(at))) --at;
    out.insert(at, std::move(statement));
  }

  /// Makes the tensor that is the peer's part.
  Expr peer_part(const Statement& statement, const RemoteOperands& roles, std::vector<Statement>& out) {
    const Expr& call = statement.value;
    const Expr &window = call.operands[static_cast<std::size_t>(roles.window)],
               &peer = call.operands[static_cast<std::size_t>(roles.peer)];
    const Type type = result_.kernel.variables[window.variable].type;
    const VariableId id = add_variable(name_of(window) + "_peer", type, statement);
    Statement made;
    made.kind = StatementKind::Assign;
    made.location = statement.location;
    made.variable = id;
    made.value.op = Op::RemoteLoad;
    made.value.type = type;
    made.value.location = call.location;
    made.value.operands = {window, peer};
    insert_early(std::move(made), out);
    result_.parts.emplace(id, call);
    return variable(id, type, call.location);
  }

  static Statement load(VariableId to, const Expr& tensor, const Expr& offsets, const std::vector<Dim>& shape,
                        const Statement& from) {
    Statement result;
    result.kind = StatementKind::Assign;
    result.location = from.location;
    result.variable = to;
    result.value.op = Op::Load;
    result.value.type = Type::tile(tensor.type.dtype, shape);
    result.value.location = from.value.location;
    result.value.operands = {tensor, offsets};
    result.value.attributes.chunk = from.value.attributes.chunk;
    result.value.attributes.pipeline = from.value.attributes.pipeline;
    return result;
  }

  static Statement store(const Expr& tile, const Expr& offsets, const Expr& tensor, const Statement& from) {
    Statement result;
    result.kind = StatementKind::Evaluate;
    result.location = from.location;
    result.value.op = Op::Store;
    result.value.attributes.atomic = from.value.attributes.atomic;
    result.value.location = from.value.location;
    result.value.operands = {tile, offsets, tensor};
    return result;
  }

  VariableId add_variable(const std::string& name, const Type& type, const Statement& statement) {
    result_.kernel.variables.push_back({name, type, VariableKind::Local, statement.location});
    return static_cast<VariableId>(result_.kernel.variables.size()) - 1;
  }
  [[nodiscard]] std::string name_of(const Expr& tensor) const {
    return result_.kernel.variables[tensor.variable].name;
  }

  WithPeers result_;
};

}  // namespace

WithPeers with_peers(const Kernel& specialised) { return Rewriter(specialised).take(); }

}  // namespace trilith::codegen::ascendc
