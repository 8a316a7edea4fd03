// runtime/pl/graph.hpp -- pl::Graph: an orchestration that is recorded once and replayed.
//
//   pl::Graph step(device_orch);                        // device_orch = pl::jit(λ)
//   step(x, y);                                         // recorded, then run
//   step(x2, y2);                                       // replayed on other memory
//   step(x[r], y[r], pld::device = r);                  // in a host orchestrator
//
// A replay runs neither the lambda nor the analysis of its tasks. Dtypes, extents, strides, scalar arguments
// and which arguments share memory belong to a recording: with others it is recorded again (up to 64 times;
// then the lambda runs as it is). What the lambda captures is read when it is recorded. While it is recorded,
// its tensors hold nothing: pl::wait there is a PlanError. Where kernels run natively, the lambda runs each
// time. Copies share the recordings. Thread-safe.
#pragma once

#include "pl/orchestrator.hpp"

namespace pl {

template <class F>
class Graph : public DeviceEntry<F> {
 public:
  explicit Graph(const DeviceEntry<F>& entry) : DeviceEntry<F>(entry) { this->record_tasks(); }

  /// How often the lambda was recorded.
  [[nodiscard]] std::uint64_t recordings() const { return this->recorded().recordings; }
  /// How often a recording was run.
  [[nodiscard]] std::uint64_t replays() const { return this->recorded().replays; }
};
template <class F>
Graph(DeviceEntry<F>) -> Graph<F>;

}  // namespace pl
