// jit/capture/main.cpp -- trilith-capture: writes the capture header of one source file.
//
//   trilith-capture -o OUT.hpp [--depfile D] [--flags-file F] SOURCE [-- compiler flags]
//
// Exit code 0: written. 1: the source is refused; what is wrong is on stderr with file:line:column and a
// caret. 2: wrong use. 3: a fault of our own.
#include "jit/capture/frontend.hpp"

#include <llvm/Support/CrashRecoveryContext.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

struct Options {
  std::string output, depfile, source;
  std::vector<std::string> flags;
};

int usage() {
  std::cerr
      << "usage: trilith-capture -o OUT.hpp [--depfile D] [--flags-file F] SOURCE [-- compiler flags]\n";
  return 2;
}

/// One flag a line: what CMake's file(GENERATE) writes.
bool read_flags(const std::string& path, std::vector<std::string>& flags) {
  std::ifstream file(path);
  if (!file) return false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("SHELL:")) {  // CMake's mark for words that are not to be merged with equal ones
      std::istringstream words(line.substr(6));
      for (std::string word; words >> word;) flags.push_back(word);
    } else if (!line.empty()) {
      flags.push_back(line);
    }
  }
  return true;
}

/// Leaves an unchanged file alone, and never a half-written one behind.
bool write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    if (!file.flush()) return false;
  }
  std::filesystem::rename(temporary, path, error);
  return !error;
}

int run(const Options& options) {
  trilith::capture::Report report;
  const auto kernels = trilith::capture::capture(options.source, options.flags, report);
  std::cerr << report.text;
  if (report.failed) {
    std::cerr << "trilith-capture: " << options.source << ": kernels could not be captured\n";
    return 1;
  }
  if (!write_file(options.output, trilith::capture::header_text(options.source, kernels)) ||
      (!options.depfile.empty() &&
       !write_file(options.depfile, trilith::capture::depfile_text(options.output, report)))) {
    std::cerr << "trilith-capture: cannot write " << options.output << '\n';
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--") {
      options.flags.insert(options.flags.end(), argv + i + 1, argv + argc);
      break;
    }
    if (argument == "-o" && has_value) {
      options.output = argv[++i];
    } else if (argument == "--depfile" && has_value) {
      options.depfile = argv[++i];
    } else if (argument == "--flags-file" && has_value) {
      if (!read_flags(argv[++i], options.flags)) {
        std::cerr << "trilith-capture: cannot read " << argv[i] << '\n';
        return 2;
      }
    } else if (options.source.empty() && !argument.starts_with("-")) {
      options.source = argument;
    } else {
      return usage();
    }
  }
  if (options.source.empty() || options.output.empty()) return usage();

  // Deeply nested code overflows clang's stack; a crash in clang becomes a message and an exit code.
  constexpr unsigned stack_bytes = 64u << 20;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  int result = 3;
  const bool survived = recovery.RunSafelyOnThread(
      [&] {
        try {
          result = run(options);
        } catch (const std::exception& error) {
          std::cerr << "trilith-capture: " << options.source << ": internal error: " << error.what() << '\n';
          result = 3;
        }
      },
      stack_bytes);
  if (!survived) {
    std::cerr << "trilith-capture: " << options.source
              << ": internal error: the front end crashed; please report the source file\n";
    std::_Exit(3);
  }
  return result;
}
