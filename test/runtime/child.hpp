// test/runtime/child.hpp -- work in a child of fork(), and cases that run in a process of their own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

namespace support {

/// Forks; true when the child's work gave true within a minute.
template <class Work>
bool child_succeeds(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool right = false;
    try {
      right = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The exit code of this test program run on one case with these variables set.
inline int run_case(const std::string& name, const std::string& variables = "") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const int status = std::system(
      (variables + " '" + self + "' --no-skip --test-case='" + name + "' > /dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace support
