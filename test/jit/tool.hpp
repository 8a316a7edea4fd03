// test/jit/tool.hpp -- the `trilith` command, run as a user runs it.
#pragma once

#include "jit/support.hpp"

namespace jit_test {

/// With the real header pack, whatever other tests of this process set.
inline Ended run_tool(const std::string& arguments, const std::string& environment = "") {
  return run_command("env -u TRILITH_HEADER_PACK " + environment + " " TRILITH_TOOL " " + arguments);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `trilith COMMAND FILE OPTIONS` on a file of this name and text; its folder is taken out of what is printed.
inline Ended run_tool_on(const std::string& command, const std::string& name, const std::string& text,
                         const std::string& options) {
  const TemporaryFolder folder;
  const std::string file = folder / name;
  if (!jit::publish_file(file, text)) return {-1, file + " cannot be written"};
  Ended ended = run_tool(command + " " + file + " " + options);
  for (std::size_t at; (at = ended.output.find(folder.path() + "/")) != std::string::npos;)
    ended.output.erase(at, folder.path().size() + 1);
  return ended;
}

/// Runs of spaces as one.
inline std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' || result.empty() || result.back() != ' ') result += c;
  return result;
}

}  // namespace jit_test
