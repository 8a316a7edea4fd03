// jit/tool/critical_path.hpp -- what a run's end has waited for, one after another.
#pragma once

#include "jit/tool/trace_file.hpp"

#include <cstdint>
#include <vector>

namespace trilith::tool {

struct PathStep {
  enum class Kind : std::uint8_t { Span, Arrow, Gap };
  Kind kind = Kind::Span;
  int span = 0;   ///< Span: it; Arrow, Gap: the one at its end
  int arrow = 0;  ///< Arrow
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t time() const { return end - begin; }
};

/// From the end of the span that ends last back to the begin: through the innermost spans of a row; from a wait to the
/// signal that ended it where that came after the wait had begun; from the begin of a task to what came last, the
/// call that submitted it or the task of its rank that ended before. In the order of time. What the trace does not
/// explain is a gap.
[[nodiscard]] std::vector<PathStep> critical_path(const TraceFile& trace);

}  // namespace trilith::tool
