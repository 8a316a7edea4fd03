#include "runtime/windows/check_report.hpp"

#include <algorithm>

namespace pl::detail::report {
namespace {

std::string title_of(const WindowPart& part) {
  return "rank " + std::to_string(part.rank) + "'s part of " + part.memory->title();
}

std::string bytes(const WindowAccess& access) {
  if (access.end - access.begin == 1) return "byte " + std::to_string(access.begin);
  return "bytes " + std::to_string(access.begin) + " to " + std::to_string(access.end - 1);
}

std::string line(const WindowAccess& access, const char* verb) {
  return "\n  rank " + std::to_string(access.rank) + ": " + access.what + " " + verb + " " + bytes(access) +
         " at " + access.where.location().str();
}

std::string line(const WindowAccess& access) {
  static constexpr const char* verbs[] = {"reads", "writes", "adds to"};
  return line(access, verbs[static_cast<int>(access.kind)]);
}

std::string signal_line(const WindowAccess& access) {
  return "\n  rank " + std::to_string(access.rank) + ": " + access.what + " at " +
         access.where.location().str();
}

}  // namespace

std::string race(const WindowPart& part, const WindowAccess& earlier, const WindowAccess& later) {
  std::string text =
      "race: nothing orders two accesses to " + title_of(part) + ":" + line(later) + line(earlier);
  if (earlier.published && *earlier.published == not_published)
    return text + "\n  Only a later pld::notify to rank " + std::to_string(part.rank) +
           " by the task that wrote, a pld::fence or a collective puts the remote write before anything else";
  return text +
         "\n  Let the rank that comes first notify after its access and the other one wait for that before "
         "its own, or put a collective between them";
}

std::string misuse(const WindowPart& part, const WindowAccess& signal, const WindowAccess& store) {
  return "misuse of a signal cell: cell " + std::to_string(signal.begin / 4) + " of " + title_of(part) +
         " is used as a signal and written as data:" + signal_line(signal) + line(store) +
         "\n  Write signals by pld::notify alone, and keep data in other cells or another window: a store "
         "wakes nobody and orders nothing";
}

std::string by_hand(const WindowPart& part, const WindowAccess& collective, const WindowAccess& use) {
  const char* verb = use.kind == WindowAccess::Kind::Read  ? "waited for"
                     : use.kind == WindowAccess::Kind::Add ? "added to"
                                                           : "Set";
  return "misuse of a signal cell: cell " + std::to_string(collective.begin / 4) + " of " + title_of(part) +
         " is used by a collective and " + verb + " by hand:" + signal_line(use) + signal_line(collective) +
         "\n  The cells of .signal are the collective's own, which counts in them and clears them: use "
         "others for pld::notify and pld::wait";
}

std::string fault(const WindowPart& part, std::int64_t cell, const SignalCell::Fault& fault) {
  const std::string where = "cell " + std::to_string(cell) + " of " + title_of(part);
  const std::string both = signal_line(fault.later) + signal_line(fault.earlier);
  using Kind = SignalCell::Fault::Kind;
  switch (fault.kind) {
    case Kind::SetByMany:
      return "misuse of a signal cell: several writers Set " + where + ", and nothing orders them:" + both +
             "\n  One of the values is lost: give each writer a cell of its own, or use NotifyOp::AtomicAdd";
    case Kind::SetAndAdd:
      return "misuse of a signal cell: one rank Sets " + where +
             " and another adds to it, and nothing orders them:" + both +
             "\n  An addition may be overwritten: use NotifyOp::AtomicAdd for all of them, or cells of their "
             "own";
    case Kind::LostReset:
      return "lost signal: a reset of " + where +
             " may overwrite a signal of another rank, which then nobody sees:" + both +
             "\n  Do not reset cells: wait for a higher value in the next round, or use another cell; a new "
             "window is zero";
    case Kind::LostValue:
      return "lost signal: a change of " + where +
             " may come before the wait for exactly the value that it replaces has seen that:" + both +
             "\n  Wait for at least the value (WaitCmp::Ge), or let the waiting rank notify the other one "
             "before the next change";
    case Kind::Stale:
      return "stale signal: a wait for " + where +
             " is satisfied by the signal of an earlier round:" + signal_line(fault.later) +
             "\n  the wait that had seen it:" + signal_line(fault.earlier) +
             "\n  the signal that it did not wait for:" + signal_line(*fault.signal) +
             "\n  Signals do not reset themselves: wait for a higher value in each round, or use another "
             "cell";
  }
  return {};
}

std::string unsignalled(const WindowPart& part, const WindowAccess& write) {
  return "published but never signalled: no notify to rank " + std::to_string(part.rank) +
         ", fence or collective of rank " + std::to_string(write.rank) + " follows a write to " +
         title_of(part) + ":" + line(write) + "\n  Rank " + std::to_string(part.rank) +
         " cannot know when the data are there: call pld::notify behind the write";
}

std::string collectives(const WindowMemory& window, const std::vector<std::vector<std::string>>& calls) {
  std::size_t most = 0;
  for (const auto& rank : calls) most = std::max(most, rank.size());
  if (most == 0) return {};
  // What stands behind the place tells the user where; two ranks make one call from different lines.
  const auto call_of = [](const std::string& text) { return text.substr(0, text.rfind(" at ")); };
  std::size_t first = 0;
  const auto differ = [&](std::size_t i) {
    for (const auto& rank : calls)
      if (i >= rank.size() || i >= calls.front().size() || call_of(rank[i]) != call_of(calls.front()[i]))
        return true;
    return false;
  };
  while (first < most && !differ(first)) ++first;
  std::string text = "\n  the collectives of " + window.title() + ", the first difference marked by >:";
  constexpr std::size_t most_ranks = 16;
  for (std::size_t member = 0; member < calls.size() && member < most_ranks; ++member) {
    text += "\n  rank " + std::to_string(window.part(static_cast<int>(member)).rank) + ":";
    const auto& rank = calls[member];
    const std::size_t from = first > 2 ? first - 2 : 0;
    if (from != 0) text += " … (" + std::to_string(from) + " before)";
    for (std::size_t i = from; i < std::min(rank.size(), first + 2); ++i)
      text += std::string("\n    ") + (i == first ? "> " : "  ") + std::to_string(i + 1) + ". " + rank[i];
    if (first >= rank.size() && first < most) text += "\n    > " + std::to_string(first + 1) + ". none";
  }
  if (calls.size() > most_ranks)
    text += "\n  … and " + std::to_string(calls.size() - most_ranks) + " ranks more";
  return text;
}

}  // namespace pl::detail::report
