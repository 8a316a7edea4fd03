// runtime/windows/checker.hpp -- finds what is wrong with the order of a program's ranks (RunConfig.check).
//
// It follows every access to a window and every signal of a run, and decides by happens-before, not by what happened to
// come first: program order, the order of a rank's tasks and dispatches, a signal and the wait that saw it, and the
// library's own signals in collectives. A mistake is a CommError at the line of the operation that completes it, with the
// other one named. All calls are serialised by one lock.
#pragma once

#include "runtime/thread_annotations.hpp"
#include "runtime/windows/shadow.hpp"
#include "runtime/windows/signal_cell.hpp"

#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

/// One block of a task, or a device's orchestration, as the checker knows it. Of its own thread alone.
struct CheckedThread {
  int rank = 0;
  int lane = 0;
  VectorClock clock;
  struct Unpublished {
    int peer;
    PublishTime time;
  };
  std::vector<Unpublished> unpublished;  ///< of remote writes since the last notify, fence or collective
};

/// Elements of memory: `data` is the first.
struct Elements {
  const char* data;
  std::span<const std::int64_t> strides, shape;
  std::int64_t bytes;  ///< of one
};

class Checker {
 public:
  explicit Checker(int ranks);
  void add(const WindowMemory& window);

  /// Of a rank's device: its orchestrations, one after another.
  [[nodiscard]] CheckedThread device(int rank);
  /// Begins a block that comes after all that `after` knows.
  [[nodiscard]] CheckedThread begin(int rank, VectorClock after);
  /// Its writes are published; its lane is free for work that comes after it.
  void end(CheckedThread& thread);

  /// Elements that are read or written; nothing where they lie in no window. `one_by_one`: each by an operation of its own.
  void access(CheckedThread& thread, WindowAccess::Kind kind, const char* what, const Place& where,
              const Elements& elements, bool one_by_one = false);
  /// A change of a cell: adds to it, or sets it, and wakes who waits. `index` as in CellWait.
  void change(CheckedThread& thread, const WindowPart& part, std::int32_t* cell, std::int64_t index,
              bool sets, std::int32_t value, const char* what, const Place& where);
  /// The same of a cell of Trilith's own that one thread at a time sets to growing numbers: what comes before is told to
  /// who has seen the number.
  void tell(CheckedThread& thread, const WindowPart& part, std::int32_t* cell, std::int32_t number);
  /// Where somebody else sets the cell, or nobody.
  void note_told(CheckedThread& thread, const std::int32_t* cell, std::int32_t number);
  void heard(CheckedThread& thread, const std::int32_t* cell, std::int32_t number);
  /// `count` cells of a rank's own, from the first on, are the .signal of a collective that it enters.
  void lend_to_collective(CheckedThread& thread, const WindowPart& part, std::int32_t* cell,
                          std::int64_t index, std::int64_t count, const char* what, const Place& where);
  /// Before and after a wait.
  void will_wait(CheckedThread& thread, const CellWait& wait);
  void waited(CheckedThread& thread, const CellWait& wait);
  /// The remote writes of the thread so far are ordered before what comes; `peer`: those to this rank; -1: all.
  void publish(CheckedThread& thread, int peer);

  /// The host has waited for all ranks and dispatches no more before it goes on: an order of everything, as a collective
  /// is. Their devices.
  void all_have_met(const std::vector<CheckedThread*>& devices);

  /// `text` makes the words of a call, once for those that are alike.
  void note_collective(const WindowPart& part, const CollectiveCall& call,
                       std::string (*text)(const CollectiveCall&));
  /// The collectives of every rank that shares the window, with the first difference marked; nothing: none.
  [[nodiscard]] std::string collectives(const WindowMemory& window);

  /// At the end of a run that has not failed: throws where a remote write was never followed by a signal.
  void finish();

 private:
  struct Part {
    const WindowPart* part;
    Shadow shadow;
  };
  struct Lane {
    int rank;
    std::uint32_t last;
    bool free;
  };
  struct Unsignalled {
    const WindowPart* part;
    WindowAccess access;
  };
  struct Told {
    std::int32_t number = 0;
    VectorClock clock;
  };
  /// The collectives that a rank has called on a window.
  struct Called {
    struct Kind {
      CollectiveCall call;
      std::string text;
    };
    std::vector<Kind> kinds;
    std::vector<std::uint32_t> calls;  ///< in order: numbers of kinds
  };
  void note(CheckedThread& thread, const std::int32_t* cell, std::int32_t number) TRILITH_REQUIRES(mutex_);
  [[nodiscard]] const char* lasting(const char* file) TRILITH_REQUIRES(mutex_);
  [[nodiscard]] Part* part_of(const char* address) TRILITH_REQUIRES(mutex_);
  [[nodiscard]] WindowAccess make_access(const CheckedThread& thread, WindowAccess::Kind kind,
                                         const char* what, const Place& where) TRILITH_REQUIRES(mutex_);
  void access_box(const ByteBox& box, const AccessRef& access, const CheckedThread& thread, Part& part)
      TRILITH_REQUIRES(mutex_);
  SignalCell& cell_of(const WindowAccess& access, const WindowPart& part, const std::int32_t* cell,
                      std::int64_t index) TRILITH_REQUIRES(mutex_);
  /// Throws for a wait of a rank that an earlier round's signal has satisfied; -1: of any.
  void throw_stale(int rank) TRILITH_REQUIRES(mutex_);
  [[nodiscard]] PublishTime publish_time(CheckedThread& thread, const Part& part, const WindowAccess& access)
      TRILITH_REQUIRES(mutex_);

  Mutex mutex_;
  const int ranks_;
  // Of places: compiled code that has their names may go before the run ends.
  std::set<std::string, std::less<>> files_ TRILITH_GUARDED_BY(mutex_);
  std::map<const char*, Part> parts_ TRILITH_GUARDED_BY(mutex_);  ///< by their first byte
  std::map<const std::int32_t*, SignalCell> cells_ TRILITH_GUARDED_BY(mutex_);
  std::vector<Lane> lanes_ TRILITH_GUARDED_BY(mutex_);
  std::vector<Unsignalled> unsignalled_ TRILITH_GUARDED_BY(mutex_);
  // A cell is never told a second number before the last but one is heard by all.
  std::map<const std::int32_t*, std::array<Told, 2>> told_ TRILITH_GUARDED_BY(mutex_);
  std::map<const WindowMemory*, std::vector<Called>> collectives_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
