// runtime/windows/window_memory.hpp -- the memory behind a window: a part for every rank that shares it.
//
// Parts lie in one mapping, each on cache lines of its own, all zero and without physical pages until they are
// touched. Behind each part lie Trilith's own cells, for collectives that were given no signals.
#pragma once

#include "pl/distributed_tensor.hpp"
#include "pl/error.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <vector>

namespace pl::detail {

class RankRunner;
class RemoteMemory;
class WaitMonitor;
struct KeptForRuns;
struct MeetingPlace;

/// A place in the user's source without a string of its own: a wait must not allocate.
struct Place {
  const char* file = "";
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  Place() = default;
  Place(const char* file_, std::uint32_t line_, std::uint32_t column_)
      : file(file_), line(line_), column(column_) {}
  explicit Place(const std::source_location& where)
      : file(where.file_name()), line(where.line()), column(where.column()) {}
  [[nodiscard]] Location location() const { return {file, line, column}; }
};

/// What a rank says of the collective it is in, so that others can tell whether it is the same one.
struct CollectiveCall {
  std::uint32_t number = 0;  ///< 1, 2, … in the order of this rank's calls
  std::int16_t operation = 0;
  std::int8_t dtype = 0;
  bool has_signal = false;  ///< cells of the user's for its signals
  std::int32_t mode = 0;
  std::int32_t peer = 0;
  std::int64_t elements = 0;
  Place where;
  /// A rank that only the run of an AscendC kernel knows: it is none that differs.
  static constexpr std::int32_t unknown_rank = INT32_MIN;
  [[nodiscard]] bool same_as(const CollectiveCall& other) const {
    const auto same_rank = [](std::int32_t a, std::int32_t b) {
      return a == b || a == unknown_rank || b == unknown_rank;
    };
    return number == other.number && operation == other.operation && same_rank(mode, other.mode) &&
           same_rank(peer, other.peer) && elements == other.elements && dtype == other.dtype &&
           has_signal == other.has_signal;
  }
};

/// Who wrote a signal cell last: for the report of a deadlock. Written without order: it is only read when
/// nothing runs any more.
struct LastWriter {
  std::atomic<std::int64_t> cell{-1};
  std::atomic<std::int32_t> rank{-1};
  std::atomic<std::uint32_t> line{0};
  std::atomic<const char*> file{nullptr};
  std::atomic<std::int64_t> time{0};  ///< where each process knows its own writes only
};

struct WindowPart {
  WindowMemory* memory;
  int member;  ///< among the ranks that share the window; -1: the view of the host, which stands for all
  int rank;    ///< in the program; -1: the host
  char* base;
  std::int32_t* own_cells;  ///< `WindowMemory::own_cells` of them
  struct State {
    /// Threads that a notify must wake. On a line of its own: waiting peers write it.
    alignas(64) std::atomic<std::uint32_t> sleepers{0};
    alignas(64) std::atomic<bool> in_collective{false};
    // Of the thread that is in it.
    std::uint32_t barriers = 0;
    std::uint32_t ring_steps = 0;
    std::uint32_t collectives = 0;
    std::uint32_t steps = 0;  ///< of `meeting`
    std::atomic<std::uint32_t> unsettled{
        0};  ///< a peer that has done fewer steps may still write its part; 0: none
    std::array<CollectiveCall, 2> calls;  ///< the two last, by number: no rank is further ahead than one
    // Of the last one that was given a signal.
    const WindowPart* signal = nullptr;
    std::int64_t first_signal_cell = 0;
    std::array<LastWriter, 32> last_writers;
    // Of kernels on the model of AscendC:
    std::uint32_t device_collectives = 0, device_steps = 0;
    std::array<CollectiveCall, 2> device_calls;  ///< as `calls`
  };
  State* state;
  RemoteMemory* far = nullptr;      ///< not null: another process has it, and `base` only stands for it
  MeetingPlace* meeting = nullptr;  ///< null: the ranks are many, or share no memory
};

/// The bytes behind the parts of a window, and what belongs to each part. Its destructor gives them back.
class WindowBacking {
 public:
  virtual ~WindowBacking() = default;
  /// Zero at first, aligned to a cache line: the user's bytes, then Trilith's own cells.
  [[nodiscard]] virtual char* part(std::size_t member) = 0;
  [[nodiscard]] virtual WindowPart::State* state(std::size_t member) = 0;
  /// Null: there is none for any member.
  [[nodiscard]] virtual MeetingPlace* meeting(std::size_t member) {
    (void)member;
    return nullptr;
  }
  /// How parts of other processes are reached; null: all parts are memory of this one.
  [[nodiscard]] virtual RemoteMemory* remote() const { return nullptr; }
};

/// One mapping that children of fork() share. Null, with errno: there is no memory.
[[nodiscard]] std::unique_ptr<WindowBacking> map_window(std::size_t part_bytes, std::size_t ranks);

class WindowMemory {
 public:
  /// `ranks`: those that share it, in the order of their numbers. `runner`: who gives the memory; null: map_window.
  WindowMemory(int number, std::int64_t bytes, std::int64_t elements, std::vector<int> ranks,
               std::shared_ptr<WaitMonitor> monitor, RankRunner* runner, const std::source_location& where);
  ~WindowMemory();
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;

  /// Cells for Trilith's own signals: one a round of a barrier, then two for a ring.
  static constexpr int own_cells = 34;
  static constexpr int ring_cell = 32;

  [[nodiscard]] int size() const { return static_cast<int>(parts_.size()); }
  [[nodiscard]] const WindowPart& part(int member) const { return parts_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] const WindowPart* part_of_rank(int rank) const;
  [[nodiscard]] const WindowPart& host() const { return host_; }
  [[nodiscard]] WaitMonitor& monitor() const { return *monitor_; }
  /// Null: every part is memory of this process. Otherwise signal cells are changed through it alone.
  [[nodiscard]] RemoteMemory* remote() const { return remote_; }
  /// For who made it.
  [[nodiscard]] WindowBacking& backing() const { return *backing_; }
  /// For the next run of a window that a worker keeps. `zero`: all that the user sees.
  void renew(std::shared_ptr<WaitMonitor> monitor, bool zero);
  /// Among those of its program, in the order of allocation.
  [[nodiscard]] int number() const { return number_; }
  /// "window 0 (32 bytes a rank, allocated at file:line)".
  [[nodiscard]] std::string title() const;
  /// Gives the memory back; what the window was stays known for views that are kept too long.
  void release();
  /// Throws CommError after release().
  void require_alive(const char* what, const Location& where) const {
    if (backing_ == nullptr) throw_released(what, where);
  }
  /// Without making a string of the place, in front of each request.
  void require_alive(const char* what, const Place& where) const {
    if (backing_ == nullptr) throw_released(what, where.location());
  }

  const std::int64_t bytes;     ///< of each part
  const std::int64_t elements;  ///< as the user counted them, or -1

 private:
  [[noreturn]] void throw_released(const char* what, const Location& where) const;
  const int number_;
  const Location where_;
  std::shared_ptr<WaitMonitor> monitor_;
  std::unique_ptr<WindowBacking> backing_;
  RemoteMemory* remote_ = nullptr;
  std::vector<WindowPart> parts_;
  WindowPart host_{};
};

/// Gives their memory back and forgets them; views of them are told so.
void release_windows(std::vector<std::shared_ptr<WindowMemory>>& windows);

/// The windows of one run of a program, or of its recording.
class Windows {
 public:
  /// `domains`: for each buffer in the order of allocation the ranks that share it; missing: all.
  /// `kept`: where a worker keeps them from run to run, or null.
  Windows(int world_size, std::vector<std::vector<int>> domains, std::shared_ptr<WaitMonitor> monitor,
          KeptForRuns* kept = nullptr, RankRunner* runner = nullptr)
      : world_size_(world_size),
        domains_(std::move(domains)),
        monitor_(std::move(monitor)),
        kept_(kept),
        runner_(runner) {}
  ~Windows() { release(); }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;
  [[nodiscard]] std::shared_ptr<WindowMemory> make(std::int64_t bytes, std::int64_t elements,
                                                   const std::source_location& where);
  /// Ends the life of all that no worker keeps.
  void release();
  /// A rank that a window goes to.
  void note_use(const WindowMemory& window, int rank);
  /// The ranks that each window went to; empty: none in particular.
  [[nodiscard]] std::vector<std::vector<int>> used() const;
  /// Those of one; empty: none in particular.
  [[nodiscard]] std::vector<int> ranks_of(const WindowMemory& window) const;

 private:
  const int world_size_;
  const std::vector<std::vector<int>> domains_;
  const std::shared_ptr<WaitMonitor> monitor_;
  KeptForRuns* const kept_;
  RankRunner* const runner_;
  std::vector<std::shared_ptr<WindowMemory>> windows_;
  std::vector<std::vector<int>> used_;
};

}  // namespace pl::detail
