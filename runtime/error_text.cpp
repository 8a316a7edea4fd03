#include "runtime/error_text.hpp"

#include "pl/error.hpp"
#include "runtime/byte_stream.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <typeinfo>

namespace pl::detail {
namespace {

/// Of Trilith's own: without the place, which the constructor puts in front again.
std::string message_of(const Error& error) {
  std::string message = error.what();
  if (error.location().line != 0) message.erase(0, error.location().str().size() + 2);
  return message;
}

using Make = std::exception_ptr (*)(const std::string& message, const Location& where);
struct Kind {
  const char* name;
  const std::type_info* type;
  bool (*is)(const std::exception& error);
  Make make;
};

template <class E>
bool is(const std::exception& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}
template <class E>
constexpr Kind own(const char* name) {
  return {name, &typeid(E), is<E>, [](const std::string& message, const Location& where) {
            return std::make_exception_ptr(E(message, where));
          }};
}
template <class E>
constexpr Kind standard(const char* name) {
  return {name, &typeid(E), is<E>,
          [](const std::string& message, const Location&) { return std::make_exception_ptr(E(message)); }};
}
Kind memory() {
  return {"bad_alloc", &typeid(std::bad_alloc), is<std::bad_alloc>,
          [](const std::string&, const Location&) { return std::make_exception_ptr(std::bad_alloc()); }};
}

/// Derived classes stand before their bases.
const auto& kinds() {
  static const std::array all{own<LevelError>("LevelError"),
                              own<ShapeError>("ShapeError"),
                              own<DtypeError>("DtypeError"),
                              own<CaptureError>("CaptureError"),
                              own<ConfigError>("ConfigError"),
                              own<SourceError>("SourceError"),
                              own<PlanError>("PlanError"),
                              own<CommError>("CommError"),
                              own<UserError>("UserError"),
                              own<InternalError>("InternalError"),
                              own<Error>("Error"),
                              memory(),
                              standard<std::invalid_argument>("invalid_argument"),
                              standard<std::domain_error>("domain_error"),
                              standard<std::length_error>("length_error"),
                              standard<std::out_of_range>("out_of_range"),
                              standard<std::logic_error>("logic_error"),
                              standard<std::range_error>("range_error"),
                              standard<std::overflow_error>("overflow_error"),
                              standard<std::underflow_error>("underflow_error"),
                              standard<std::runtime_error>("runtime_error")};
  return all;
}

std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type.name();
}

std::string bytes_of(std::string_view kind, const std::string& message, const Location& where) {
  return (Writer() << kind << message << where.file << where.line << where.column).bytes;
}

std::string encode(const std::exception& error) {
  for (const Kind& kind : kinds()) {
    if (!kind.is(error)) continue;
    const auto* const ours = dynamic_cast<const Error*>(&error);
    std::string message = ours != nullptr ? message_of(*ours) : error.what();
    if (typeid(error) != *kind.type) message += " (a " + readable(typeid(error)) + ")";
    const Location where = ours != nullptr ? ours->location() : Location{};
    return bytes_of(kind.name, message, where);
  }
  return bytes_of("runtime_error", std::string(error.what()) + " (a " + readable(typeid(error)) + ")", {});
}

}  // namespace

std::string encode_exception(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return encode(error);
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return bytes_of("runtime_error",
                    "an exception of type " + (type != nullptr ? readable(*type) : std::string("unknown")),
                    {});
  }
}

std::exception_ptr decode_exception(std::string_view bytes) {
  Reader from(bytes);
  std::string name, message;
  Location where;
  from >> name >> message >> where.file >> where.line >> where.column;
  for (const Kind& kind : kinds())
    if (name == kind.name) return kind.make(message, where);
  throw InternalError("an error of another process is of the unknown kind " + name);
}

}  // namespace pl::detail
