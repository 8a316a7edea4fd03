// test/jit/tool.hpp -- the `trilith` command, run as a user runs it.
#pragma once

#include "jit/support.hpp"

namespace jit_test {

/// With the real header pack, whatever other tests of this process set.
inline Ended run_tool(const std::string& arguments, const std::string& environment = "") {
  const std::string command =
      "env -u TRILITH_HEADER_PACK " + environment + " " TRILITH_TOOL " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  Ended ended;
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    ended.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace jit_test
