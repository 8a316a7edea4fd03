// runtime/model/access_map.hpp -- the shadow of a memory: for every byte, which operation wrote it last and which have
// read it since.
//
// Kept as segments of equal history, so that an operation on a contiguous tile costs one of them, whatever its size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/model/clock.hpp"

namespace trilith::model {

/// Bytes from `begin` up to before `end`.
struct Range {
  std::uint64_t begin, end;
};

class AccessMap {
 public:
  struct Conflict {
    Stamp earlier;
    bool earlier_writes;
    Range range;
  };

  /// An earlier access to the range that `clock` does not know to be complete and that this one may not overlap in time.
  [[nodiscard]] std::optional<Conflict> conflict(Range range, bool writes, const Stamp& stamp,
                                                 const Clock& clock) const;
  void record(Range range, bool writes, const Stamp& stamp);
  /// The first byte of the range that nothing has written.
  [[nodiscard]] std::optional<std::uint64_t> unwritten(Range range) const;

 private:
  struct Segment {
    std::uint64_t end;
    Stamp write;
    std::vector<Stamp> reads;  ///< the last of each pipe and core
  };
  using Segments = std::map<std::uint64_t, Segment>;

  [[nodiscard]] Segments::const_iterator first_in(Range range) const;
  void split(std::uint64_t at);

  Segments segments_;  ///< by their first byte
};

}  // namespace trilith::model
