// jit/tool/critical_path.cpp
#include "jit/tool/critical_path.hpp"

#include <algorithm>
#include <optional>

namespace trilith::tool {
namespace {

class Walk {
 public:
  explicit Walk(const TraceFile& trace)
      : trace_(trace),
        children_(trace.spans.size()),
        by_end_(trace.rows.size()),
        into_(trace.spans.size()),
        used_(trace.arrows.size()) {
    for (std::size_t i = 0; i < trace.spans.size(); ++i)
      (trace.spans[i].parent < 0 ? by_end_[trace.spans[i].row]
                                 : children_[static_cast<std::size_t>(trace.spans[i].parent)])
          .push_back(static_cast<int>(i));
    for (std::vector<std::vector<int>>* lists : {&by_end_, &children_})
      for (std::vector<int>& spans : *lists)
        std::sort(spans.begin(), spans.end(), [&](int a, int b) {
          return span(a).end != span(b).end ? span(a).end < span(b).end : a < b;
        });
    for (std::size_t i = 0; i < trace.arrows.size(); ++i)
      into_[static_cast<std::size_t>(trace.arrows[i].to)].push_back(static_cast<int>(i));
  }

  std::vector<PathStep> run() {
    int at = 0;
    for (std::size_t i = 0; i < trace_.spans.size(); ++i)
      if (span(static_cast<int>(i)).end > span(at).end) at = static_cast<int>(i);
    std::optional<int> here = at;
    std::int64_t time = span(at).end;
    while (here) here = step(*here, time);
    std::reverse(steps_.begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  [[nodiscard]] const TraceSpan& span(int i) const { return trace_.spans[static_cast<std::size_t>(i)]; }

  /// Takes what happened in this span before `time`; gives where the path goes on, at `time`.
  std::optional<int> step(int in, std::int64_t& time) {
    const TraceSpan& here = span(in);
    const std::optional<int> child = last_ended(children_[static_cast<std::size_t>(in)], time);
    const std::int64_t local = child ? span(*child).end : here.begin;
    // At a span's own begin what ended before it in its rank competes with the arrow.
    const std::optional<int> before = !child && here.parent < 0 ? ended_before(here) : std::nullopt;
    if (const std::optional<int> arrow = last_arrow(in, time, local)) {
      const TraceArrow& taken = trace_.arrows[static_cast<std::size_t>(*arrow)];
      // What submitted it is no rival: that it went on afterwards did not hold up the task.
      const bool rival = before && *before != outermost(taken.from);
      const std::int64_t known = taken.arrives > local ? local : rival ? span(*before).end : taken.leaves - 1;
      if (taken.leaves > known) {
        used_[static_cast<std::size_t>(*arrow)] = true;
        add({PathStep::Kind::Span, in, 0, taken.arrives, time});
        add({PathStep::Kind::Arrow, in, *arrow, taken.leaves, taken.arrives});
        time = taken.leaves;
        return taken.from;
      }
    }
    add({PathStep::Kind::Span, in, 0, local, time});
    time = local;
    if (child) return child;
    if (here.parent >= 0) return here.parent;
    if (!before) return std::nullopt;
    add({PathStep::Kind::Gap, in, 0, span(*before).end, time});
    time = span(*before).end;
    return before;
  }

  [[nodiscard]] int outermost(int in) const {
    while (span(in).parent >= 0) in = span(in).parent;
    return in;
  }

  /// The last of these, which are sorted by their ends, that ended by `time` and began before.
  [[nodiscard]] std::optional<int> last_ended(const std::vector<int>& spans, std::int64_t time) const {
    auto at = std::upper_bound(spans.begin(), spans.end(), time,
                               [&](std::int64_t until, int i) { return until < span(i).end; });
    while (at != spans.begin() && span(*(at - 1)).begin >= time) --at;
    if (at == spans.begin()) return std::nullopt;
    return *(at - 1);
  }

  /// The arrow that ends last in this span, after what its row did itself.
  [[nodiscard]] std::optional<int> last_arrow(int in, std::int64_t time, std::int64_t local) const {
    const std::vector<int>& arrows = into_[static_cast<std::size_t>(in)];
    for (std::size_t i = arrows.size(); i-- > 0;) {
      const TraceArrow& arrow = trace_.arrows[static_cast<std::size_t>(arrows[i])];
      if (arrow.arrives > time || arrow.leaves > arrow.arrives || used_[static_cast<std::size_t>(arrows[i])])
        continue;
      if (arrow.arrives < local) return std::nullopt;
      return arrows[i];
    }
    return std::nullopt;
  }

  /// Of its track the span that ended last before this one began.
  [[nodiscard]] std::optional<int> ended_before(const TraceSpan& here) const {
    std::optional<int> last;
    for (std::size_t row = 0; row < trace_.rows.size(); ++row) {
      if (trace_.rows[row].track != trace_.rows[here.row].track) continue;
      const std::optional<int> candidate = last_ended(by_end_[row], here.begin);
      if (candidate && (!last || span(*candidate).end > span(*last).end)) last = candidate;
    }
    return last;
  }

  void add(const PathStep& step) {
    if (step.end <= step.begin && step.kind != PathStep::Kind::Arrow) return;
    if (!steps_.empty() && step.kind == PathStep::Kind::Span && steps_.back().kind == step.kind &&
        steps_.back().span == step.span) {
      steps_.back().begin = step.begin;
      return;
    }
    steps_.push_back(step);
  }

  const TraceFile& trace_;
  std::vector<std::vector<int>> children_;  ///< of each span, as those below by their ends
  std::vector<std::vector<int>> by_end_;    ///< of each row, those that lie in no other
  std::vector<std::vector<int>> into_;      ///< arrows of each span, by arrival
  std::vector<bool> used_;
  std::vector<PathStep> steps_;  ///< the last one first
};

}  // namespace

std::vector<PathStep> critical_path(const TraceFile& trace) { return Walk(trace).run(); }

}  // namespace trilith::tool
