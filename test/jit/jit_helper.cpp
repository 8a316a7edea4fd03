// test/jit/jit_helper.cpp -- what process_test.cpp runs in a process of its own, so that a crash or a hang is
// an observed result. The header pack and the cache folder come from the environment.
#include "jit/engine.hpp"
#include "jit/support.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

using namespace jit_test;

namespace {

bool compiler_loaded() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libtrilith-compiler") != std::string::npos) return true;
  }
  return false;
}

jit::EngineConfig config() {
  jit::EngineConfig config;
  config.log = [](jit::LogLevel level, const std::string& text) {
    if (level == jit::LogLevel::warning) std::printf("warning: %s\n", text.c_str());
  };
  return config;
}

int run_adders(jit::Engine& engine, int count) {
  for (int i = 0; i < count; ++i) {
    if (call(*get_adder(engine, i), 1) != i + 1) return 1;
  }
  return 0;
}

/// adders N: runs N kernels and prints what was compiled.
int adders(int count) {
  jit::Engine engine(config());
  const int result = run_adders(engine, count);
  const jit::Statistics statistics = engine.statistics();
  std::printf("compiles %llu disk %llu headers %llu compiler %d\n",
              static_cast<unsigned long long>(statistics.compiles),
              static_cast<unsigned long long>(statistics.disk_hits),
              static_cast<unsigned long long>(statistics.header_builds), compiler_loaded() ? 1 : 0);
  return result;
}

int print_key() {
  jit::Engine engine(config());
  std::printf("%s\n", jit::digest(engine.full_key(adder_key(1))).c_str());
  return 0;
}

/// kill POINT: dies as by kill -9 when the engine reaches that point.
int killed_at(const std::string& where) {
  jit::EngineConfig killed = config();
  killed.hooks.at_point = [&](const char* point) {
    if (where == point) raise(SIGKILL);
  };
  jit::Engine engine(killed);
  (void)get_adder(engine, 0);
  return 0;
}

int leave_at_once() {
  jit::Engine engine(config());
  (void)get_adder(engine, 0);
  std::fflush(stdout);
  std::_Exit(0);
}

jit::Engine& function_static() {
  static jit::Engine engine(config());
  return engine;
}

std::shared_ptr<const jit::Code>& global_code() {
  static std::shared_ptr<const jit::Code> code;
  return code;
}

thread_local std::unique_ptr<jit::Engine> thread_engine;
std::unique_ptr<jit::Engine> global_engine;

/// Engines and code in every place that is destroyed late, or never.
int statics() {
  global_engine = std::make_unique<jit::Engine>(config());
  thread_engine = std::make_unique<jit::Engine>(config());
  auto* leaked = new jit::Engine(config());
  int result = run_adders(*global_engine, 2);
  result += run_adders(function_static(), 2);
  result += run_adders(*thread_engine, 2);
  result += run_adders(*leaked, 2);
  global_code() = get_adder(*leaked, 7);
  std::thread([&] {
    thread_engine = std::make_unique<jit::Engine>(config());
    result += run_adders(*thread_engine, 3);
  }).join();
  return result;
}

/// The child compiles and runs kernels of its own and of its parent's making.
int child_runs(jit::Engine& engine, int first) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int result = 0;
    for (int i = first; i < first + 3; ++i) result += call(*get_adder(engine, i), 1) == i + 1 ? 0 : 1;
    std::_Exit(result);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

int forks() {
  jit::Engine engine(config());
  int result = child_runs(engine, 0);  // before first use
  result += run_adders(engine, 2);
  result += child_runs(engine, 1);  // after a compile
  // While other threads compile.
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) (void)get_adder(engine, 1000 * (t + 1) + i);
    });
  }
  for (int i = 0; i < 10; ++i) result += child_runs(engine, 50 + 5 * i);
  stop = true;
  for (auto& thread : threads) thread.join();
  result += run_adders(engine, 3);
  return result;
}

/// fatal N: LLVM's fatal error (1) or a crash inside it (2); then the host goes on.
int fatal(int kind) {
  jit::EngineConfig failing = config();
  failing.hooks.compiler_failure = static_cast<std::uint32_t>(kind);
  jit::Engine engine(failing);
  for (int i = 0; i < 3; ++i) {
    try {
      (void)get_adder(engine, 100 + i);
      return 1;
    } catch (const pl::InternalError& error) {
      std::printf("%s\n", error.what());
    }
  }
  jit::Engine good(config());
  return run_adders(good, 2);
}

/// debug FOLDER: one kernel with line tables, its source kept in the folder.
int debug(const std::string& folder) {
  jit::EngineConfig debugged = config();
  debugged.debug = true;
  debugged.dump_dir = folder;
  jit::Engine engine(debugged);
  return call(*get_adder(engine, 5), 1) == 6 ? 0 : 1;
}

/// other_llvm before|after: kernels on both sides of opening a second LLVM whose symbols all can see.
int other_llvm(const std::string& when) {
  const auto open = [] { return dlopen(TRILITH_OTHER_LLVM, RTLD_NOW | RTLD_GLOBAL) != nullptr ? 0 : 50; };
  int result = when == "before" ? open() : 0;
  jit::Engine engine(config());
  result += run_adders(engine, 2);
  if (when == "after") result += open();
  for (int i = 10; i < 12; ++i) result += call(*get_adder(engine, i), 1) == i + 1 ? 0 : 1;
  return result;
}

int error_of_one() {
  try {
    jit::Engine engine(config());
    return run_adders(engine, 1);
  } catch (const pl::Error& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const std::string argument = count > 2 ? arguments[2] : "0";
  if (what == "adders") return adders(std::atoi(argument.c_str()));
  if (what == "key") return print_key();
  if (what == "kill") return killed_at(argument);
  if (what == "leave") return leave_at_once();
  if (what == "statics") return statics();
  if (what == "forks") return forks();
  if (what == "fatal") return fatal(std::atoi(argument.c_str()));
  if (what == "error") return error_of_one();
  if (what == "debug") return debug(argument);
  if (what == "other_llvm") return other_llvm(argument);
  return 2;
}
