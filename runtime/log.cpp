#include "pl/log.hpp"

#include "runtime/context_state.hpp"
#include "runtime/rank_channel.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <mutex>

namespace pl {
namespace {

// Leaked: kernels in static objects may still log while the process ends.
struct Sinks {
  std::mutex mutex;
  LogSink log;
  PrintSink print;
  std::shared_ptr<spdlog::logger> logger;
};
Sinks& sinks() {
  static Sinks* all = new Sinks;
  return *all;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Trace: return spdlog::level::trace;
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
    case LogLevel::Off: return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  Sinks& all = sinks();
  const std::scoped_lock lock(all.mutex);
  std::swap(all.log, sink);
  return sink;
}

PrintSink set_print_sink(PrintSink sink) {
  Sinks& all = sinks();
  const std::scoped_lock lock(all.mutex);
  std::swap(all.print, sink);
  return sink;
}

namespace detail {

void log(LogLevel level, std::string_view text) {
  if (level < log_level_in_force()) return;
  if (RankChannel* const host = rank_channel())
    return host->send(MessageHead::Kind::Log, text, static_cast<std::int32_t>(level));
  Sinks& all = sinks();
  LogSink sink;
  std::shared_ptr<spdlog::logger> logger;
  {
    const std::scoped_lock lock(all.mutex);
    sink = all.log;
    if (!sink) {
      if (!all.logger) {
        // Not registered with spdlog: a host that uses spdlog has its own registry and may shut it down.
        all.logger = std::make_shared<spdlog::logger>(
            "trilith", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
        all.logger->set_pattern("%n: %^%l%$: %v");
        all.logger->set_level(spdlog::level::trace);
      }
      logger = all.logger;
    }
  }
  // Called without the lock: a sink may call back into Trilith.
  if (sink)
    sink(level, text);
  else
    logger->log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
}

void print(std::string_view text) {
  if (RankChannel* const host = rank_channel()) return host->send(MessageHead::Kind::Print, text);
  PrintSink sink;
  {
    Sinks& all = sinks();
    const std::scoped_lock lock(all.mutex);
    sink = all.print;
  }
  if (sink) {
    sink(text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace detail
}  // namespace pl
