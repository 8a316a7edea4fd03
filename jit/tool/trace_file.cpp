// jit/tool/trace_file.cpp
#include "jit/tool/trace_file.hpp"

#include "codegen/error.hpp"
#include "jit/tool/json_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace trilith::tool {
namespace {

using nlohmann::json;

constexpr const char* how_to_get_one = "; a program writes one with TRILITH_TRACE=out.json";

struct ArrowEnd {
  std::pair<std::int64_t, std::int64_t> row;
  std::int64_t time;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  TraceFile read() {
    const json document = read_json(path_, how_to_get_one);
    const json* events = &document;
    if (document.is_object()) {
      const auto list = document.find("traceEvents");
      if (list == document.end())
        throw pl::UserError(path_ + " is no trace: it has no list \"traceEvents\"" + how_to_get_one);
      events = &*list;
    }
    if (!events->is_array())
      throw pl::UserError(path_ + " is no trace: \"traceEvents\" is no list" + how_to_get_one);
    for (const json& event : *events) {
      ++number_;
      take(event);
    }
    if (spans_.empty()) throw pl::UserError(path_ + " is a trace without spans" + how_to_get_one);
    order();
    connect();
    return std::move(file_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw pl::UserError(path_ + ": event " + std::to_string(number_) + " of the trace " + what);
  }

  [[nodiscard]] std::int64_t time(const json& event, const char* key) const {
    const auto at = event.find(key);
    if (at == event.end() || !at->is_number())
      refuse(std::string("has no number \"") + key + "\", its time in microseconds");
    return std::llround(at->get<double>() * 1000);
  }
  [[nodiscard]] static std::pair<std::int64_t, std::int64_t> row_of(const json& event) {
    const auto number = [&](const char* key) {
      const auto at = event.find(key);
      return at != event.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
    };
    return {number("pid"), number("tid")};
  }
  [[nodiscard]] static std::string text(const json& event, const char* key) {
    const auto at = event.find(key);
    return at != event.end() && at->is_string() ? at->get<std::string>() : std::string();
  }
  [[nodiscard]] std::string id_of(const json& event) const {
    const auto at = event.find("id");
    if (at == event.end()) refuse("is an arrow without \"id\"");
    return at->dump();
  }

  void take(const json& event) {
    if (!event.is_object()) refuse("is no object");
    const std::string kind = text(event, "ph");
    if (kind == "X") {
      TraceSpan span{.name = text(event, "name"), .category = text(event, "cat"), .number = number_};
      span.begin = time(event, "ts");
      span.end = span.begin + time(event, "dur");
      if (span.end < span.begin) refuse("ends before it begins");
      spans_[row_of(event)].push_back(std::move(span));
    } else if (kind == "M") {
      const auto arguments = event.find("args");
      const std::string name =
          arguments != event.end() && arguments->is_object() ? text(*arguments, "name") : "";
      if (text(event, "name") == "process_name") tracks_[row_of(event).first] = name;
      if (text(event, "name") == "thread_name") names_[row_of(event)] = name;
    } else if (kind == "s") {
      begun_[id_of(event)] = {row_of(event), time(event, "ts")};
    } else if (kind == "f") {
      ended_.push_back({number_, id_of(event), text(event, "name"), {row_of(event), time(event, "ts")}});
    }
  }

  /// Rows and spans in order, each span with the one it lies in.
  void order() {
    std::int64_t first = spans_.begin()->second.front().begin;
    for (const auto& [row, spans] : spans_)
      for (const TraceSpan& span : spans) first = std::min(first, span.begin);
    first_ = first;
    for (auto& [row, spans] : spans_) {
      const std::size_t index = file_.rows.size();
      const std::size_t first_of_row = file_.spans.size();
      const auto track = tracks_.find(row.first);
      const auto name = names_.find(row);
      file_.rows.push_back({row.first, row.second,
                            track != tracks_.end() ? track->second : "track " + std::to_string(row.first),
                            name != names_.end() ? name->second : "row " + std::to_string(row.second)});
      // Of two with the same times the one that was written later has the other in it: it ended later.
      std::sort(spans.begin(), spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
        return std::tuple(a.begin, b.end, b.number) < std::tuple(b.begin, a.end, a.number);
      });
      std::vector<int> open;
      for (TraceSpan& span : spans) {
        span.row = index;
        span.begin -= first;
        span.end -= first;
        while (!open.empty() && file_.spans[static_cast<std::size_t>(open.back())].end <= span.begin)
          open.pop_back();
        span.parent = open.empty() ? -1 : open.back();
        span.depth = static_cast<int>(open.size());
        open.push_back(static_cast<int>(file_.spans.size()));
        file_.spans.push_back(std::move(span));
      }
      rows_[row] = {first_of_row, file_.spans.size()};
    }
  }

  /// The innermost span at a moment of a row.
  [[nodiscard]] std::optional<int> span_at(const ArrowEnd& end) const {
    const auto row = rows_.find(end.row);
    if (row == rows_.end()) return std::nullopt;
    const auto begin = file_.spans.begin() + static_cast<std::ptrdiff_t>(row->second.first),
               end_of_row = file_.spans.begin() + static_cast<std::ptrdiff_t>(row->second.second);
    const auto behind =
        std::upper_bound(begin, end_of_row, end.time,
                         [](std::int64_t time, const TraceSpan& span) { return time < span.begin; });
    if (behind == begin) return std::nullopt;
    int found = static_cast<int>(behind - file_.spans.begin()) - 1;
    while (found >= 0 && file_.spans[static_cast<std::size_t>(found)].end < end.time)
      found = file_.spans[static_cast<std::size_t>(found)].parent;
    if (found < 0) return std::nullopt;
    return found;
  }

  void connect() {
    for (Ended& ended : ended_) {
      number_ = ended.event;
      const auto begun = begun_.find(ended.id);
      if (begun == begun_.end()) refuse("ends the arrow " + ended.id + ", which begins nowhere");
      ArrowEnd from = begun->second;
      from.time -= first_;
      ended.end.time -= first_;
      const std::optional<int> source = span_at(from), target = span_at(ended.end);
      if (source && target)
        file_.arrows.push_back({ended.name, *source, *target, from.time, ended.end.time});
      else
        ++file_.arrows_left_out;
    }
    std::sort(file_.arrows.begin(), file_.arrows.end(), [](const TraceArrow& a, const TraceArrow& b) {
      return std::tuple(a.arrives, a.leaves, a.from, a.to) < std::tuple(b.arrives, b.leaves, b.from, b.to);
    });
  }

  struct Ended {
    std::size_t event;
    std::string id, name;
    ArrowEnd end;
  };
  using Row = std::pair<std::int64_t, std::int64_t>;
  const std::string path_;
  std::size_t number_ = 0;
  std::int64_t first_ = 0;
  std::map<Row, std::vector<TraceSpan>> spans_;
  std::map<std::int64_t, std::string> tracks_;
  std::map<Row, std::string> names_;
  std::map<std::string, ArrowEnd> begun_;
  std::vector<Ended> ended_;
  std::map<Row, std::pair<std::size_t, std::size_t>> rows_;  ///< the first of its spans, and behind the last
  TraceFile file_;
};

}  // namespace

std::int64_t TraceFile::length() const {
  std::int64_t end = 0;
  for (const TraceSpan& span : spans) end = std::max(end, span.end);
  return end;
}

std::string TraceFile::place(std::size_t row) const { return rows[row].track_name + ", " + rows[row].name; }

TraceFile read_trace(const std::string& path) { return Reader(path).read(); }

}  // namespace trilith::tool
