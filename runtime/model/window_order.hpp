// runtime/model/window_order.hpp -- the order between launches that run side by side and share windows: who has touched
// which byte, and what signals carry from one to the other. One for the process; ranks that are processes of their own
// do not see each other here.
//
// A launch gets numbers of its own for its cores. It knows all that launches have done, and knew, which ended before it
// began: the host orders those. Of others it knows what a signal that it has looked at was behind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/access_map.hpp"
#include "runtime/model/clock.hpp"

namespace trilith::model {

class WindowOrder {
 public:
  static WindowOrder& of_process();

  /// A launch that has windows, until it is destroyed.
  class Member {
   public:
    Member(WindowOrder& order, const AscendC::model::Launch& launch, std::uint32_t cores);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Number of the launch's first core among all, and of the first operation that its pipes may start.
    [[nodiscard]] std::uint32_t first_core() const { return first_core_; }
    [[nodiscard]] std::uint32_t first_operation() const { return first_operation_; }
    /// What was done before the launch began.
    [[nodiscard]] const Clock& before() const { return before_; }
    /// A core has ended: the highest number of its operations, and what its pipes knew.
    void end(std::uint32_t operation, const Clock& clock) {
      last_ = std::max(last_, operation);
      learned_.join(clock);
    }

   private:
    friend class WindowOrder;
    WindowOrder& order_;
    std::uint64_t sequence_ = 0;
    std::uint32_t first_core_ = 0, cores_ = 0, first_operation_ = 0, last_ = 0;
    Clock before_, learned_;
  };

  // As AccessMap has them.
  [[nodiscard]] std::optional<AccessMap::Conflict> conflict(Range range, bool writes, const Stamp& stamp,
                                                            const Clock& clock);
  void record(Range range, bool writes, const Stamp& stamp);
  /// A store to a signal cell gives what its pipe knows; a look at it takes that.
  void release(std::uint64_t cell, const Clock& clock);
  void acquire(std::uint64_t cell, Clock& clock);
  /// "kernel ring, line 12 (ring.cpp:33)" of an operation of any launch.
  [[nodiscard]] std::string describe(const Stamp& stamp);

 private:
  struct Owner {
    std::uint32_t first = 0, count = 0;  ///< cores
    std::string kernel;
    std::vector<AscendC::model::SourceLine> lines;
    std::uint32_t last = 0;  ///< operation, once it has ended
    std::uint64_t ended = 0;
    bool active = false;
  };

  std::mutex mutex_;
  AccessMap accesses_;
  std::map<std::uint64_t, Clock> signals_;
  Clock learned_;  ///< by launches that have ended
  std::vector<Owner> owners_;
  std::set<std::uint64_t> active_;  ///< sequence numbers
  std::uint64_t next_ = 1;
};

}  // namespace trilith::model
