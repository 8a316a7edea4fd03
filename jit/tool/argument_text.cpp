// jit/tool/argument_text.cpp
#include "jit/tool/argument_text.hpp"

#include "codegen/error.hpp"

#include <charconv>
#include <map>
#include <optional>

namespace trilith::tool {
namespace {

std::optional<codegen::DType> dtype_from_text(const std::string& text) {
  if (const auto dtype = codegen::dtype_from_name(text)) return dtype;
  for (int i = 0; i < codegen::dtype_count; ++i) {
    const auto dtype = static_cast<codegen::DType>(i);
    const std::string cpp(codegen::cpp_name_of(dtype));
    if (cpp == text || cpp == "std::" + text || cpp == "std::" + text + "_t") return dtype;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& argument, const std::string& expected) {
  throw pl::UserError("--arg " + argument + ": expected " + expected);
}

codegen::Constant constant_from_text(codegen::DType dtype, const std::string& argument,
                                     const std::string& text) {
  if (codegen::is_floating(dtype)) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) refuse(argument, "a number after ':'");
    return codegen::Constant::rounded(dtype, value);
  }
  if (dtype == codegen::DType::Bool) return codegen::Constant::of(text == "1" || text == "true");
  const auto parse = [&]<class Integer>(Integer value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    codegen::Constant constant = codegen::Constant::of(dtype, static_cast<std::int64_t>(value));
    if (error != std::errc() || end != text.data() + text.size() ||
        constant.bits != static_cast<std::uint64_t>(value))
      refuse(argument, "after ':' an integer that " + std::string(codegen::name_of(dtype)) + " can hold");
    return constant;
  };
  return codegen::is_signed_integer(dtype) ? parse(std::int64_t{}) : parse(std::uint64_t{});
}

std::vector<std::int64_t> extents_from_text(const std::string& argument, const std::string& text) {
  std::vector<std::int64_t> extents;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    word.erase(0, word.find_first_not_of(' '));
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
    if (error == std::errc() && end == word.data() + word.size() && extent >= 0)
      extents.push_back(extent);
    else if (!word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0)
      extents.push_back(-1);
    else
      refuse(argument, "extents such as [8,8] or [8,N]");
    at = comma + 1;
  }
  return extents;
}

codegen::ArgumentSignature argument_from_text(const std::string& argument, const std::string& type) {
  codegen::ArgumentSignature signature;
  const std::size_t bracket = type.find('[');
  const std::size_t colon = type.find(':');
  const std::string dtype_text = type.substr(0, std::min(bracket, colon));
  const auto dtype = dtype_from_text(dtype_text);
  if (!dtype) refuse(argument, "a dtype such as float, half, int32 or bool, not \"" + dtype_text + "\"");
  signature.dtype = *dtype;
  if (bracket != std::string::npos) {
    if (type.back() != ']') refuse(argument, "a shape in brackets: float[8,8]");
    signature.is_tensor = true;
    signature.extents = extents_from_text(argument, type.substr(bracket + 1, type.size() - bracket - 2));
  } else if (colon != std::string::npos) {
    signature.value = constant_from_text(*dtype, argument, type.substr(colon + 1));
  }
  return signature;
}

/// What the annotation alone says, when it says everything.
std::optional<codegen::ArgumentSignature> from_annotation(const codegen::Type& type) {
  if (type.any_dtype || type.any_shape) return std::nullopt;
  codegen::ArgumentSignature signature;
  signature.is_tensor = type.is_tensor();
  signature.dtype = type.dtype;
  for (const codegen::Dim& dim : type.shape) signature.extents.push_back(dim.is_constant() ? dim.extent : -1);
  return signature;
}

}  // namespace

codegen::Signature signature_from_text(const codegen::Kernel& captured,
                                       const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> given;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) refuse(argument, "NAME=TYPE, such as x=float[8,8]");
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  codegen::Signature signature;
  for (const codegen::Parameter& parameter : captured.parameters) {
    const codegen::Variable& variable = captured.variables[static_cast<std::size_t>(parameter.variable)];
    const auto at = given.find(variable.name);
    if (at != given.end()) {
      signature.arguments.push_back(argument_from_text(at->first + "=" + at->second, at->second));
      given.erase(at);
    } else if (const auto annotated = from_annotation(variable.type); annotated && !parameter.specialised) {
      signature.arguments.push_back(*annotated);
    } else {
      throw pl::UserError(
          "kernel " + captured.name + " needs --arg " + variable.name + "=" +
          (parameter.specialised ? "TYPE:VALUE, since it is a pl::Const" : "TYPE, such as float[8,8]"));
    }
  }
  if (!given.empty()) {
    std::string names;
    for (const codegen::Parameter& parameter : captured.parameters)
      names += " " + captured.variables[static_cast<std::size_t>(parameter.variable)].name;
    throw pl::UserError("kernel " + captured.name + " has no parameter \"" + given.begin()->first +
                        "\"; its parameters are:" + names);
  }
  const std::vector<bool> needed = codegen::captures_to_specialise(captured);
  for (std::size_t i = 0; i < captured.captures.size(); ++i) {
    if (needed[i])
      throw pl::UserError("kernel " + captured.name +
                          " captures a value that a shape or bound needs; it is known only "
                          "when the program runs: use kernel.emit(\"xsimd\", arguments…) there");
    signature.captures.emplace_back();
  }
  return signature;
}

}  // namespace trilith::tool
