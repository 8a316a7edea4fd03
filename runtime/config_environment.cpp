// The TRILITH_… variables: each gives the value of a field that the program left at its default.
#include "pl/error.hpp"
#include "runtime/config_fields.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace pl::detail {
namespace {

constexpr std::array<std::string_view, 6> log_levels = {"trace", "debug", "info", "warning", "error", "off"};

[[noreturn]] void refuse(const char* variable, std::string_view value, const std::string& expected) {
  throw ConfigError(std::string(variable) + "=\"" + std::string(value) + "\": expected " + expected);
}

template <class Integer>
bool parse_integer(std::string_view text, Integer& result) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  return error == std::errc() && end == text.data() + text.size();
}

void parse(const char*, std::string_view text, std::string& field) { field = text; }

void parse(const char* variable, std::string_view text, bool& field) {
  if (text == "1" || text == "true" || text == "on" || text == "yes")
    field = true;
  else if (text == "0" || text == "false" || text == "off" || text == "no")
    field = false;
  else
    refuse(variable, text, "1 or 0 (also true, on, yes; false, off, no)");
}

void parse(const char* variable, std::string_view text, int& field) {
  if (!parse_integer(text, field)) refuse(variable, text, "an integer");
}

void parse(const char* variable, std::string_view text, std::uint64_t& field) {
  std::uint64_t unit = 1;
  std::string_view digits = text;
  if (!digits.empty()) {
    const char last = digits.back();
    if (last == 'K') unit = std::uint64_t{1} << 10;
    if (last == 'M') unit = std::uint64_t{1} << 20;
    if (last == 'G') unit = std::uint64_t{1} << 30;
    if (unit != 1) digits.remove_suffix(1);
  }
  std::uint64_t value = 0;
  if (!parse_integer(digits, value) || __builtin_mul_overflow(value, unit, &field))
    refuse(variable, text, "a number of 0 or more, with K, M or G behind it for a size");
}

void parse(const char* variable, std::string_view text, std::vector<int>& field) {
  const std::string expected = "device numbers with commas between, such as 0,1";
  field.clear();
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    int id = 0;
    if (!parse_integer(rest.substr(0, comma), id)) refuse(variable, text, expected);
    field.push_back(id);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
}

void parse(const char* variable, std::string_view text, LogLevel& field) {
  for (std::size_t i = 0; i < log_levels.size(); ++i)
    if (text == log_levels[i]) {
      field = static_cast<LogLevel>(i);
      return;
    }
  refuse(variable, text, "trace, debug, info, warning, error or off");
}

}  // namespace

RunConfig with_environment(RunConfig config) {
  const RunConfig defaults;
  for_each_field(
      [](const char*, const char* variable, auto& field, const auto& initial) {
        // Empty counts as not set: `TRILITH_EAGER= program` is how a shell takes a variable back.
        const char* text = std::getenv(variable);
        if (text == nullptr || *text == '\0' || field != initial) return;
        parse(variable, text, field);
      },
      config, defaults);
  return config;
}

}  // namespace pl::detail
