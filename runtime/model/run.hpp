// runtime/model/run.hpp -- one launch: its GM, its cores in turns, what they wait for, and its fault.
//
// Each core is a thread, of which exactly one runs at a time: it goes on until it waits for another core, spins on GM or
// ends. What races is found by the clocks and not by luck, so nothing is lost, and a launch does the same every time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/core.hpp"
#include "runtime/model/fault.hpp"
#include "runtime/model/global_memory.hpp"
#include "runtime/model/window_order.hpp"

namespace trilith::model {

/// Cores of the largest chip of the class: more blocks run in turns, and may not wait for each other.
inline constexpr std::int64_t cube_cores = 24;

class Run {
 public:
  Run(const AscendC::model::Launch& launch, FaultSink& sink);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// All blocks; false: a fault was reported, or the sink has stopped.
  [[nodiscard]] bool execute();

  [[nodiscard]] const AscendC::model::Launch& launch() const { return launch_; }
  [[nodiscard]] FaultSink& sink() const { return sink_; }
  [[nodiscard]] GlobalMemory& gm() { return gm_; }
  [[nodiscard]] std::string place(std::uint32_t text_line) const;
  /// Of a line, or of the last one with a place of the user's that the core has passed: functions have none.
  [[nodiscard]] TextPlace place_of(const Core& core, std::uint32_t text_line) const;
  [[nodiscard]] bool has_place(std::uint32_t text_line) const;
  /// What the launch says of a line that signals, waits, fences or is a collective; null: nothing.
  [[nodiscard]] const AscendC::model::WindowCall* call_at(const Core& core, std::uint32_t text_line) const;

  // What the core does to windows, told to who follows it.
  void use(const Core& core, std::uint32_t line, Range range, bool writes, std::uint8_t atomic);
  void fenced(const Core& core, std::uint32_t line);
  /// The last cell that was looked at.
  void compared(Core& core, std::int64_t number, bool at_least);
  /// True: the cell has been changed; false: the store comes now.
  [[nodiscard]] bool signals(const Core& core, std::uint64_t address, std::int32_t value, bool adds,
                             std::uint32_t line);
  /// A store to a signal cell has been done.
  void signalled(const Core& core, std::uint64_t address, std::uint32_t text_line);

  /// Null: it has none.
  [[nodiscard]] const WindowOrder::Member* windows() const { return member_ ? &*member_ : nullptr; }
  /// Is that a core of this launch?
  [[nodiscard]] bool is_own(std::uint32_t core) const;
  /// A fault of the program: two launches in no order.
  [[noreturn]] void race(const Core& core, std::uint32_t line, const std::string& message);

  /// Keeps the first fault.
  void fault(const Core& core, std::uint32_t line, const std::string& message);

  // Called by the core that runs.
  /// Until `ready`; `what` says for what, in the message of a deadlock.
  void wait(Core& core, std::uint32_t line, std::string what, std::function<bool()> ready);
  /// Lets all others go first: the core looks at GM again and again. `external`: others than this launch may write there.
  void spin(Core& core, std::uint32_t line, std::uint64_t address, bool external);

  // Flags between cores: a counter for each id of each core, and who of a group has set it so far.
  void set_cross(Core& core, std::uint8_t mode, std::uint8_t pipe, int id, std::uint32_t line);
  void wait_cross(Core& core, int id, std::uint32_t line);
  void sync_all(Core& core, bool vector_only, std::uint32_t line);

 private:
  struct Worker;
  struct Task;  ///< a core of a block

  void start_task();
  void resume(Task& task);
  void work(Worker& worker);
  void run_core(Task& task);
  void park(Task& task);
  void end_core(Core& core);
  [[nodiscard]] Task* next_task();
  void wait_for_window(Task& task);
  [[nodiscard]] Poll poll_of(const Core& core) const;
  /// Ends the launch where the sink has had enough.
  void go_on(bool goes_on);
  [[nodiscard]] Task& task_of(const Core& core);
  [[nodiscard]] std::vector<std::uint32_t> partners(const Core& core, std::uint8_t mode) const;
  [[nodiscard]] std::vector<std::uint32_t> all_of(bool cube) const;
  void deadlock();
  void check_gatherings();

  struct Flag {
    int count = 0;
    std::deque<Clock> clocks;
    std::uint32_t line = 0;
  };
  /// Cores that have set a flag which is raised when all of a group have.
  struct Gathering {
    std::map<std::uint32_t, std::deque<Clock>> arrived;
    std::uint32_t line = 0;
  };

  const AscendC::model::Launch launch_;
  FaultSink& sink_;
  GlobalMemory gm_;
  const bool follows_;  ///< FaultSink::follows
  std::optional<Fault> fault_;
  bool stopping_ = false;
  std::optional<WindowOrder::Member> member_;

  std::vector<std::unique_ptr<Task>> tasks_;  ///< in order of their cores' numbers
  std::size_t started_ = 0, running_ = 0, last_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex mutex_;
  std::condition_variable returned_;  ///< the core that ran waits, spins or has ended
  bool core_runs_ = false;

  std::map<std::pair<std::uint32_t, int>, Flag> flags_;                           ///< by core and id
  std::map<std::tuple<std::uint8_t, std::uint32_t, int>, Gathering> gatherings_;  ///< by mode, group, id
};

}  // namespace trilith::model
