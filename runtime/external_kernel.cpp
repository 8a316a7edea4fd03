#include "runtime/external_kernel.hpp"

#include "jit/file.hpp"
#include "jit/include_scan.hpp"
#include "pl/detail/location.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;
namespace jit = trilith::jit;

// The lines behind the user's text, by which an error in them is told from an error in the file.
constexpr const char* tail_name = "/trilith/entry";
constexpr std::string_view line_entry = "/trilith/entry:101:";
constexpr std::string_view line_type = "/trilith/entry:102:";
constexpr std::string_view line_signature = "/trilith/entry:103:";
constexpr const char* symbol = "trilith_external_entry";

bool is_name(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

std::string signature_text(std::span<const ParameterInfo> parameters) {
  std::string text;
  for (const ParameterInfo& parameter : parameters) {
    if (!text.empty()) text += ", ";
    if (parameter.access == Access::Out) text += "out ";
    if (parameter.access == Access::InOut) text += "inout ";
    text += codegen::name_of(parameter.dtype);
    if (!parameter.tensor) continue;
    text += "[";
    if (parameter.rank < 0) text += "any";
    for (int axis = 0; axis < parameter.rank; ++axis)
      text +=
          (axis == 0 ? "" : ", ") + (parameter.names[axis].empty() ? std::to_string(parameter.extents[axis])
                                                                   : std::string(parameter.names[axis]));
    text += "]";
  }
  return text;
}

/// Parameters without a body: all that dispatch asks for.
codegen::Kernel interface_of(const ExternalSource& source, std::span<const ParameterInfo> parameters) {
  codegen::Kernel ir;
  ir.name = source.entry;
  ir.files = {source.where.file_name()};
  ir.location = {0, source.where.line(), source.where.column()};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterInfo& given = parameters[i];
    codegen::Variable variable;
    variable.name = "argument_" + std::to_string(i + 1);
    variable.kind = codegen::VariableKind::Parameter;
    variable.location = ir.location;
    variable.type = codegen::Type::scalar(given.dtype);
    // Any extents, whatever the signature names: none is a constant of the code.
    if (given.tensor) {
      variable.type.kind = codegen::TypeKind::Tensor;
      variable.type.any_shape = true;
    }
    ir.variables.push_back(std::move(variable));
    ir.parameters.push_back(
        {static_cast<codegen::VariableId>(i), static_cast<codegen::Access>(given.access), false});
  }
  return ir;
}

/// Beside the source that names it, then in the working directory. A compiler that was given a relative path ran in some
/// folder that nobody knows any more: the working directory is tried for it, then each folder above the program.
std::vector<std::string> candidates(const ExternalSource& source) {
  namespace fs = std::filesystem;
  const fs::path file(source.file);
  if (file.is_absolute()) return {file.lexically_normal().string()};
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path beside = fs::path(source.where.file_name()).parent_path() / file;
  std::vector<std::string> result;
  const auto add = [&](const fs::path& path) {
    std::string text = path.lexically_normal().string();
    if (std::find(result.begin(), result.end(), text) == result.end()) result.push_back(std::move(text));
  };
  add(here / beside);
  if (beside.is_relative())
    for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
         folder.has_relative_path(); folder = folder.parent_path())
      add(folder / beside);
  add(here / file);
  return result;
}

std::uint32_t lines_of(const std::string& text) {
  const auto ends = std::count(text.begin(), text.end(), '\n');
  return static_cast<std::uint32_t>(ends + (text.empty() || text.back() != '\n' ? 1 : 0));
}

/// Editors of Windows begin a file with it; Clang takes it at the very beginning only, and there stands a line of ours.
void drop_byte_order_mark(std::string& text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
}

std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return '"' + result + '"';
}

}  // namespace

std::shared_ptr<const CapturedKernel> external_kernel(const ExternalSource& source,
                                                      std::span<const ParameterInfo> parameters) {
  const Location named_at = location_of(source.where);
  if (!is_name(source.entry))
    throw SourceError("pl::jit.incore_source(\"" + source.file + "\", \"" + source.entry +
                          "\", …): the entry must be the name of a function at global scope",
                      named_at);
  auto unit = std::make_shared<ExternalUnit>();
  unit->entry = source.entry;
  unit->signature = signature_text(parameters);
  unit->named_at = named_at;
  std::string tried;
  for (const std::string& candidate : candidates(source)) {
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error) && jit::read_file(candidate, unit->text)) {
      unit->file = candidate;
      break;
    }
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  if (unit->file.empty())
    throw SourceError(
        "the file of the external kernel \"" + source.entry + "\" cannot be read: tried " + tried +
            "; a relative path starts at the source file that names it, then at the working directory",
        named_at);
  drop_byte_order_mark(unit->text);
  std::string included;
  for (const jit::ScannedInclude& include : jit::scan_includes(unit->file, unit->text)) {
    included += include.path + " " + include.hash + "\n";
    unit->includes.push_back(include.path);
  }
  unit->key = {{"kernel", jit::content_hash(unit->text)},
               {"file", unit->file},  // faults name it
               {"entry", unit->entry},
               {"included", included},
               {"signature", unit->signature}};
  auto kernel = std::make_shared<CapturedKernel>();
  kernel->ir = interface_of(source, parameters);
  kernel->hash = unit->key.front().value;
  kernel->external = std::move(unit);
  return kernel;
}

std::string ranks_of(const codegen::Signature& signature) {
  std::string text;
  for (const codegen::ArgumentSignature& argument : signature.arguments)
    if (argument.is_tensor) text += (text.empty() ? "" : ", ") + std::to_string(argument.extents.size());
  return text.empty() ? "0" : text;
}

jit::Source external_source(const ExternalUnit& unit, const std::string& ranks) {
  jit::Source source;
  source.symbol = symbol;
  source.name = unit.entry + " of " + unit.file;
  source.location = unit.named_at;
  source.user_file = unit.file;
  source.user_includes = unit.includes;
  // Each check stands on a line of its own. What the file states of its signature is found in the inner namespace;
  // where it states nothing, the outer name is.
  std::string tail = R"(
#line 1 "%tail"
namespace trilith_external {
inline constexpr const char* signature_of_%entry = nullptr;
namespace statements {
constexpr bool agrees(const char* stated, const char* given) {
  if (stated == nullptr) return true;
  for (;;) {
    while (*stated == ' ') ++stated;
    while (*given == ' ') ++given;
    if (*stated != *given) return false;
    if (*stated == '\0') return true;
    ++stated;
    ++given;
  }
}
void differ();
constexpr bool states(const char* stated, const char* given) {
  if (!agrees(stated, given)) differ();
  return true;
}
#line 101 "%tail"
constexpr auto* entry = &::%entry;
constexpr pl::abi::Entry typed = entry;
static_assert(states(signature_of_%entry, %given));
}
}
extern "C" std::int32_t %symbol(const pl::abi::Args* args, const pl::abi::Services* services) {
  return ::%entry(args, services);
}
)";
  const auto replace = [&](const std::string& what, const std::string& with) {
    for (std::size_t at = tail.find(what); at != std::string::npos; at = tail.find(what, at + with.size()))
      tail.replace(at, what.size(), with);
  };
  replace("%tail", tail_name);
  replace("%symbol", symbol);
  replace("%entry", unit.entry);
  replace("%given", quoted(unit.signature));
  source.text =
      "#define TRILITH_ARGUMENT_RANKS " + ranks + "\n#line 1 " + quoted(unit.file) + "\n" + unit.text + tail;
  return source;
}

void throw_rejected(const ExternalUnit& unit, const jit::RejectedError& error) {
  const std::string kernel = "the external kernel \"" + unit.entry + "\" of " + unit.file;
  using Why = jit::RejectedError::Why;
  if (error.why == Why::include)
    throw SourceError(
        kernel + " includes " + error.first +
            " in a way that its cache key cannot cover; write #include \"name\", relative to the file "
            "that includes it, without a macro",
        unit.named_at);
  if (error.why == Why::loader)
    throw SourceError(
        kernel + " does not load: " + error.first +
            "; a kernel may refer to memcpy, memmove, memset and memcmp only, and has no library, no "
            "static constructors and no thread_local objects",
        unit.named_at);
  if (error.first.starts_with(line_signature)) {
    // Clang notes the call that is no constant: in call to 'states(&"float[any], …"[0], …)'.
    const std::string marker = "states(&\"";
    const std::size_t at = error.all.find(marker);
    const std::size_t begin = at == std::string::npos ? 0 : at + marker.size();
    const std::string stated =
        at == std::string::npos ? "another" : error.all.substr(begin, error.all.find("\"[0]", begin) - begin);
    throw SourceError(kernel + " states the signature (" + stated + "), and the program gives (" +
                          unit.signature +
                          "); make the two agree: pl::signature<…> here or TRILITH_SIGNATURE there",
                      unit.named_at);
  }
  if (error.first.starts_with(line_entry) && error.first.find("no member named") != std::string::npos)
    throw SourceError(unit.file + " has no function \"" + unit.entry +
                          "\" at global scope; an entry is extern \"C\" std::int32_t " + unit.entry +
                          "(const pl::abi::Args*, const pl::abi::Services*)",
                      unit.named_at);
  if (error.first.starts_with(line_type) || error.first.starts_with(line_entry))
    throw SourceError(kernel +
                          " has another type than std::int32_t(const pl::abi::Args*, const "
                          "pl::abi::Services*): " +
                          error.first.substr(error.first.find(": ") + 2),
                      unit.named_at);
  if (error.first.starts_with(std::string(tail_name) + ":"))
    throw SourceError(
        kernel +
            " does not compile: a brace or parenthesis that is opened in the file is not closed at its "
            "end (" +
            error.first.substr(error.first.find(": ") + 2) + "); close it\n" + error.all,
        {unit.file, lines_of(unit.text), 1});
  // "file:line:column: message": the place becomes the error's.
  Location place = unit.named_at;
  std::string message = error.first;
  if (message.starts_with(unit.file + ":")) {
    char* end = nullptr;
    const char* const text = message.c_str() + unit.file.size() + 1;
    place.file = unit.file;
    place.line = static_cast<std::uint32_t>(std::strtoul(text, &end, 10));
    place.column = *end == ':' ? static_cast<std::uint32_t>(std::strtoul(end + 1, &end, 10)) : 0;
    message = std::string(end).substr(2);
  }
  throw SourceError(
      kernel + ", named at " + unit.named_at.str() + ", does not compile: " + message +
          (message.find("file not found") == std::string::npos
               ? ""
               : " (it may include files beside it and what is in Trilith's header pack: pl/abi.hpp, "
                 "pl/external.hpp, trilith/device.hpp, xsimd and what these include)") +
          "\n" + error.all,
      place);
}

}  // namespace pl::detail
