#include "runtime/windows/deadlock_report.hpp"

#include "runtime/windows/wait_monitor.hpp"

#include <atomic>

namespace pl::detail {

WaitReport report_of(const CellWait& wait) {
  WaitReport report;
  report.rank = wait.part->rank;
  report.where = wait.where.location();
  report.what = wait.what;
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
  text += collectives;
  return text +
         "\n  Check that each wait has its notify, with the right peer, cell and value, before the "
         "notifier itself waits";
}

}  // namespace pl::detail
