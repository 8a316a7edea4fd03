// runtime/model/launch.hpp -- the CPU model of the AscendC interface, for the engine that runs emitted kernels.
//
//   struct Faults : trilith::model::FaultSink {
//     void fault(const trilith::model::Fault& fault) override { … }
//   } faults;
//   trilith::model::Model model(faults);
//   services.model = model.table();        // const void*: a kernel's entry calls its `launch` with the kernel's cores,
//                                          // blocks, GM regions and line map (codegen/ascendc/model/model_abi.h)
//
// A launch runs to its end on threads of its own and returns 0, or 1 after the sink got a fault. It is no simulation of
// time. Thread-safety: launches on one Model may run at once; they call the sink one launch at a time each.
// Lifetime: the Model outlives its launches, the sink the Model.
#pragma once

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/fault.hpp"

namespace trilith::model {

class Model {
 public:
  explicit Model(FaultSink& sink);

  [[nodiscard]] const AscendC::model::Table* table() const { return &table_; }

 private:
  AscendC::model::Table table_;
};

}  // namespace trilith::model
