#include "codegen/remote.hpp"

#include "codegen/error.hpp"

#include <algorithm>
#include <vector>

namespace trilith::codegen {
namespace {

bool waits(const Expr& expression) {
  return is_signal_wait(expression.op) || is_collective(expression.op) ||
         std::ranges::any_of(expression.operands, waits);
}

bool waits(const std::vector<Statement>& list) {
  return std::ranges::any_of(list, [](const Statement& statement) {
    return waits(statement.value) || waits(statement.begin) || waits(statement.end) ||
           waits(statement.step) || waits(statement.body) || waits(statement.else_body) ||
           waits(statement.step_body);
  });
}

RemoteOperands operands_of(Op op) {
  switch (op) {
    case Op::CommRank:
    case Op::CommSize: return {.window = 0};
    case Op::RemoteLoad: return {.window = 0, .peer = 1, .offsets = 2, .shape = 3};
    case Op::RemoteStore: return {.tile = 0, .window = 1, .peer = 2, .offsets = 3};
    case Op::RemotePut:
      return {.window = 0, .peer = 1, .other = 2, .offsets = 3, .other_offsets = 4, .shape = 5};
    case Op::RemoteGet:
      return {.window = 1, .peer = 2, .other = 0, .offsets = 3, .other_offsets = 4, .shape = 5};
    case Op::Notify: return {.window = 0, .peer = 1, .offsets = 2, .value = 3};
    case Op::Wait:
    case Op::DeferWait: return {.window = 0, .offsets = 1, .value = 2};
    case Op::Broadcast:
    case Op::CommReduce:
    case Op::CommScatter:
    case Op::CommGather: return {.window = 0, .peer = 3, .offsets = 1, .shape = 2};
    case Op::SendRecv: return {.window = 0, .peer = 3, .offsets = 1, .shape = 2, .to = 4};
    case Op::AllToAllV: return {.window = 0, .offsets = 1, .shape = 2, .counts = {3, 4, 5}};
    case Op::Barrier:
    case Op::Allreduce:
    case Op::Allgather:
    case Op::ReduceScatter:
    case Op::AllToAll: return {.window = 0, .offsets = 1, .shape = 2};
    default: return {};
  }
}

}  // namespace

RemoteOperands remote_operands(const Expr& call) {
  RemoteOperands roles = operands_of(call.op);
  const auto in_table = static_cast<std::size_t>(operation(call.op).arity);
  if (is_collective(call.op) && call.operands.size() > in_table) {
    const int first = static_cast<int>(in_table);
    roles.signal = {first, first + 1, first + 2};
  }
  return roles;
}

std::string_view name_in_pld(Op op) {
  if (op == Op::CommSize) return "nranks";
  constexpr std::string_view prefix = "comm_";
  const std::string_view name = operation(op).name;
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string_view name_in_abi(Op op) {
  switch (op) {
    case Op::CommRank: return "remote_rank";
    case Op::CommSize: return "remote_size";
    case Op::RemoteLoad: return "remote_load";
    case Op::RemoteStore: return "remote_store";
    case Op::RemotePut: return "remote_put";
    case Op::RemoteGet: return "remote_get";
    case Op::Notify: return "remote_notify";
    case Op::Wait: return "remote_wait";
    case Op::DeferWait: return "remote_defer_wait";
    case Op::Fence: return "remote_fence";
    case Op::Barrier: return "remote_barrier";
    case Op::Allreduce: return "remote_allreduce";
    case Op::Broadcast: return "remote_broadcast";
    case Op::Allgather: return "remote_allgather";
    case Op::ReduceScatter: return "remote_reduce_scatter";
    case Op::AllToAll: return "remote_all_to_all";
    case Op::AllToAllV: return "remote_all_to_all_v";
    case Op::CommReduce: return "remote_reduce";
    case Op::CommScatter: return "remote_scatter";
    case Op::CommGather: return "remote_gather";
    case Op::SendRecv: return "remote_send_recv";
    default: break;
  }
  throw pl::InternalError("emitter: '" + std::string(operation(op).name) + "' is no operation on a window");
}

std::optional<Op> remote_from_name(std::string_view name) {
  for (const Operation& row : operations())
    if (row.group == Group::Remote && name_in_pld(row.op) == name) return row.op;
  return std::nullopt;
}

bool uses_windows(const Kernel& kernel) {
  return std::ranges::any_of(kernel.parameters, [](const Parameter& parameter) { return parameter.window; });
}

bool is_window(const Kernel& kernel, VariableId tensor) {
  return std::ranges::any_of(kernel.parameters, [&](const Parameter& parameter) {
    return parameter.variable == tensor && parameter.window;
  });
}

bool may_wait(const Kernel& kernel) { return waits(kernel.body); }

}  // namespace trilith::codegen
