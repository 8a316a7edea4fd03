// runtime/written_regions.hpp -- what a rank reads and writes of the host's ordinary memory, for transports whose ranks
// have a copy of it: noted as tasks are submitted, and carried over at the end.
//
// Windows, resident tensors and memory of pl::create_tensor are left out. For one thread: the rank's device's.
#pragma once

#include "runtime/recorded_view.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pl::detail {

class WrittenRegions {
 public:
  /// `shared_too`: memory of Trilith's that forked processes share is noted as well.
  explicit WrittenRegions(bool shared_too = false) : shared_too_(shared_too) {}
  void add(const ViewRef& view, bool writes);
  /// Memory of the rank's own until forget().
  void leave_out(const void* data, std::size_t bytes);
  void forget(const void* data);

  [[nodiscard]] const std::vector<RecordedView>& written() const { return written_; }
  [[nodiscard]] const std::vector<RecordedView>& read() const { return read_; }
  void clear();

 private:
  const bool shared_too_;
  std::map<const char*, const char*> own_;  ///< end to begin
  std::set<std::vector<std::uint64_t>> known_;
  std::vector<RecordedView> written_, read_;
};

/// Notes that the code which runs here writes to a view. A task has noted its own when it was submitted; the body of a
/// pl::at that runs natively is none.
void note_written(const ViewRef& view);

/// What one rank used.
struct RankRegions {
  int rank;
  std::vector<RecordedView> written, read;
};
/// Throws PlanError where a rank wrote what another one wrote or read: each had a copy of its own.
void refuse_common_memory(const std::vector<RankRegions>& ranks);

}  // namespace pl::detail
