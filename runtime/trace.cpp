#include "runtime/trace.hpp"

#include "pl/log.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

namespace pl::detail {
namespace {

// Behind the last event: what makes the file complete, and is written over by the next one.
constexpr std::string_view tail = "\n]}\n";

// Rows of tasks that may wait stand below the cores.
constexpr int first_core_row = 1, own_thread_row = 2000;

// The hosts of other processes stand below all ranks.
constexpr int first_other_host = 1'000'000;

std::string place(TraceRow row) {
  return R"(, "pid": )" + std::to_string(row.track) + R"(, "tid": )" + std::to_string(row.row);
}

std::string microseconds(Clock::duration duration) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", std::chrono::duration<double, std::micro>(duration).count());
  return text;
}

const Clock::time_point process_start = Clock::now();

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Trace::Trace(std::string path) : path_(std::move(path)) { sender_.start = process_start; }

Trace* Trace::to(const std::string& path) {
  if (path.empty()) return nullptr;
  // Never destroyed: programs may run until the process ends.
  struct All {
    ForkSafeMutex mutex;
    std::map<std::string, std::unique_ptr<Trace>> traces TRILITH_GUARDED_BY(mutex);
  };
  static All& all = *new All;
  const Lock lock(all.mutex);
  std::unique_ptr<Trace>& trace = all.traces[path];
  if (!trace) trace.reset(new Trace(path));
  return trace.get();
}

Clock::time_point last_moment(Clock::time_point begin, Clock::time_point end) {
  return std::max(begin, end - std::chrono::nanoseconds(1));
}

TraceRow Trace::row_of_lane(int rank, int lane) {
  constexpr int own = TaskObserver::own_thread_lane;
  return {rank + 1, lane >= own ? own_thread_row + lane - own : first_core_row + lane};
}

void Trace::span(TraceRow row, std::string_view category, std::string_view text, Clock::time_point begin,
                 Clock::time_point end, const std::string& arguments) {
  const Lock lock(mutex_);
  if (row.track == host_track_)
    name(row, sender_.host_of_rank ? "host in the process of rank " + std::to_string(*sender_.host_of_rank)
                                   : "host");
  event(R"({"ph": "X")" + place(row) + R"(, "ts": )" + microseconds(begin - start()) + R"(, "dur": )" +
        microseconds(end - begin) + R"(, "cat": ")" + std::string(category) + R"(", "name": )" +
        json_string(text) + (arguments.empty() ? std::string("}") : R"(, "args": {)" + arguments + "}}"));
}

void Trace::arrow(std::string_view text, const TracePoint& from, const TracePoint& to) {
  const Lock lock(mutex_);
  const std::string common =
      R"(, "cat": "arrow", "id": )" + std::to_string(++arrows_) + R"(, "name": )" + json_string(text) + "}";
  event(R"({"ph": "s")" + place(from.row) + R"(, "ts": )" + microseconds(from.time - start()) + common);
  event(R"({"ph": "f", "bp": "e")" + place(to.row) + R"(, "ts": )" + microseconds(to.time - start()) +
        common);
}

void Trace::name_rank(int rank, int device, int cores) {
  const Lock lock(mutex_);
  const TraceRow row = row_of_device(rank);
  if (named_.contains({row.track, row.row})) return;
  name(row, "rank " + std::to_string(rank) + " (device " + std::to_string(device) + ")");
  for (int core = 0; core < cores; ++core) name(row_of_lane(rank, core), "core " + std::to_string(core));
}

void Trace::name_lane(int rank, int lane) {
  const Lock lock(mutex_);
  name(row_of_lane(rank, lane), "task that may wait " + std::to_string(lane - TaskObserver::own_thread_lane));
}

void Trace::name(TraceRow row, const std::string& text) {
  if (!named_.emplace(row.track, row.row).second) return;
  const auto event_of = [&](const char* what, std::string_view value) TRILITH_REQUIRES(mutex_) {
    event(R"({"ph": "M", "name": ")" + std::string(what) + '"' + place(row) + R"(, "args": {"name": )" +
          json_string(value) + "}}");
  };
  if (row.row != device_row) return event_of("thread_name", text);
  event_of("process_name", text);
  event_of("thread_name", row.track == host_track_ ? "orchestrator" : "device");
}

void Trace::event(const std::string& json) {
  pending_ += (first_ ? "\n" : ",\n") + json;
  first_ = false;
}

void Trace::take(std::string_view events) {
  while (events.starts_with(',') || events.starts_with('\n')) events.remove_prefix(1);
  if (events.empty()) return;
  const Lock lock(mutex_);
  event(std::string(events));
}

void Trace::forget_pending() {
  const Lock lock(mutex_);
  pending_.clear();
}

void Trace::send_by(TraceSender sender) {
  const Lock lock(mutex_);
  sender_ = std::move(sender);
  arrows_ = std::max(arrows_, sender_.first_arrow);
  host_track_ = sender_.host_of_rank ? first_other_host + *sender_.host_of_rank : host;
  named_.clear();
}

void Trace::write_itself() {
  const Lock lock(mutex_);
  sender_ = TraceSender{};
  sender_.start = process_start;
  host_track_ = host;
  named_.clear();
}

void Trace::flush() {
  const Lock lock(mutex_);
  if (pending_.empty() || failed_) return;
  if (is_sent()) {
    sender_.send(TracePiece::Events, pending_);
    pending_.clear();
    return;
  }
  // A child of fork() writes a file of its own: the parent goes on with its.
  if (file_ == nullptr || owner_ != getpid()) {
    const bool child = file_ != nullptr;
    const std::string path = child ? path_ + "." + std::to_string(getpid()) : path_;
    owner_ = getpid();
    file_ = std::fopen(path.c_str(), "w");
    if (file_ == nullptr) {
      failed_ = true;
      log(LogLevel::Warning,
          "degraded: no trace is written, since " + path + " cannot be opened: " + std::strerror(errno));
      return;
    }
    std::fputs(R"({"displayTimeUnit": "ms", "traceEvents": [)", file_);
    // Earlier events may have gone elsewhere.
    if (pending_.starts_with(',')) pending_.erase(0, 1);
  } else {
    std::fseek(file_, -static_cast<long>(tail.size()), SEEK_END);
  }
  std::fwrite(pending_.data(), 1, pending_.size(), file_);
  std::fwrite(tail.data(), 1, tail.size(), file_);
  std::fflush(file_);
  pending_.clear();
}

}  // namespace pl::detail
