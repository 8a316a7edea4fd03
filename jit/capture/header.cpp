// jit/capture/header.cpp -- the header that carries a source's kernels into its own object, and its depfile.
#include "jit/capture/frontend.hpp"

#include "codegen/json.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <string_view>

namespace trilith::capture {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\"";
}

/// Raw string literals of a size every compiler takes, one after the other.
std::string raw_literal(const std::string& text) {
  constexpr std::size_t longest = 8000;
  std::string delimiter = "ir";
  while (text.find(")" + delimiter + "\"") != std::string::npos) delimiter += "_";
  std::string result;
  for (std::size_t begin = 0; begin < text.size() || begin == 0; begin += longest)
    result += "\n    R\"" + delimiter + "(" + text.substr(begin, longest) + ")" + delimiter + "\"";
  return result;
}

std::string string_array(const std::string& name, const std::vector<std::string>& texts) {
  std::string result = "const char* const " + name + "[] = {";
  for (const std::string& text : texts) result += quoted(text) + ", ";
  return result + "nullptr};\n";
}

/// g++ 13 numbers lambdas in another way: without the number a pattern fits both, and where that leaves two
/// kernels the look-up says so instead of choosing.
std::vector<std::string> without_numbers(std::vector<std::string> patterns) {
  constexpr std::string_view lambda = "Ul*";
  for (std::string& pattern : patterns)
    for (std::size_t at = pattern.find(lambda); at != std::string::npos; at = pattern.find(lambda, at)) {
      at += lambda.size();
      const std::size_t end = pattern.find('_', at);
      if (end != std::string::npos) pattern.erase(at, end - at);
    }
  return patterns;
}

std::string named_captures(const std::string& name, const std::vector<NamedCapture>& captures) {
  // One more, since there are no arrays of nothing.
  std::string text = "const pl::detail::NamedCapture " + name + "[] = {";
  for (const NamedCapture& capture : captures) {
    text += "{" + std::to_string(static_cast<int>(capture.kind)) + ", " + (capture.by_reference ? "1" : "0");
    for (const std::int64_t number :
         {std::int64_t{capture.offset}, std::int64_t{capture.size}, std::int64_t{capture.data},
          std::int64_t{capture.extents}, std::int64_t{capture.strides}, std::int64_t{capture.flags},
          std::int64_t{capture.rank}, std::int64_t{capture.dtype}, std::int64_t{capture.window}})
      text += ", " + std::to_string(number);
    text += "}, ";
  }
  return text + "{}};\n";
}

std::string sha256(const std::string& text) {
  const auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(digest, /*LowerCase=*/true);
}

}  // namespace

std::string header_text(const std::string& source, const std::vector<CapturedKernel>& kernels) {
  std::string text = "// Written by trilith-capture from " + source +
                     ": the kernels of that file. Not for editing.\n"
                     "#ifndef TRILITH_CAPTURE_UNIT\n"
                     "#pragma GCC system_header\n"
                     "#include <pl/capture_unit.hpp>\n"
                     "namespace {\nnamespace trilith_capture_unit {\n";
  std::string records;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const CapturedKernel& captured = kernels[i];
    const std::string number = std::to_string(i);
    const std::string json = codegen::to_json(captured.kernel);
    text += "\n// " + captured.kernel.name + "\n";
    text += "const char json_" + number + "[] =" + raw_literal(json) + ";\n";
    text += "const pl::detail::CapturePlace places_" + number + "[] = {";
    for (const Place& place : captured.places)
      text += "{" + std::to_string(place.line) + ", " + std::to_string(place.column) + "}, ";
    text += "{0, 0}};\n#if defined(__clang__)\n";
    text += string_array("types_" + number, captured.clang_type_names);
    text +=
        "#elif __GNUC__ > 12\n" + string_array("types_" + number, without_numbers(captured.gcc_type_names));
    text += "#else\n" + string_array("types_" + number, captured.gcc_type_names) + "#endif\n";
    if (!captured.enclosing_type_names.empty()) {
      std::vector<std::string> flat;  // each function's list ends with an empty name
      for (const std::vector<std::string>& names : captured.enclosing_type_names) {
        flat.insert(flat.end(), names.begin(), names.end());
        flat.emplace_back();
      }
      text += string_array("enclosing_" + number, flat);
    }
    if (captured.is_at_body) text += named_captures("named_" + number, captured.named);
    if (captured.generic) text += string_array("parameters_" + number, captured.parameter_type_names);
    records +=
        "    {" + quoted(captured.file) + ", " + quoted(captured.kernel.name) + ", places_" + number +
        ", types_" + number + ", " + (captured.generic ? "parameters_" + number : std::string("nullptr")) +
        ", json_" + number + ", sizeof json_" + number + " - 1, " + quoted(sha256(json)) + ", " +
        (captured.enclosing_type_names.empty() ? std::string("nullptr") : "enclosing_" + number) + ", " +
        (captured.is_at_body ? "named_" + number + ", " + std::to_string(captured.named.size())
                             : std::string("nullptr, 0")) +
        "},\n";
  }
  if (kernels.empty())
    text += "const pl::detail::CaptureUnit unit = {" + quoted(source) + ", nullptr, 0};\n";
  else
    text += "\nconst pl::detail::CaptureRecord records[] = {\n" + records +
            "};\nconst pl::detail::CaptureUnit unit = {" + quoted(source) + ", records, " +
            std::to_string(kernels.size()) + "};\n";
  text +=
      "}  // namespace trilith_capture_unit\n}  // namespace\n"
      "#define TRILITH_CAPTURE_UNIT (&trilith_capture_unit::unit)\n#endif\n";
  return text;
}

std::string depfile_text(const std::string& output, const Report& report) {
  const auto escaped = [](const std::string& path) {
    std::string result;
    for (const char c : path) {
      if (c == ' ' || c == '#' || c == '\\') result.push_back('\\');
      if (c == '$') result.push_back('$');
      result.push_back(c);
    }
    return result;
  };
  std::string text = escaped(output) + ":";
  for (const std::string& file : report.dependencies) text += " \\\n  " + escaped(file);
  return text + "\n";
}

}  // namespace trilith::capture
