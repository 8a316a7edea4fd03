// jit/tool/trace_file.hpp -- a trace that a program has written (TRILITH_TRACE), read back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trilith::tool {

/// All times in nanoseconds since the first event.
struct TraceRow {
  std::int64_t track = 0, row = 0;
  std::string track_name, name;
};
struct TraceSpan {
  std::size_t row = 0;
  std::string name, category;
  std::int64_t begin = 0, end = 0;
  int parent = -1;  ///< the span of its row that it lies in
  int depth = 0;
  std::size_t number = 0;  ///< of its event in the file
};
struct TraceArrow {
  std::string name;
  int from = 0, to = 0;  ///< spans
  std::int64_t leaves = 0, arrives = 0;
};

struct TraceFile {
  std::vector<TraceRow> rows;      ///< by track, then row
  std::vector<TraceSpan> spans;    ///< by row, then begin; a span stands before those in it
  std::vector<TraceArrow> arrows;  ///< by arrival; those whose ends lie in no span are left out
  std::size_t arrows_left_out = 0;
  [[nodiscard]] std::int64_t length() const;
  /// "rank 0 (device 0), core 1"
  [[nodiscard]] std::string place(std::size_t row) const;
};

/// Throws pl::UserError: the file, the line, and what is wrong with it.
[[nodiscard]] TraceFile read_trace(const std::string& path);

}  // namespace trilith::tool
