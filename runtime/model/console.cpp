// printf of a kernel. A core's text is told where a printf ends with a line's end, so that cores do not mix within one.
#include <charconv>
#include <string>
#include <string_view>

#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

using AscendC::model::PrintArgument;

template <class Number, class... How>
std::string digits(Number value, How... how) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, how...).ptr};
}

bool takes(char conversion, PrintArgument::Kind kind) {
  switch (conversion) {
    case 'd':
    case 'i': return kind == PrintArgument::Bool || kind == PrintArgument::Signed;
    case 'u': return kind == PrintArgument::Bool || kind == PrintArgument::Unsigned;
    case 'x': return kind == PrintArgument::Signed || kind == PrintArgument::Unsigned;
    case 'f': return kind == PrintArgument::Float;
    default: return false;
  }
}

/// Of a float as many digits as tell it from all others, where a device prints six behind the point: what is printed is
/// then the text of the simulator.
std::string text_of(char conversion, const PrintArgument& argument) {
  if (conversion == 'f') return digits(__builtin_bit_cast(float, static_cast<std::uint32_t>(argument.bits)));
  if (conversion == 'x') return digits(argument.bits, 16);
  if (conversion == 'u') return digits(argument.bits);
  return digits(static_cast<std::int64_t>(argument.bits));
}

}  // namespace

void print(Core& core, std::string_view format, std::span<const PrintArgument> arguments,
           std::uint32_t line) {
  std::size_t used = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char character = format[at];
    if (character != '%') {
      if (character != '\n' && static_cast<unsigned char>(character) < 32)
        core.fault(line, "printf: of all escapes it prints the line's end alone");
      core.printed += character;
      continue;
    }
    const char conversion = ++at < format.size() ? format[at] : '\0';
    constexpr std::string_view known = "diuxf";
    if (conversion == '\0' || known.find(conversion) == std::string_view::npos)
      core.fault(line, text("printf: conversion '%", std::string(conversion != '\0', conversion),
                            "'; the model has %d, %i, %u, %x and %f"));
    if (used == arguments.size())
      core.fault(line, text("printf: ", arguments.size(), " arguments for more conversions"));
    const PrintArgument& argument = arguments[used++];
    constexpr const char* kinds[] = {"a bool", "a signed integer", "an unsigned integer", "a float"};
    if (!takes(conversion, argument.kind))
      core.fault(line, text("printf: %", conversion, " is given ", kinds[argument.kind]));
    core.printed += text_of(conversion, argument);
  }
  if (used != arguments.size())
    core.fault(line, text("printf: ", arguments.size(), " arguments for ", used, " conversions"));
  if (core.printed.ends_with('\n')) tell_printed(core);
}

void tell_printed(Core& core) {
  if (core.printed.empty()) return;
  const std::string printed = std::move(core.printed);
  core.printed.clear();
  core.run().sink().print(printed);
}

}  // namespace trilith::model
