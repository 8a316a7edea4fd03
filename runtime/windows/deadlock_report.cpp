#include "runtime/windows/deadlock_report.hpp"

#include "runtime/windows/call_note.hpp"
#include "runtime/windows/remote_call.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

namespace pl::detail {

bool waits_for_change(const CellWait& wait) { return wait.wraps && !wait.at_least; }

namespace {

void add_call(WaitReport& report, const CellWait& wait) {
  const WindowPart& part = wait.collective != nullptr ? *wait.collective : *wait.part;
  const CollectiveCall& call = last_call(part);
  // Others wait for the end of the one before.
  if (part.state->collectives == 0 || call.operation != wait.operation) return;
  report.call = text_of(call);
  if (wait.collective != nullptr)
    report.call += " = the cells from " + std::to_string(part.state->first_signal_cell) + " of " +
                   part.state->signal->memory->title();
  report.call_window = part.memory->title();
  report.call_number = call.number;
}

}  // namespace

WaitReport report_of(const CellWait& wait) {
  WaitReport report;
  report.rank = wait.part->rank;
  report.where = wait.where.location();
  report.what = name_of(wait.operation);
  report.window = wait.part->memory->title();
  for (int member = 0; member < wait.part->memory->size(); ++member)
    report.ranks.push_back(wait.part->memory->part(member).rank);
  report.index = wait.index;
  report.expected = wait.expected;
  report.at_least = wait.at_least;
  report.changes = waits_for_change(wait);
  report.seen = std::atomic_ref(*wait.cell).load(std::memory_order_seq_cst);
  add_call(report, wait);
  if (wait.index < 0) return report;
  const auto& writers = wait.part->state->last_writers;
  const LastWriter& last = writers[static_cast<std::size_t>(wait.index) % writers.size()];
  if (last.cell.load() == wait.index && last.rank.load() >= 0) {
    report.writer = last.rank.load();
    report.written_at = {last.file.load(), last.line.load(), 0};
  }
  return report;
}

namespace {

/// The ranks of which one would have to end the wait, as far as that is known: the cell's last writer; where there is
/// none, every other rank of the window that has not finished, of a collective those that are not in it.
std::set<int> awaited(const WaitReport& wait, const std::vector<WaitReport>& waits,
                      const std::vector<int>& finished) {
  if (wait.writer >= 0) return {wait.writer};
  std::set<int> result(wait.ranks.begin(), wait.ranks.end());
  for (const int rank : finished) result.erase(rank);
  for (const WaitReport& other : waits)
    if (wait.index < 0 && other.index < 0 && other.window == wait.window) result.erase(other.rank);
  result.erase(wait.rank);
  return result;
}

std::string text_of(const std::set<int>& ranks, const char* last_separator = " or ") {
  std::string text = "rank ";
  std::size_t left = ranks.size();
  for (const int rank : ranks) {
    text += std::to_string(rank);
    if (--left != 0) text += left == 1 ? last_separator : ", ";
  }
  return text;
}

/// "cycle: rank 0 waits for rank 1, which waits for rank 0"; where it is not known for which of several ranks, "cycle:
/// rank 0 waits for rank 1 or 2, rank 1 for …"; or nothing.
std::string cycle_text(const std::vector<WaitReport>& waits, const std::vector<int>& finished) {
  std::map<int, std::set<int>> next;
  for (const WaitReport& wait : waits) next.try_emplace(wait.rank, awaited(wait, waits, finished));
  // Who waits for none of those that wait themselves is in no cycle.
  for (bool again = true; again;) {
    again = false;
    for (auto& [rank, others] : next)
      std::erase_if(others, [&next](int other) { return !next.contains(other); });
    again = std::erase_if(next, [](const auto& each) { return each.second.empty(); }) != 0;
  }
  if (next.empty()) return {};
  std::vector<int> path;
  int rank = next.begin()->first;
  for (; std::ranges::find(path, rank) == path.end() && next[rank].size() == 1; rank = *next[rank].begin())
    path.push_back(rank);
  if (next[rank].size() == 1) {
    std::string text = "\n  cycle: rank " + std::to_string(rank);
    for (auto at = std::ranges::find(path, rank); at != path.end(); ++at)
      text += (*at == rank ? " waits for " : ", which waits for ") + text_of(next[*at]);
    return text;
  }
  constexpr std::size_t most = 8;
  std::string text;
  if (next.size() <= most) {
    for (const auto& [each, others] : next)
      text += (text.empty() ? "\n  cycle: rank " : ", rank ") + std::to_string(each) +
              (text.empty() ? " waits for " : " for ") + text_of(others);
    return text;
  }
  for (const auto& [each, others] : next) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "\n  cycle: each of the ranks " + text + " waits for another one of them";
}

/// Of a window with whose data ranks are in different collective calls: who makes which; or nothing.
std::string different_calls(const std::vector<WaitReport>& waits) {
  struct Call {
    const WaitReport* first;
    std::set<int> ranks;
  };
  const auto same = [](const WaitReport& a, const WaitReport& b) {
    return a.call_window == b.call_window && a.call_number == b.call_number && a.call == b.call;
  };
  std::map<std::string, std::vector<Call>> by_window;
  for (const WaitReport& wait : waits) {
    if (wait.call.empty()) continue;
    std::vector<Call>& calls = by_window[wait.call_window];
    auto known = std::ranges::find_if(calls, [&](const Call& call) { return same(*call.first, wait); });
    if (known == calls.end()) known = calls.insert(known, {&wait, {}});
    known->ranks.insert(wait.rank);
  }
  constexpr std::size_t most = 8;
  for (const auto& [window, calls] : by_window) {
    if (calls.size() < 2) continue;
    std::string text = "ranks make different collective calls, of " + window + ":";
    for (std::size_t i = 0; i < calls.size() && i < most; ++i)
      text += "\n  call " + std::to_string(calls[i].first->call_number) + " of " +
              text_of(calls[i].ranks, " and ") + " is " + calls[i].first->call + " at " +
              calls[i].first->where.str();
    if (calls.size() > most) text += "\n  … and " + std::to_string(calls.size() - most) + " more";
    return text + "\n  every rank makes the same calls in the same order, with the same shape and options\n";
  }
  return {};
}

}  // namespace

std::string deadlock_text(const std::vector<WaitReport>& waits, const std::vector<int>& finished,
                          const std::string& collectives) {
  const std::string different = different_calls(waits);
  std::string text = different + "deadlock: " + std::to_string(waits.size()) +
                     (waits.size() == 1 ? " wait" : " waits") +
                     " that nothing can end any more; every rank of the window is waiting or has finished";
  constexpr std::size_t most = 32;
  for (std::size_t i = 0; i < waits.size() && i < most; ++i) {
    const WaitReport& wait = waits[i];
    text += "\n  rank " + std::to_string(wait.rank) + " at " + wait.where.str() + ": " + wait.what;
    if (wait.index < 0) {
      text += " of " + wait.window + ": other ranks have not called it";
      continue;
    }
    text += " for cell " + std::to_string(wait.index) + " of " + wait.window + " to be " +
            (wait.changes    ? "another value than "
             : wait.at_least ? ">= "
                             : "== ") +
            std::to_string(wait.expected) + "; it is " + std::to_string(wait.seen);
    if (wait.writer >= 0)
      text += ", last written by rank " + std::to_string(wait.writer) + " at " + wait.written_at.str();
    else
      text += ", and no rank has notified it";
  }
  if (waits.size() > most) text += "\n  … and " + std::to_string(waits.size() - most) + " more";
  std::string ranks;
  for (const int rank : finished) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  if (!ranks.empty()) text += "\n  finished: rank " + ranks;
  text += cycle_text(waits, finished) + collectives;
  if (!different.empty()) return text;
  return text +
         "\n  Check that each wait has its notify, with the right peer, cell and value, before the "
         "notifier itself waits";
}

}  // namespace pl::detail
