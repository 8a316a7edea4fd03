// runtime/windows/device_collective.hpp -- the collectives of an AscendC kernel, known by what it does to their cells.
//
// The kernel adds 1 to the cell that stands for it at every peer, looks at its own ones, moves elements, and so on, and at
// the end takes its steps off its own cells (codegen/ascendc/collective_functions.hpp). The first signal enters the
// collective and the last one leaves it. Where the window has one rank there are no signals, and nothing to compare.
#pragma once

#include "codegen/ascendc/model/model_abi.h"
#include "pl/tensor.hpp"
#include "runtime/windows/window_memory.hpp"

#include <cstdint>

namespace pl::detail {

class Checker;
class TaskWatch;

class DeviceCollective {
 public:
  struct Call {
    const AscendC::model::WindowCall& told;
    const ViewRef& window;
    Place where;
  };

  /// `watch`: of the task that runs the kernel, or null.
  explicit DeviceCollective(TaskWatch* watch);
  /// A kernel that has failed is in none any more.
  ~DeviceCollective();
  DeviceCollective(const DeviceCollective&) = delete;
  DeviceCollective& operator=(const DeviceCollective&) = delete;

  /// The kernel changes `cell` of `holder`, of the window that its own part of is `cells`. Throws CommError where the
  /// ranks make different calls, this one is in another collective of that window, or the user's cells do not serve.
  void signals(const Call& call, const WindowPart& cells, const WindowPart& holder, std::int32_t* cell);
  /// It has seen the step of the peer whom `cell` of its own stands for.
  void heard(const WindowPart& cells, const std::int32_t* cell);

 private:
  void enter(const Call& call, const WindowPart& cells, const WindowPart& holder, const std::int32_t* cell);
  void require_cells(const Call& call, const WindowPart& cells) const;
  void leave();
  [[nodiscard]] Checker* checker() const;

  TaskWatch* const watch_;
  const WindowPart* own_ = nullptr;  ///< of the collective's window; null: the kernel is in none
  std::int32_t* first_ = nullptr;    ///< cell of its own
  std::int64_t pitch_ = 0;           ///< from one rank's cell to the next, in bytes
  int told_ = 0, left_ = 0;          ///< signals to peers, and to its own cells
};

}  // namespace pl::detail
