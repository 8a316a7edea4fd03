#include "runtime/windows/wait_monitor.hpp"

#include "runtime/run_trace.hpp"
#include "runtime/task_graph.hpp"
#include "runtime/windows/deadlock_report.hpp"
#include "runtime/windows/pause.hpp"
#include "runtime/windows/remote_memory.hpp"
#include "runtime/windows/shared_waits.hpp"
#include "runtime/windows/wait_group.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace pl::detail {
namespace {

// What a wait does before it sleeps: looks at its cell, with a pause of the processor's behind each (15 to 40 ns), then
// gives its core away so many times, with some more looks behind each. A sleep and a waking cost as much as all of it,
// and most signals that are under way come earlier. Where ranks share cores, the one that will signal may need this very
// core: it is given away soon.
constexpr WaitMonitor::Patience beside{128, 20, 32}, among_many{8, 40, 4};

// Most looks at the program's state cost less than a sleep; a long one is woken by its notify anyway.
constexpr long first_sleep_ms = 40, longest_sleep_ms = 320;

int cores() {
  static const int count = static_cast<int>(std::thread::hardware_concurrency());
  return count;
}

std::int32_t load(const std::int32_t* cell) {
  return std::atomic_ref<const std::int32_t>(*cell).load(std::memory_order_seq_cst);
}

/// True where the time was up.
bool futex_wait(std::int32_t* cell, std::int32_t seen, long milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000};
  return syscall(SYS_futex, cell, FUTEX_WAIT, seen, &time, nullptr, 0) == -1 && errno == ETIMEDOUT;
}

void futex_wake(std::int32_t* cell) { syscall(SYS_futex, cell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void wake_sleepers(const WindowPart& part, std::int32_t* cell) {
  if (part.state->sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(cell);
}

/// Makes a change of a cell, which gives its value before, and wakes who waits in that part. `after`: the value that the
/// change makes of the one before.
template <class Change, class After>
void change_cell(const WindowPart& part, const std::int32_t* cell, const Change& change, const After& after) {
  if (TracedThread* const traced = thread_state().traced; traced != nullptr && traced->run != nullptr)
      [[unlikely]]
    traced->run->change(*traced, part, cell, change, after);
  else
    (void)change();
}

}  // namespace

WaitMonitor::WaitMonitor(RankStates& ranks, int count)
    : ranks_(ranks), patience_(count <= cores() ? beside : among_many) {}

bool is_satisfied(const CellWait& wait, std::int32_t seen) {
  if (waits_for_change(wait)) return seen != wait.expected;
  if (!wait.at_least) return seen == wait.expected;
  if (!wait.wraps) return seen >= wait.expected;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(seen) -
                                   static_cast<std::uint32_t>(wait.expected)) >= 0;
}

void WaitMonitor::add(const WindowPart& part, std::int32_t* cell, std::int32_t value) {
  const auto sum = [value](std::int32_t before) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(before) + static_cast<std::uint32_t>(value));
  };
  if (RemoteMemory* const remote = part.memory->remote())
    return change_cell(part, cell, [&] { return remote->signal(part.rank, cell, value, true); }, sum);
  change_cell(
      part, cell,
      [&] { return std::atomic_ref<std::int32_t>(*cell).fetch_add(value, std::memory_order_seq_cst); }, sum);
  wake_sleepers(part, cell);
}

void WaitMonitor::set(const WindowPart& part, std::int32_t* cell, std::int32_t value) {
  const auto given = [value](std::int32_t) { return value; };
  if (RemoteMemory* const remote = part.memory->remote())
    return change_cell(part, cell, [&] { return remote->signal(part.rank, cell, value, false); }, given);
  change_cell(
      part, cell,
      [&] { return std::atomic_ref<std::int32_t>(*cell).exchange(value, std::memory_order_seq_cst); }, given);
  wake_sleepers(part, cell);
}

void WaitMonitor::set_quietly(std::int32_t* cell, std::int32_t value) {
  std::atomic_ref<std::int32_t>(*cell).store(value, std::memory_order_release);
}

void WaitMonitor::wake(const WindowPart& part, std::initializer_list<std::int32_t*> cells) {
  // Who goes to sleep is counted before it looks once more: it sees the value, or is seen here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (part.state->sleepers.load(std::memory_order_seq_cst) == 0) return;
  for (std::int32_t* const cell : cells) futex_wake(cell);
}

void WaitMonitor::wait(const CellWait& wait) {
  TracedThread* const traced = thread_state().traced;
  if (traced == nullptr || traced->run == nullptr) [[likely]]
    return wait_untraced(wait);
  const Clock::time_point begin = Clock::now();
  try {
    wait_untraced(wait);
  } catch (...) {
    traced->run->waited(*traced, wait, begin, false);
    throw;
  }
  traced->run->waited(*traced, wait, begin, true);
}

bool WaitMonitor::satisfied_soon(const CellWait& wait) const {
  // Where a thread of this process brings the signals, it needs a core, too.
  const Patience& patience = wait.part->memory->remote() != nullptr ? among_many : patience_;
  int looks = patience.looks;
  for (int yields = 0;; ++yields) {
    for (int i = 0; i < looks; ++i) {
      if (is_satisfied(wait, load(wait.cell))) return true;
      pause_processor();
    }
    if (yields == patience.yields) return false;
    sched_yield();
    looks = patience.looks_between;
  }
}

void WaitMonitor::wait_untraced(const CellWait& wait) {
  if (satisfied_soon(wait)) return;
  Sleeper sleeper{wait, 0};
  {
    const Lock lock(mutex_);
    sleeper.number = next_number_++;
    sleepers_.push_back(&sleeper);
    if (shared_ != nullptr) sleeper.slot = shared_->enter(rank_, wait, sleeper.number);
  }
  wait.sleepers().fetch_add(1, std::memory_order_seq_cst);
  struct Leave {
    WaitMonitor& monitor;
    Sleeper& sleeper;
    ~Leave() {
      sleeper.wait.sleepers().fetch_sub(1, std::memory_order_relaxed);
      const Lock lock(monitor.mutex_);
      if (monitor.shared_ != nullptr) monitor.shared_->leave(monitor.rank_, sleeper.slot);
      std::erase(monitor.sleepers_, &sleeper);
    }
  } leave{*this, sleeper};
  sleep(sleeper);
}

void WaitMonitor::sleep(Sleeper& sleeper) {
  long milliseconds = first_sleep_ms;
  for (;;) {
    const std::int32_t seen = load(sleeper.wait.cell);
    if (is_satisfied(sleeper.wait, seen)) return;
    if (ranks_.stopped()) throw Stopped{};
    // Of a task beside it, which its rank hears of only when this one has ended.
    throw_if_task_must_stop();
    if (!futex_wait(sleeper.wait.cell, seen, milliseconds)) continue;
    if (shared_ != nullptr)
      publish_idle();
    else if (sleeper.wait.part->memory->remote() == nullptr)  // otherwise the coordinator looks
      look_for_deadlock(sleeper);
    milliseconds = std::min(2 * milliseconds, longest_sleep_ms);
  }
}

void WaitMonitor::wake_all() {
  const Lock lock(mutex_);
  for (const Sleeper* sleeper : sleepers_) futex_wake(sleeper->wait.cell);
}

bool WaitMonitor::wake_satisfied() {
  const Lock lock(mutex_);
  bool any = false;
  for (Sleeper* const sleeper : sleepers_) {
    if (!is_satisfied(sleeper->wait, load(sleeper->wait.cell))) continue;
    futex_wake(sleeper->wait.cell);
    any |= !std::exchange(sleeper->woken, true);
  }
  return any;
}

std::optional<WaitMonitor::Idle> WaitMonitor::idle(int rank) {
  const Lock lock(mutex_);
  Idle result;
  for (const Sleeper* sleeper : sleepers_) {
    if (is_satisfied(sleeper->wait, load(sleeper->wait.cell))) return std::nullopt;
    result.waits.push_back(sleeper->wait);
    result.numbers.push_back(sleeper->number);
  }
  const std::optional<std::uint64_t> state = ranks_.idle(rank, result.waits.size());
  if (!state) return std::nullopt;
  result.numbers.push_back(*state);
  return result;
}

void WaitMonitor::publish_to(SharedWaits& waits, int rank) {
  shared_ = &waits;
  rank_ = rank;
}

void WaitMonitor::publish_idle() {
  const Lock lock(mutex_);
  const std::uint64_t left = shared_->left(rank_);
  if (ranks_.idle(rank_, sleepers_.size())) shared_->note_idle(rank_, left);
}

std::optional<WaitMonitor::Snapshot> WaitMonitor::all_idle(const Sleeper& from) {
  Snapshot result;
  // Every sleeping thread looks, so a look at many ranks must not pass all waits or all ranks once for each.
  const auto rank_of = [](const Sleeper* sleeper) { return sleeper->wait.part->rank; };
  std::vector<const Sleeper*> by_rank(sleepers_.begin(), sleepers_.end());
  std::ranges::sort(by_rank, {}, rank_of);
  WaitGroup group;
  group.add(*from.wait.part->memory);
  while (const std::optional<int> rank = group.next()) {
    std::size_t waits = 0;
    for (const Sleeper* sleeper : std::ranges::equal_range(by_rank, *rank, {}, rank_of)) {
      if (is_satisfied(sleeper->wait, load(sleeper->wait.cell))) return std::nullopt;
      ++waits;
      result.sleepers.push_back(sleeper);
      result.state.push_back(sleeper->number);
      group.add(*sleeper->wait.part->memory);
    }
    const std::optional<std::uint64_t> state = ranks_.idle(*rank, waits);
    if (!state) return std::nullopt;
    result.state.push_back(*state);
    result.ranks.push_back(*rank);
  }
  return result;
}

void WaitMonitor::look_for_deadlock(const Sleeper& from) {
  std::string text;
  Location where;
  {
    const Lock lock(mutex_);
    const std::optional<Snapshot> first = all_idle(from);
    if (!first) return;
    const std::optional<Snapshot> second = all_idle(from);
    if (!second || first->state != second->state || ranks_.stopped()) return;
    text = report(*second);
    where = second->sleepers.front()->wait.where.location();
  }
  ranks_.fail(std::make_exception_ptr(CommError(text, where)));
}

std::string WaitMonitor::report(const Snapshot& snapshot) {
  std::vector<ListedWait> waits;
  std::string collectives;
  for (const Sleeper* sleeper : snapshot.sleepers) {
    waits.push_back({sleeper->wait, sleeper->number});
    if (sleeper->wait.is_of_collective() && collectives.empty())
      collectives = ranks_.collectives(*sleeper->wait.part->memory);
  }
  std::vector<int> finished;
  for (const int rank : snapshot.ranks)
    if (ranks_.finished(rank)) finished.push_back(rank);
  return deadlock_report(std::move(waits), finished, collectives);
}

std::vector<ListedWait>& in_order(std::vector<ListedWait>& waits) {
  std::sort(waits.begin(), waits.end(), [](const ListedWait& a, const ListedWait& b) {
    return a.wait.part->rank != b.wait.part->rank ? a.wait.part->rank < b.wait.part->rank
                                                  : a.number < b.number;
  });
  return waits;
}

std::string deadlock_report(std::vector<ListedWait> waits, const std::vector<int>& finished,
                            const std::string& collectives) {
  std::vector<WaitReport> reports;
  for (const ListedWait& wait : in_order(waits)) reports.push_back(report_of(wait.wait));
  const std::set<int> ranks(finished.begin(), finished.end());
  return deadlock_text(reports, {ranks.begin(), ranks.end()}, collectives);
}

}  // namespace pl::detail
