#include "runtime/error_text.hpp"

#include "pl/error.hpp"

#include <cxxabi.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <typeinfo>
#include <vector>

namespace pl::detail {
namespace {

/// Fields, each with its length in front.
std::string joined(const std::vector<std::string>& fields) {
  std::string bytes;
  for (const std::string& field : fields) bytes += std::to_string(field.size()) + ":" + field;
  return bytes;
}

std::vector<std::string> split(std::string_view bytes) {
  std::vector<std::string> fields;
  while (!bytes.empty()) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
    const auto begin = static_cast<std::size_t>(end - bytes.data()) + 1;
    if (error != std::errc() || begin + size > bytes.size())
      throw InternalError("an error of another process cannot be read");
    fields.emplace_back(bytes.substr(begin, size));
    bytes.remove_prefix(begin + size);
  }
  return fields;
}

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

std::string encode(const std::exception& error) {
  for (const Kind& kind : kinds()) {
    if (!kind.is(error)) continue;
    const auto* const ours = dynamic_cast<const Error*>(&error);
    std::string message = ours != nullptr ? message_of(*ours) : error.what();
    if (typeid(error) != *kind.type) message += " (a " + readable(typeid(error)) + ")";
    const Location where = ours != nullptr ? ours->location() : Location{};
    return joined({kind.name, message, where.file, std::to_string(where.line), std::to_string(where.column)});
  }
  return joined(
      {"runtime_error", std::string(error.what()) + " (a " + readable(typeid(error)) + ")", "", "0", "0"});
}

}  // namespace

std::string encode_exception(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return encode(error);
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return joined({"runtime_error",
                   "an exception of type " + (type != nullptr ? readable(*type) : std::string("unknown")), "",
                   "0", "0"});
  }
}

std::exception_ptr decode_exception(std::string_view bytes) {
  const std::vector<std::string> fields = split(bytes);
  if (fields.size() != 5) throw InternalError("an error of another process cannot be read");
  const auto number = [](const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  for (const Kind& kind : kinds())
    if (fields[0] == kind.name)
      return kind.make(fields[1], {fields[2], number(fields[3]), number(fields[4])});
  throw InternalError("an error of another process is of the unknown kind " + fields[0]);
}

}  // namespace pl::detail
