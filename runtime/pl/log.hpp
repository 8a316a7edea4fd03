// runtime/pl/log.hpp -- where Trilith says what it has to say: warnings, degraded running, what was compiled.
//
//   pl::set_log_sink([](pl::LogLevel level, std::string_view text) { my_logger(level, text); });
//
// The default sink writes to standard error and is made when the first line is written: a call that is
// answered from the cache makes no logger. Thread-safe; a sink may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace pl {

enum class LogLevel : std::uint8_t { Trace, Debug, Info, Warning, Error, Off };

using LogSink = std::function<void(LogLevel, std::string_view)>;
using PrintSink = std::function<void(std::string_view)>;

/// Replaces the sink of log lines; an empty function gives the default back. Returns the previous one.
LogSink set_log_sink(LogSink sink);

/// Replaces the sink of `pl::print` (default: standard output). Returns the previous one.
PrintSink set_print_sink(PrintSink sink);

namespace detail {
/// Hands `text` to the sink when the current context's level lets it through.
void log(LogLevel level, std::string_view text);
void print(std::string_view text);
}  // namespace detail

}  // namespace pl
