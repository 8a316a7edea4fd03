// runtime/mpi/coordinator.hpp -- who decides for all processes of a program: where they meet, which failure was the
// first, and whether they can still go on. It lives on rank 0, on the thread that owns MPI.
//
// Everything it says goes to each process in one order, so all of them see the same decisions.
//
// A deadlock is found by state: each process tells whether its rank, and its host, only sleep in waits that are not
// satisfied, or have finished, and a number that changes when that was otherwise in between. A signal is at its target
// before the notifying task goes on, so ranks that all sleep have none under way. All are asked twice: who gives the
// same number twice did nothing from its first answer to its second, and there is a moment that lies in all those
// spans.
#pragma once

#include "runtime/mpi/message.hpp"
#include "runtime/windows/deadlock_report.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pl::detail {

/// A wait of a rank as the processes tell it: `cell` is the same number in all of them.
struct RemoteWait {
  WaitReport report;
  std::uint64_t part = 0;  ///< of the window
  int member = 0;
  std::vector<int> ranks;  ///< that share the window
};
/// Who last wrote one cell, as far as one process knows.
struct RemoteWriter {
  std::uint64_t part = 0;
  int member = 0;
  std::int64_t index = 0;
  std::int64_t time = 0;
  int rank = 0;
  Location where;
};
/// What a process answers to Query.
struct RemoteState {
  bool idle = false;
  bool finished = false;
  std::vector<std::uint64_t> numbers;
  std::vector<RemoteWait> waits;
  std::vector<RemoteWriter> writers;
};
void write(Writer& to, const RemoteState& state);
[[nodiscard]] RemoteState read_state(Reader& from);

class Coordinator {
 public:
  using Send = std::function<void(int to, const std::string& message)>;
  using Clock = std::chrono::steady_clock;
  Coordinator(int size, Send send);
  void handle(int from, MessageKind kind, Reader& message);
  /// Asks all ranks from time to time.
  void look_for_deadlock(Clock::time_point now);

 private:
  struct Arrival {
    Meeting meeting;
    std::string what;  ///< for people: "runs the program defined at …"
    std::string key;   ///< must be equal
    std::string payload;
  };
  void send_all(const std::string& message);
  void refuse(const std::string& why);
  void fail(int rank, std::string failure);
  void settle();
  void judge();
  [[nodiscard]] std::string difference() const;
  [[nodiscard]] std::vector<int> stuck() const;

  const int size_;
  const Send send_;
  std::vector<std::optional<Arrival>> arrived_;
  std::vector<std::string> refusals_;  ///< for processes that were not there yet when a meeting was refused
  std::vector<bool> gone_;
  bool in_run_ = false;
  int failed_rank_ = -1;
  std::string failure_;
  // Of the search for a deadlock.
  Clock::time_point ask_at_{};
  std::chrono::milliseconds pause_{};
  std::uint32_t round_ = 0;
  bool asked_ = false;
  std::vector<std::optional<RemoteState>> answers_, first_answers_;
};

}  // namespace pl::detail
