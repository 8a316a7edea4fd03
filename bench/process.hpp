// bench/process.hpp -- starts a program and waits for it: its wall time, what it printed.
#pragma once

#include "contest.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct Run {
  double seconds = 0;
  std::string output;
};

/// The bench's own folder, where its child programs are too.
[[nodiscard]] inline std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// Runs `program arguments…` with this process's environment. posix_spawn, since a fork would copy the page
/// tables of a process that has grown and count that as the program's time.
[[nodiscard]] inline Run run(const std::filesystem::path& program,
                             const std::vector<std::string>& arguments = {}) {
  std::string path = program.string();
  std::vector<std::string> words = arguments;
  std::vector<char*> argv{path.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);

  Run result;
  pid_t child = 0;
  const auto begin = Clock::now();
  const int error = ::posix_spawn(&child, path.c_str(), &actions, nullptr, argv.data(), environ);
  ::close(pipe_ends[1]);
  int status = 0;
  if (error == 0) {
    char buffer[4096];
    for (ssize_t got; (got = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
      result.output.append(buffer, static_cast<std::size_t>(got));
    ::waitpid(child, &status, 0);
  }
  result.seconds = seconds_since(begin);
  ::close(pipe_ends[0]);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(path + (arguments.empty() ? "" : " " + arguments[0]) + " failed");
  return result;
}

}  // namespace bench
