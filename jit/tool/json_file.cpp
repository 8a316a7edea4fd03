// jit/tool/json_file.cpp
#include "jit/tool/json_file.hpp"

#include "codegen/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace trilith::tool {
namespace {

/// "file:line:column" of a byte.
std::string place_of(const std::string& path, const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte, text.size());
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = newline == std::string::npos ? at + 1 : at - newline;
  return path + ":" + std::to_string(lines + 1) + ":" + std::to_string(column);
}

}  // namespace

nlohmann::json read_json(const std::string& path, const std::string& how_to_get_one) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file && !file.eof()) throw pl::UserError(path + " cannot be read: " + std::strerror(errno));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw pl::UserError(path + " is empty" + how_to_get_one);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    if (error.byte > text.size())
      throw pl::UserError(place_of(path, text, text.size()) + ": the file ends here, after " +
                          std::to_string(text.size()) +
                          " bytes, and is not complete; it was cut off: write it again");
    throw pl::UserError(place_of(path, text, error.byte - 1) + ": no JSON can go on like this" +
                        how_to_get_one);
  }
}

}  // namespace trilith::tool
