#include "runtime/windows/deadlock_report.hpp"

#include "runtime/windows/remote_call.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

namespace pl::detail {

WaitReport report_of(const CellWait& wait) {
  WaitReport report;
  report.rank = wait.part->rank;
  report.where = wait.where.location();
  report.what = name_of(wait.operation);
  report.window = wait.part->memory->title();
  report.index = wait.index;
  report.expected = wait.expected;
  report.at_least = wait.at_least;
  report.seen = std::atomic_ref(*wait.cell).load(std::memory_order_seq_cst);
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

/// The rank that would have to end the wait, as far as that is known: the cell's last writer, or the only other rank.
int awaited(const WaitReport& wait, const std::vector<WaitReport>& waits, const std::vector<int>& finished) {
  if (wait.writer >= 0) return wait.writer;
  std::set<int> others(finished.begin(), finished.end());
  for (const WaitReport& other : waits) others.insert(other.rank);
  others.erase(wait.rank);
  return others.size() == 1 ? *others.begin() : -1;
}

/// "cycle: rank 0 waits for rank 1, which waits for rank 0", or nothing.
std::string cycle_text(const std::vector<WaitReport>& waits, const std::vector<int>& finished) {
  std::map<int, int> next;
  for (const WaitReport& wait : waits) next.try_emplace(wait.rank, awaited(wait, waits, finished));
  std::set<int> walked;
  for (const auto& [start, unused] : next) {
    std::vector<int> path;
    for (int rank = start; next.count(rank) != 0 && walked.insert(rank).second; rank = next[rank])
      path.push_back(rank);
    if (path.empty()) continue;
    const auto begin = std::find(path.begin(), path.end(), next[path.back()]);
    if (begin == path.end()) continue;
    std::string text = "\n  cycle: rank " + std::to_string(*begin);
    for (auto at = begin; at != path.end(); ++at)
      text += (at == begin ? " waits for rank " : ", which waits for rank ") + std::to_string(next[*at]);
    return text;
  }
  return {};
}

}  // namespace

std::string deadlock_text(const std::vector<WaitReport>& waits, const std::vector<int>& finished,
                          const std::string& collectives) {
  std::string text = "deadlock: " + std::to_string(waits.size()) + (waits.size() == 1 ? " wait" : " waits") +
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
            (wait.at_least ? ">= " : "== ") + std::to_string(wait.expected) + "; it is " +
            std::to_string(wait.seen);
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
  return text +
         "\n  Check that each wait has its notify, with the right peer, cell and value, before the "
         "notifier itself waits";
}

}  // namespace pl::detail
