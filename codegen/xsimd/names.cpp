#include "codegen/xsimd/writer.hpp"

#include <cctype>

namespace trilith::codegen::xsimd {
namespace {

// C++20's keywords and alternative tokens, and the names that emitted text uses itself.
constexpr std::string_view reserved[] = {"alignas",
                                         "alignof",
                                         "and",
                                         "and_eq",
                                         "asm",
                                         "auto",
                                         "bitand",
                                         "bitor",
                                         "bool",
                                         "break",
                                         "case",
                                         "catch",
                                         "char",
                                         "char8_t",
                                         "char16_t",
                                         "char32_t",
                                         "class",
                                         "compl",
                                         "concept",
                                         "const",
                                         "consteval",
                                         "constexpr",
                                         "constinit",
                                         "const_cast",
                                         "continue",
                                         "co_await",
                                         "co_return",
                                         "co_yield",
                                         "decltype",
                                         "default",
                                         "delete",
                                         "do",
                                         "double",
                                         "dynamic_cast",
                                         "else",
                                         "enum",
                                         "explicit",
                                         "export",
                                         "extern",
                                         "false",
                                         "float",
                                         "for",
                                         "friend",
                                         "goto",
                                         "if",
                                         "inline",
                                         "int",
                                         "long",
                                         "mutable",
                                         "namespace",
                                         "new",
                                         "noexcept",
                                         "not",
                                         "not_eq",
                                         "nullptr",
                                         "operator",
                                         "or",
                                         "or_eq",
                                         "private",
                                         "protected",
                                         "public",
                                         "register",
                                         "reinterpret_cast",
                                         "requires",
                                         "return",
                                         "short",
                                         "signed",
                                         "sizeof",
                                         "static",
                                         "static_assert",
                                         "static_cast",
                                         "struct",
                                         "switch",
                                         "template",
                                         "this",
                                         "thread_local",
                                         "throw",
                                         "true",
                                         "try",
                                         "typedef",
                                         "typeid",
                                         "typename",
                                         "union",
                                         "unsigned",
                                         "using",
                                         "virtual",
                                         "void",
                                         "volatile",
                                         "wchar_t",
                                         "while",
                                         "xor",
                                         "xor_eq",
                                         "args",
                                         "services",
                                         "device",
                                         "W",
                                         "rest",
                                         "j",
                                         "u",
                                         "std",
                                         "pl",
                                         "trilith",
                                         "xsimd",
                                         "linux",
                                         "unix",
                                         "NULL",
                                         "EOF",
                                         "INFINITY",
                                         "NAN",
                                         "r",
                                         "c",
                                         "i0",
                                         "i1",
                                         "i2",
                                         "i3",
                                         "i4",
                                         "i5",
                                         "i6",
                                         "i7",
                                         "bad",
                                         "edge",
                                         "extents",
                                         "gathered",
                                         "length",
                                         "product",
                                         "strides"};

}  // namespace

Names::Names() {
  for (const std::string_view name : reserved) taken_.emplace(name);
}

std::string Names::fresh(std::string_view hint) {
  std::string name;
  for (const char character : hint) {
    const bool fits = std::isalnum(static_cast<unsigned char>(character)) || character == '_';
    // Two underscores in a row, or one in front, belong to the compiler.
    const char next = fits ? character : '_';
    if (next == '_' && (name.empty() || name.back() == '_')) continue;
    name.push_back(next);
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(0, "v");
  // Names in capitals may be macros of the C library.
  std::string unique = name;
  for (int i = 2; !taken_.insert(unique).second; ++i)
    unique = name + (name.back() == '_' ? "" : "_") + std::to_string(i);
  return unique;
}

}  // namespace trilith::codegen::xsimd
