// runtime/windows/signal_cell.hpp -- what the checker remembers of one signal cell: who changed it, what each change
// releases, and which waits it has satisfied.
#pragma once

#include "runtime/windows/shadow.hpp"
#include "runtime/windows/wait_monitor.hpp"

#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace pl::detail {

[[nodiscard]] inline bool same_place(const Place& a, const Place& b) {
  return a.line == b.line && a.column == b.column && std::string_view(a.file) == b.file;
}

class SignalCell {
 public:
  /// A mistake: two operations that meet, and what is wrong about it.
  struct Fault {
    enum class Kind : std::uint8_t { SetByMany, SetAndAdd, LostReset, LostValue, Stale };
    Kind kind;
    WindowAccess earlier, later;
    std::optional<WindowAccess> signal;  ///< Stale: the one that the wait did not wait for
    std::uint64_t number = 0;            ///< Stale: of that one
  };

  // Both give a mistake that is one whatever comes; a stale signal is none before all waits are known.

  /// `setter`: a Write sets the cell to `value`, an Add has made it `value`. `owner`: the rank whose cell it is.
  [[nodiscard]] std::optional<Fault> change(const WindowAccess& setter, std::int32_t value,
                                            const VectorClock& clock, int owner);
  /// A wait that the cell has satisfied: joins what the changes up to the first that satisfied it release.
  [[nodiscard]] std::optional<Fault> waited(const WindowAccess& waiter, const CellWait& wait,
                                            VectorClock& clock);
  /// A change that is not ordered before a read of the cell as data.
  [[nodiscard]] std::optional<WindowAccess> unordered_change(const WindowAccess& reader,
                                                             const VectorClock& clock) const;
  /// A wait that an earlier round's signal has satisfied, while none has waited for the signal that came since: the rank may
  /// still do that. Null: none.
  [[nodiscard]] const Fault* stale() const { return stale_ ? &*stale_ : nullptr; }
  /// The last notify or wait.
  [[nodiscard]] const WindowAccess& last_use() const { return last_use_; }
  void set_last_use(const WindowAccess& access) { last_use_ = access; }
  /// The collective that has the cell as its .signal; null: none.
  [[nodiscard]] const WindowAccess* collective() const { return collective_ ? &*collective_ : nullptr; }
  void set_collective(const WindowAccess& access) { collective_ = access; }

 private:
  struct Change {
    std::uint64_t number;
    std::int32_t value;
    WindowAccess by;
    VectorClock releases;  ///< this one and, behind a Set, all additions before it
  };
  struct Wait {
    WindowAccess by;
    std::int32_t expected;
    bool at_least;
    std::uint64_t seen;  ///< number of the change that satisfied it
  };
  [[nodiscard]] const Change* satisfying(const CellWait& wait) const;

  WindowAccess last_use_;
  std::optional<WindowAccess> collective_;
  std::deque<Change> changes_;  ///< the last ones
  std::uint64_t next_number_ = 1;
  std::vector<WindowAccess> writers_;  ///< the last of each lane since the last Set, that one included
  std::optional<Wait> last_wait_;
  std::optional<Wait> repeated_;  ///< one that an earlier round's change has satisfied
  std::optional<Fault> stale_;
};

}  // namespace pl::detail
