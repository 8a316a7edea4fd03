// runtime/windows/shadow.hpp -- what the checker remembers of one rank's part of a window: for every byte the last
// write, and the additions and reads since.
//
// A part is a table: bands of rows, each with intervals of columns. It is one long row until a region comes whose rows lie
// apart; from then on a row is as long as their distance. So a block of a matrix is one interval in one band, as a
// contiguous region is in a part of one row, and what is remembered grows with the number of regions, not of elements.
#pragma once

#include "runtime/windows/vector_clock.hpp"
#include "runtime/windows/window_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
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
  std::int64_t element = 0;  ///< bytes of each of many operations that stand side by side; 0: it is one

  [[nodiscard]] std::uint32_t time() const { return published ? *published : now; }
  /// Of many the one that has this byte.
  [[nodiscard]] WindowAccess at_byte(std::int64_t byte) const {
    WindowAccess one = *this;
    if (element == 0) return one;
    one.begin += (byte - begin) / element * element;
    one.end = one.begin + element;
    return one;
  }
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

using AccessRef = std::shared_ptr<const WindowAccess>;

/// Bytes of a part: `rows` times `width`, the first ones `pitch` apart.
struct ByteBox {
  std::int64_t begin = 0, width = 0;
  std::int64_t rows = 1, pitch = 0;
};

class Shadow {
 public:
  /// Of a part of so many bytes.
  explicit Shadow(std::int64_t bytes) : row_(std::max<std::int64_t>(bytes, 1)) {}
  /// An earlier access, and a byte that it has in common with the new one.
  struct Conflict {
    AccessRef earlier;  ///< null: there is none
    std::int64_t byte = 0;
  };
  /// Remembers `access` for the bytes of the box. Gives an earlier one that it may not meet without an order: of two
  /// accesses one of which writes; additions may meet each other.
  [[nodiscard]] Conflict add(const ByteBox& box, const AccessRef& access, const VectorClock& clock);
  /// A write that was ever made to these bytes and is still the last.
  [[nodiscard]] AccessRef last_write(std::int64_t begin, std::int64_t end) const;

 private:
  struct Interval {
    std::int64_t end;
    AccessRef write;
    std::vector<AccessRef> adds, reads;  ///< since then, one a lane
  };
  using Columns = std::map<std::int64_t, Interval>;  ///< by first byte; they do not meet
  struct Band {
    std::int64_t end;
    Columns columns;
  };
  using Bands = std::map<std::int64_t, Band>;
  /// Rows and columns, each up to and without its end.
  struct Rectangle {
    std::int64_t row, row_end, column, column_end;
  };
  template <class Visit>
  void for_each_rectangle(const ByteBox& box, const Visit& visit) const;
  void set_row(std::int64_t bytes);
  Bands::iterator bands(std::int64_t row, std::int64_t row_end);
  void split_band(std::int64_t row);
  void add(const Rectangle& part, const AccessRef& access, const VectorClock& clock, Conflict& found);
  bool is_one_row_ = true;
  std::int64_t row_;  ///< bytes of one
  Bands bands_;       ///< by first row; they do not meet
};

}  // namespace pl::detail
