#include "runtime/windows/shared_waits.hpp"

#include "runtime/windows/wait_group.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

namespace pl::detail {
namespace {

// More threads of one rank than any machine starts. Without physical pages until they are used.
constexpr int most_waits = 4096;
// The paths of the sources of a program's kernels. In the same way.
constexpr std::size_t text_bytes = 1 << 18;

enum Commit : std::int32_t { Undecided, Send, Leave };

void sleep_on(std::atomic<std::int32_t>& word, std::int32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}
void wake(void* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace

struct alignas(64) SharedWaits::Rank {
  struct Slot {
    std::atomic<std::uint64_t> number{0};  ///< 0: free
    CellWait wait;
  };
  std::atomic<std::uint64_t> left{0};
  std::atomic<std::uint64_t> idle_at{0};  ///< 1 + `left` at the time; 0: never
  std::atomic<bool> finished{true};
  std::atomic<bool> too_many{false};
  std::atomic<int> used{0};  ///< slots from there on were never used
  std::atomic<std::int32_t> commit{Undecided};
  std::atomic<std::int32_t> code{Undecided};
  Slot slots[most_waits];
  char texts[text_bytes];
};

struct SharedWaits::Snapshot {
  std::vector<std::pair<int, std::uint64_t>> ranks;  ///< with what `left` was
  std::vector<ListedWait> waits;
  std::vector<int> finished;
};

SharedWaits::SharedWaits(int ranks)
    : ranks_(ranks), pages_(64 + static_cast<std::size_t>(ranks) * sizeof(Rank)) {
  if (pages_.data() == nullptr)
    throw Error("no memory that " + std::to_string(ranks) + " rank processes share: " + std::strerror(errno) +
                "; use fewer ranks, or the transport \"threads\"");
  new (pages_.data()) std::atomic<bool>(false);
  // Zero is what the constructors would write, but for this: pages of slots stay untouched.
  for (int number = 0; number < ranks; ++number) rank(number).finished.store(true);
}

std::atomic<bool>& SharedWaits::stop_flag() {
  return *std::launder(reinterpret_cast<std::atomic<bool>*>(pages_.data()));
}

SharedWaits::Rank& SharedWaits::rank(int number) const {
  return *std::launder(
      reinterpret_cast<Rank*>(pages_.data() + 64 + static_cast<std::size_t>(number) * sizeof(Rank)));
}

int SharedWaits::enter(int number, const CellWait& wait, std::uint64_t order) {
  Rank& own = rank(number);
  int slot = own.used.load(std::memory_order_relaxed);
  if (!free_slots_.empty()) {
    slot = free_slots_.back();
    free_slots_.pop_back();
  } else if (slot < most_waits) {
    own.used.store(slot + 1);
  } else {
    own.too_many.store(true);
    return -1;
  }
  own.slots[slot].wait = wait;
  own.slots[slot].number.store(order);
  return slot;
}

void SharedWaits::leave(int number, int slot) {
  Rank& own = rank(number);
  own.left.fetch_add(1);
  if (slot < 0) return;
  own.slots[slot].number.store(0);
  free_slots_.push_back(slot);
}

std::uint64_t SharedWaits::left(int number) const { return rank(number).left.load(); }

void SharedWaits::note_idle(int number, std::uint64_t left) { rank(number).idle_at.store(left + 1); }

void SharedWaits::finish(int number) { rank(number).finished.store(true); }

std::span<char> SharedWaits::texts(int number) const { return rank(number).texts; }

bool SharedWaits::wait_for_commit(int number) {
  std::atomic<std::int32_t>& word = rank(number).commit;
  while (word.load() == Undecided) sleep_on(word, Undecided);
  return word.load() == Send;
}

bool SharedWaits::wait_for_code(int number) {
  std::atomic<std::int32_t>& word = rank(number).code;
  while (word.load() == Undecided) sleep_on(word, Undecided);
  return word.exchange(Undecided) == Send;
}

void SharedWaits::answer_for_code(int number, bool is_there) {
  std::atomic<std::int32_t>& word = rank(number).code;
  word.store(is_there ? Send : Leave);
  wake(&word);
}

void SharedWaits::begin(const std::vector<bool>& has_work) {
  for (int number = 0; number < ranks_; ++number) {
    Rank& each = rank(number);
    each.idle_at.store(0);
    each.finished.store(!has_work[static_cast<std::size_t>(number)]);
    each.used.store(0);
    each.too_many.store(false);
    each.commit.store(Undecided);
    each.code.store(Undecided);
  }
}

void SharedWaits::commit(int number, bool send) {
  std::atomic<std::int32_t>& word = rank(number).commit;
  word.store(send ? Send : Leave);
  wake(&word);
}

void SharedWaits::wake_all() {
  for (int number = 0; number < ranks_; ++number) {
    Rank& each = rank(number);
    for (int slot = 0; slot < each.used.load(); ++slot)
      if (each.slots[slot].number.load() != 0) wake(each.slots[slot].wait.cell);
  }
}

/// Nothing: one of them may still go on.
std::optional<SharedWaits::Snapshot> SharedWaits::idle_from(int start) const {
  Snapshot result;
  WaitGroup group;
  group.add(start);
  while (const std::optional<int> next = group.next()) {
    const int number = *next;
    const Rank& each = rank(number);
    if (each.finished.load()) {
      result.finished.push_back(number);
      continue;
    }
    const std::uint64_t left = each.left.load();
    if (each.too_many.load() || each.idle_at.load() != left + 1) return std::nullopt;
    result.ranks.emplace_back(number, left);
    for (int slot = 0; slot < each.used.load(); ++slot) {
      const std::uint64_t order = each.slots[slot].number.load();
      if (order == 0) continue;
      const CellWait wait = each.slots[slot].wait;
      // Torn, where the slot has changed meanwhile; then the rank has run.
      if (each.slots[slot].number.load() != order || each.left.load() != left) return std::nullopt;
      if (is_satisfied(wait, std::atomic_ref<const std::int32_t>(*wait.cell).load())) return std::nullopt;
      result.waits.push_back({wait, order});
      group.add(*wait.part->memory);
    }
  }
  if (result.waits.empty()) return std::nullopt;
  return result;
}

std::optional<SharedWaits::Deadlock> SharedWaits::find_deadlock() const {
  for (int start = 0; start < ranks_; ++start) {
    if (rank(start).finished.load()) continue;
    const std::optional<Snapshot> first = idle_from(start);
    if (!first) continue;
    // What is the same in both passes did not run between them: nothing did, and no signal is under way.
    const std::optional<Snapshot> second = idle_from(start);
    if (!second || first->ranks != second->ranks) continue;
    std::vector<ListedWait> waits = second->waits;
    const Location where = in_order(waits).front().wait.where.location();
    return Deadlock{deadlock_report(waits, second->finished, {}), where};
  }
  return std::nullopt;
}

}  // namespace pl::detail
