// codegen/ascendc/peers.hpp -- what a kernel moves to and from the parts of its peers, as loads and stores.
//
//   t = remote_load(w, peer, {…}, {…})      w_peer = (w, peer); t = load(w_peer, {…}, {…})
//   remote_store(t, w, peer, {…})           w_peer = (w, peer); store(t, {…}, w_peer)
//   put, get                                a load and a store
//
// A peer's part lies in the address space of this device, so behind this pass it is one more tensor: what streams, casts,
// tiles and synchronises loads and stores does the same for it. Pure function.
#pragma once

#include "codegen/ir.hpp"

#include <map>

namespace trilith::codegen::ascendc {

struct WithPeers {
  Kernel kernel;
  /// The operation that each peer's part is for. Such a tensor is no parameter: it is assigned by a statement whose value
  /// is a RemoteLoad of two operands, the window and the peer.
  std::map<VariableId, Expr> parts;
};
[[nodiscard]] WithPeers with_peers(const Kernel& specialised);

}  // namespace trilith::codegen::ascendc
