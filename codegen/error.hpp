// codegen/error.hpp -- the exceptions of Trilith, raised where the user called.
//
// Two kinds of exception: `pl::UserError` (the caller's mistake: what was given, what was expected, where,
// how to mend it) and `pl::InternalError` (our bug). The third kind, "degraded", is no exception: Trilith
// carries on without cache or JIT and reports it once through the log.
// Lives in codegen, the lowest layer, because every layer raises them; users include <pl/error.hpp>.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace pl {

/// A place in the user's source. `line == 0`: unknown.
struct Location {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  /// "file:line:column", without the parts that are unknown.
  [[nodiscard]] std::string str() const {
    if (line == 0) return file;
    std::string text = file;
    text.append(":").append(std::to_string(line));
    if (column != 0) text.append(":").append(std::to_string(column));
    return text;
  }
};

/// Base of everything Trilith throws. `what()` starts with the location where there is one.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Location location = {})
      : std::runtime_error(location.line == 0 ? message : location.str() + ": " + message),
        location_(std::move(location)) {}

  [[nodiscard]] const Location& location() const noexcept { return location_; }

 private:
  Location location_;
};

/// The user's mistake.
class UserError : public Error {
 public:
  using Error::Error;
};

/// A call at the wrong level (host, device, core).
class LevelError : public UserError {
 public:
  using UserError::UserError;
};

/// A shape, rank, stride, offset or overlap that does not fit.
class ShapeError : public UserError {
 public:
  using UserError::UserError;
};

/// A dtype that does not fit.
class DtypeError : public UserError {
 public:
  using UserError::UserError;
};

/// A kernel that was not captured, or a construct that cannot be.
class CaptureError : public UserError {
 public:
  using UserError::UserError;
};

/// A configuration value that is wrong or does not fit what was compiled.
class ConfigError : public UserError {
 public:
  using UserError::UserError;
};

/// The source of an external kernel (`pl::jit.incore_source`) that is missing, does not compile or lacks its entry.
class SourceError : public UserError {
 public:
  using UserError::UserError;
};

/// A dispatch plan that is wrong: ranks left out, overlapping outputs, a device out of range.
class PlanError : public UserError {
 public:
  using UserError::UserError;
};

/// Communication between ranks.
class CommError : public UserError {
 public:
  using UserError::UserError;
};

/// Our own bug; the message says what to report.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace pl
