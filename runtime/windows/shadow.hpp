// runtime/windows/shadow.hpp -- what the checker remembers of one rank's part of a window: for every byte the last
// write, and the additions and reads since.
#pragma once

#include "runtime/windows/vector_clock.hpp"
#include "runtime/windows/window_memory.hpp"

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace pl::detail {

/// When a remote write becomes visible: a time of its lane, not known before the notify or fence that publishes it.
inline constexpr std::uint32_t not_published = std::numeric_limits<std::uint32_t>::max();
using PublishTime = std::shared_ptr<std::uint32_t>;

/// One operation of a rank on a range of bytes.
struct WindowAccess {
  enum class Kind : std::uint8_t { Read, Write, Add };
  Kind kind = Kind::Read;
  int rank = 0;  ///< whose
  int lane = 0;
  std::uint32_t now = 0;  ///< of its lane
  PublishTime published;  ///< of a remote write; null: at once
  const char* what = "";  ///< "pld::put", …
  Place where;
  std::int64_t begin = 0, end = 0;  ///< of the whole operation, in bytes of the part

  [[nodiscard]] std::uint32_t time() const { return published ? *published : now; }
  /// Is it sure to be over when a thread with this clock takes its next step?
  [[nodiscard]] bool before(const VectorClock& clock) const { return time() <= clock.at(lane); }
  /// The same for the access `next` of a thread with this clock.
  [[nodiscard]] bool before(const WindowAccess& next, const VectorClock& clock) const {
    // A task's own writes to a peer may overtake each other until it publishes them; what it reads there itself
    // is ordered behind them.
    if (lane == next.lane && published && *published == not_published) return next.kind == Kind::Read;
    return before(clock);
  }
};

class Shadow {
 public:
  /// Remembers `access` for the bytes from `begin` to `end`. Gives the first earlier one that it may not meet
  /// without an order: of two accesses one of which writes; additions may meet each other.
  [[nodiscard]] std::optional<WindowAccess> add(std::int64_t begin, std::int64_t end,
                                                const WindowAccess& access, const VectorClock& clock);
  /// A write that was ever made to these bytes and is still the last.
  [[nodiscard]] std::optional<WindowAccess> last_write(std::int64_t begin, std::int64_t end) const;

 private:
  struct Segment {
    std::int64_t end;
    std::optional<WindowAccess> write;
    std::vector<WindowAccess> adds, reads;  ///< since then, one a lane
  };
  using Segments = std::map<std::int64_t, Segment>;
  Segments::iterator split(std::int64_t at);
  Segments segments_;  ///< by first byte; they do not meet
};

}  // namespace pl::detail
