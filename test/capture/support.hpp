// test/capture/support.hpp -- runs the front end over the sources of this folder, once each.
#pragma once

#include "codegen/printer.hpp"
#include "jit/capture/frontend.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace capture_test {

inline std::string source(const std::string& name) { return std::string(TRILITH_TEST_SOURCES) + "/" + name; }

inline std::vector<std::string> flags(std::vector<std::string> more = {}) {
  std::vector<std::string> all{"-std=c++20", std::string("-I") + TRILITH_SOURCE_DIR,
                               std::string("-I") + TRILITH_SOURCE_DIR + "/runtime"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

struct Captured {
  std::vector<trilith::capture::CapturedKernel> kernels;
  trilith::capture::Report report;

  [[nodiscard]] std::vector<const trilith::capture::CapturedKernel*> named(const std::string& name) const {
    std::vector<const trilith::capture::CapturedKernel*> result;
    for (const auto& kernel : kernels)
      if (kernel.kernel.name == name) result.push_back(&kernel);
    return result;
  }
  /// IR text of the only kernel of this name; empty where there is not one.
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto found = named(name);
    return found.size() == 1 ? trilith::codegen::to_text(found.front()->kernel) : "";
  }
  /// The same without the places at the end of the lines.
  [[nodiscard]] std::string body(const std::string& name) const {
    std::istringstream lines(text(name));
    std::string result;
    for (std::string line; std::getline(lines, line);) {
      line = line.substr(0, line.find("//"));
      line.erase(line.find_last_not_of(' ') + 1);
      result += line + "\n";
    }
    return result;
  }
};

/// Parsing the language headers takes a second: every file is captured once a process.
inline const Captured& captured(const std::string& name, const std::vector<std::string>& more = {}) {
  static std::map<std::pair<std::string, std::vector<std::string>>, Captured> all;
  const auto [entry, added] = all.try_emplace({name, more});
  if (added)
    entry->second.kernels = trilith::capture::capture(source(name), flags(more), entry->second.report);
  return entry->second;
}

inline std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

/// A folder that is removed with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "trilith_capture_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

struct Run {
  int exit_code = -1;  ///< 128 + signal where a signal ended it
  std::string output;  ///< stdout and stderr
};

inline Run run(const std::string& command) {
  Run result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) result.output.append(buffer, count);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace capture_test
