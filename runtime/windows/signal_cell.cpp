#include "runtime/windows/signal_cell.hpp"

namespace pl::detail {
namespace {

// A wait that wants an older one joins the oldest that is kept: it may then miss a race, and never invents one.
constexpr std::size_t most_changes = 16;

}  // namespace

std::optional<SignalCell::Fault> SignalCell::change(const WindowAccess& setter, std::int32_t value,
                                                    const VectorClock& clock, int owner) {
  using Kind = Fault::Kind;
  std::optional<Fault> fault;
  const bool sets = setter.kind == WindowAccess::Kind::Write;
  for (const WindowAccess& earlier : writers_) {
    const bool other_sets = earlier.kind == WindowAccess::Kind::Write;
    if ((!sets && !other_sets) || earlier.before(clock)) continue;
    // A Set of the cell's own rank is a reset.
    const bool resets = (sets && setter.rank == owner) || (other_sets && earlier.rank == owner);
    fault = Fault{resets               ? Kind::LostReset
                  : sets && other_sets ? Kind::SetByMany
                                       : Kind::SetAndAdd,
                  earlier, setter, std::nullopt, 0};
    break;
  }
  // Had it come before the wait, that would have found another value.
  if (!fault && last_wait_ && !last_wait_->at_least && value != last_wait_->expected &&
      !last_wait_->by.before(clock))
    fault = Fault{Kind::LostValue, last_wait_->by, setter, std::nullopt, 0};
  if (!stale_ && repeated_ && !repeated_->by.before(clock))
    stale_ = Fault{Kind::Stale, last_wait_->by, repeated_->by, setter, next_number_};

  if (sets) writers_.clear();
  std::erase_if(writers_, [&](const WindowAccess& access) { return access.lane == setter.lane; });
  writers_.push_back(setter);
  Change next{next_number_++, value, setter, clock};
  if (!sets && !changes_.empty()) next.releases.join(changes_.back().releases);
  changes_.push_back(std::move(next));
  if (changes_.size() > most_changes) changes_.pop_front();
  return fault;
}

const SignalCell::Change* SignalCell::satisfying(const CellWait& wait) const {
  // The first of the last run of values that do.
  const Change* result = nullptr;
  for (auto at = changes_.rbegin(); at != changes_.rend(); ++at) {
    if (is_satisfied(wait, at->value))
      result = &*at;
    else if (result != nullptr)
      break;
  }
  return result;
}

std::optional<SignalCell::Fault> SignalCell::waited(const WindowAccess& waiter, const CellWait& wait,
                                                    VectorClock& clock) {
  const Change* const seen = satisfying(wait);
  if (seen == nullptr) return std::nullopt;  // by the zero of a new window
  std::optional<Fault> fault;
  const bool repeats =
      last_wait_ && seen->number <= last_wait_->seen && last_wait_->at_least == wait.at_least &&
      (wait.at_least ? wait.expected <= last_wait_->expected : wait.expected == last_wait_->expected) &&
      same_place(last_wait_->by.where, waiter.where) && last_wait_->by.before(clock);
  const Wait now{waiter, wait.expected, wait.at_least, seen->number};
  if (repeats && wait.index >= 0) {
    // The same wait again for the same signal: a mistake where there is another one that it should have waited for.
    for (const Change& change : changes_)
      if (!stale_ && change.number > seen->number && !change.by.before(clock))
        stale_ = Fault{Fault::Kind::Stale, last_wait_->by, waiter, change.by, change.number};
    repeated_ = now;
  } else {
    last_wait_ = now;
    repeated_.reset();
    if (stale_ && seen->number >= stale_->number) stale_.reset();
  }
  // It could as well have looked after a change that came since.
  if (!wait.at_least)
    for (const Change& change : changes_)
      if (change.number > seen->number && change.value != wait.expected && !change.by.before(clock)) {
        fault = Fault{Fault::Kind::LostValue, waiter, change.by, std::nullopt, 0};
        break;
      }
  clock.join(seen->releases);
  return fault;
}

std::optional<WindowAccess> SignalCell::unordered_change(const WindowAccess& reader,
                                                         const VectorClock& clock) const {
  for (const WindowAccess& writer : writers_)
    if (!writer.before(reader, clock)) return writer;
  return std::nullopt;
}

}  // namespace pl::detail
