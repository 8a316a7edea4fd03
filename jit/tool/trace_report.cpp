// jit/tool/trace_report.cpp
#include "jit/tool/trace_report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <vector>

namespace trilith::tool {
namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  // Names of kernels may be long.
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, pattern, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

const TraceSpan& span_of(const TraceFile& trace, int span) {
  return trace.spans[static_cast<std::size_t>(span)];
}

bool lies_in(const TraceFile& trace, const TraceSpan& span, const char* category) {
  for (int above = span.parent; above >= 0; above = span_of(trace, above).parent)
    if (span_of(trace, above).category == category) return true;
  return false;
}

std::string text_of(const TraceFile& trace, const PathStep& step) {
  const TraceSpan& span = span_of(trace, step.span);
  switch (step.kind) {
    case PathStep::Kind::Arrow: {
      const TraceArrow& arrow = trace.arrows[static_cast<std::size_t>(step.arrow)];
      return arrow.name + " from " + trace.place(span_of(trace, arrow.from).row);
    }
    case PathStep::Kind::Gap: return "(nothing) before " + span.name;
    case PathStep::Kind::Span: break;
  }
  return span.name;
}

std::string path_text(const TraceFile& trace, const std::vector<PathStep>& path, std::size_t most_steps) {
  std::int64_t total = 0;
  for (const PathStep& step : path) total += step.time();
  std::vector<std::size_t> by_time(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) by_time[i] = i;
  std::sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) {
    return path[a].time() != path[b].time() ? path[a].time() > path[b].time() : a < b;
  });
  if (most_steps != 0 && by_time.size() > most_steps) by_time.resize(most_steps);
  std::sort(by_time.begin(), by_time.end());
  std::string text = "critical path: " + duration_text(total) + ", " + std::to_string(path.size()) +
                     (path.size() == 1 ? " step\n" : " steps\n");
  text += format("%14s %14s %7s  %-36s %s\n", "at", "time", "share", "where", "what");
  std::int64_t shown = 0;
  for (const std::size_t i : by_time) {
    const PathStep& step = path[i];
    shown += step.time();
    text += format("%14s %14s %5.1f %%  %-36s %s\n", duration_text(step.begin).c_str(),
                   duration_text(step.time()).c_str(), percent(step.time(), total),
                   trace.place(span_of(trace, step.span).row).c_str(), text_of(trace, step).c_str());
  }
  if (by_time.size() < path.size())
    text += "and " + std::to_string(path.size() - by_time.size()) + " shorter steps of together " +
            duration_text(total - shown) + "; --steps 0 shows them\n";
  return text;
}

std::string waiting_text(const TraceFile& trace) {
  struct Rank {
    std::string name;
    std::int64_t work = 0, waiting = 0;
  };
  std::map<std::int64_t, Rank> ranks;
  for (const TraceSpan& span : trace.spans) {
    const TraceRow& row = trace.rows[span.row];
    const bool work =
        span.category == "task" || (span.category == "collective" && !lies_in(trace, span, "task"));
    const bool waits = span.category == "wait" && !lies_in(trace, span, "wait");
    if (!work && !waits) continue;
    Rank& rank = ranks[row.track];
    rank.name = row.track_name;
    (work ? rank.work : rank.waiting) += span.end - span.begin;
  }
  if (ranks.empty()) return "\nno tasks, collectives or waits\n";
  std::string text = format("\n%-24s %14s %14s %9s\n", "rank", "at work", "of it waiting", "share");
  for (const auto& [track, rank] : ranks)
    text += format("%-24s %14s %14s %7.1f %%\n", rank.name.c_str(), duration_text(rank.work).c_str(),
                   duration_text(rank.waiting).c_str(), percent(rank.waiting, rank.work));
  return text;
}

std::string kernels_text(const TraceFile& trace) {
  struct Kernel {
    std::int64_t calls = 0, time = 0, longest = 0, waiting = 0;
  };
  std::map<std::string, Kernel> kernels;
  for (const TraceSpan& span : trace.spans) {
    if (span.category == "task") {
      Kernel& kernel = kernels[span.name];
      ++kernel.calls;
      kernel.time += span.end - span.begin;
      kernel.longest = std::max(kernel.longest, span.end - span.begin);
    } else if (span.category == "wait" && !lies_in(trace, span, "wait")) {
      int above = span.parent;
      while (above >= 0 && span_of(trace, above).category != "task") above = span_of(trace, above).parent;
      if (above >= 0) kernels[span_of(trace, above).name].waiting += span.end - span.begin;
    }
  }
  if (kernels.empty()) return "";
  std::vector<std::pair<std::string, Kernel>> sorted(kernels.begin(), kernels.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.time != b.second.time ? a.second.time > b.second.time : a.first < b.first;
  });
  std::string text = format("\n%-36s %8s %14s %14s %14s %14s\n", "kernel", "blocks", "time", "of it waiting",
                            "mean", "longest");
  for (const auto& [name, kernel] : sorted)
    text += format("%-36s %8lld %14s %14s %14s %14s\n", name.c_str(), static_cast<long long>(kernel.calls),
                   duration_text(kernel.time).c_str(), duration_text(kernel.waiting).c_str(),
                   duration_text(kernel.time / kernel.calls).c_str(), duration_text(kernel.longest).c_str());
  return text;
}

}  // namespace

std::string duration_text(std::int64_t nanoseconds) {
  const auto value = static_cast<double>(nanoseconds);
  if (nanoseconds < 1'000'000) return format("%.3f us", value / 1e3);
  if (nanoseconds < 1'000'000'000) return format("%.3f ms", value / 1e6);
  return format("%.3f s", value / 1e9);
}

std::string report_of(const TraceFile& trace, const std::vector<PathStep>& path, std::size_t most_steps) {
  std::string text = std::to_string(trace.spans.size()) + (trace.spans.size() == 1 ? " span, " : " spans, ") +
                     std::to_string(trace.arrows.size()) +
                     (trace.arrows.size() == 1 ? " arrow, " : " arrows, ") + duration_text(trace.length()) +
                     "\n";
  if (trace.arrows_left_out != 0)
    text += std::to_string(trace.arrows_left_out) + " arrows lie in no span and are left out\n";
  return text + "\n" + path_text(trace, path, most_steps) + waiting_text(trace) + kernels_text(trace);
}

}  // namespace trilith::tool
