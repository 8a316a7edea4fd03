// jit/tool/trace_report.hpp -- a trace as text: its critical path, who waited, which kernels took the time.
#pragma once

#include "jit/tool/critical_path.hpp"
#include "jit/tool/trace_file.hpp"

#include <string>

namespace trilith::tool {

/// `most_steps` of the critical path, the longest; 0: all of them.
[[nodiscard]] std::string report_of(const TraceFile& trace, const std::vector<PathStep>& path,
                                    std::size_t most_steps);

/// "12.345 us", in the unit that fits.
[[nodiscard]] std::string duration_text(std::int64_t nanoseconds);

/// An SVG picture: a row for each row of the trace, its spans with their names, arrows, the critical path marked.
[[nodiscard]] std::string timeline_svg(const TraceFile& trace, const std::vector<PathStep>& path);

}  // namespace trilith::tool
