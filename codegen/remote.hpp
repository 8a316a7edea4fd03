// codegen/remote.hpp -- what the operations of Group::Remote have in common.
//
// They are what a kernel does to windows: tensors of which every rank has a part (Parameter::window). Each is a
// statement of its own, in both stages: a value (`remote_load`, `comm_rank`, `comm_size`) stands only as the root
// of an Assign. A peer may write a window's own part at any time and a wait says when, so nothing that touches
// memory moves across one of them. Pure functions.
#pragma once

#include "codegen/ir.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace trilith::codegen {

[[nodiscard]] inline bool is_remote(Op op) { return operation(op).group == Group::Remote; }
/// The int32 scalars, which are the same in the whole run.
[[nodiscard]] constexpr bool is_rank_scalar(Op op) { return op == Op::CommRank || op == Op::CommSize; }
/// Those that give a value.
[[nodiscard]] constexpr bool is_remote_value(Op op) { return op == Op::RemoteLoad || is_rank_scalar(op); }
/// For a signal cell of this rank's own: at once, or when the task ends.
[[nodiscard]] constexpr bool is_signal_wait(Op op) { return op == Op::Wait || op == Op::DeferWait; }
/// Operations of all ranks of the window: operands window, offsets, shape, then what the collective has beside.
[[nodiscard]] constexpr bool is_collective(Op op) { return op >= Op::Barrier && op <= Op::SendRecv; }
/// Those whose first axis has a row for each rank.
[[nodiscard]] constexpr bool has_rows(Op op) {
  return op == Op::Allgather || op == Op::ReduceScatter || op == Op::AllToAll || op == Op::AllToAllV ||
         op == Op::CommScatter || op == Op::CommGather;
}
/// Those that combine the ranks' elements.
[[nodiscard]] constexpr bool is_reduction(Op op) {
  return op == Op::Allreduce || op == Op::ReduceScatter || op == Op::CommReduce;
}
/// A collective may have this many operands behind those of the table: the cells of its signal.
inline constexpr std::size_t signal_operands = 3;

/// A window of int32 and its region, as operands of a collective.
struct CellOperands {
  int window = -1, offsets = -1, shape = -1;
  [[nodiscard]] bool given() const { return window >= 0; }
};
/// Which operand of each is a window, a tensor of this rank, the peer, ...; -1: it has none. Of `other` (a tensor
/// that a put reads or a get writes) and of the window there are lists of offsets.
struct RemoteOperands {
  int tile = -1, window = -1, peer = -1, other = -1, offsets = -1, other_offsets = -1, shape = -1, value = -1;
  int to = -1;  ///< the rank that receives, where `peer` sends
  CellOperands counts = {}, signal = {};
};
[[nodiscard]] RemoteOperands remote_operands(const Expr& call);
/// As it is written behind `pld::`: "notify", "reduce".
[[nodiscard]] std::string_view name_in_pld(Op op);
/// As pl::abi::RemoteOperation has it: "remote_notify", "remote_reduce".
[[nodiscard]] std::string_view name_in_abi(Op op);
/// The operation that is written so, or nothing.
[[nodiscard]] std::optional<Op> remote_from_name(std::string_view name);

/// The kernel has a parameter that is a window.
[[nodiscard]] bool uses_windows(const Kernel& kernel);
/// This parameter's variable is one.
[[nodiscard]] bool is_window(const Kernel& kernel, VariableId tensor);
/// The kernel may wait for other ranks: it has a wait or a collective. Such a kernel must not run on a thread of
/// a pool, where its waiting could keep those from running that it waits for.
[[nodiscard]] bool may_wait(const Kernel& kernel);

}  // namespace trilith::codegen
