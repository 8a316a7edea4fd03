// jit/compiler/recovery.cpp -- a thread, a jump buffer, a fatal-error handler and chained signal handlers.
#include "jit/compiler/recovery.hpp"

#include "jit/compiler/heap.hpp"

#include "clang/Basic/Stack.h"
#include "llvm/Support/ErrorHandling.h"

#include <pthread.h>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

namespace trilith::jit::compiler {
namespace {

// Clang's parser and LLVM's instruction selection recurse over the nesting of the source; 16 MiB is reserved,
// not committed.
constexpr std::size_t stack_bytes = std::size_t{16} << 20;

struct Guard {
  sigjmp_buf escape;
  char reason[512] = {};
};

thread_local Guard* current_guard = nullptr;

[[noreturn]] void leave(Guard& guard, const char* reason) {
  std::strncpy(guard.reason, reason, sizeof guard.reason - 1);
  current_guard = nullptr;
  siglongjmp(guard.escape, 1);
}

void on_fatal_error(void*, const char* reason, bool) {
  // Without a guard (a thread of LLVM's own) returning lets LLVM end the process as it would without us.
  if (current_guard != nullptr) leave(*current_guard, reason);
}

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
struct sigaction previous_actions[std::size(crash_signals)];
std::mutex handlers_lock;
int handlers_users = 0;

void on_crash(int signal_number, siginfo_t* info, void* context) {
  if (current_guard != nullptr) leave(*current_guard, strsignal(signal_number));
  // Not our thread: the host's own handler decides, with everything the kernel told us.
  for (std::size_t i = 0; i < std::size(crash_signals); ++i) {
    if (crash_signals[i] != signal_number) continue;
    const struct sigaction& previous = previous_actions[i];
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
      previous.sa_sigaction(signal_number, info, context);
    } else if (previous.sa_handler == SIG_DFL) {
      sigaction(signal_number, &previous, nullptr);
      raise(signal_number);
    } else if (previous.sa_handler != SIG_IGN) {
      previous.sa_handler(signal_number);
    }
  }
}

/// Crash handlers are in place only while something compiles, so that a host that sets its own at start keeps
/// them.
class CrashHandlers {
 public:
  CrashHandlers() {
    const std::lock_guard lock(handlers_lock);
    if (handlers_users++ != 0) return;
    struct sigaction action = {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(crash_signals); ++i)
      sigaction(crash_signals[i], &action, &previous_actions[i]);
  }
  ~CrashHandlers() {
    const std::lock_guard lock(handlers_lock);
    if (--handlers_users != 0) return;
    for (std::size_t i = 0; i < std::size(crash_signals); ++i) {
      struct sigaction now = {};
      sigaction(crash_signals[i], nullptr, &now);
      // A handler that the host installed meanwhile stays.
      if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_crash)
        sigaction(crash_signals[i], &previous_actions[i], nullptr);
    }
  }
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;
};

struct Job {
  const std::function<void()>* work;
  std::optional<std::string> death;
};

void run_here(Job& job) {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(on_fatal_error, nullptr);
    return true;
  }();
  (void)installed;
  clang::noteBottomOfStack();
#ifdef TRILITH_OWN_HEAP
  const ThreadHeap heap;
#endif
  // A stack overflow needs another stack for its handler to stand on.
  std::vector<char> signal_stack(64 * 1024);
  stack_t stack = {};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  stack_t old_stack = {};
  sigaltstack(&stack, &old_stack);
  {
    const CrashHandlers handlers;
    Guard guard;
    if (sigsetjmp(guard.escape, 1) == 0) {
      current_guard = &guard;
      try {
        (*job.work)();
      } catch (const std::exception& error) {
        job.death = error.what();
      }
      current_guard = nullptr;
    } else {
      job.death = guard.reason;
    }
  }
  sigaltstack(&old_stack, nullptr);
}

void* thread_main(void* argument) {
  run_here(*static_cast<Job*>(argument));
  return nullptr;
}

}  // namespace

std::optional<std::string> run_guarded(const std::function<void()>& work) {
  Job job{&work, std::nullopt};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // The new thread inherits the mask: everything blocked but what a crash raises.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int signal_number : crash_signals) sigdelset(&blocked, signal_number);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, thread_main, &job);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failed != 0) {
    // No thread to be had (a limit on processes): the caller's own stack has to do.
    run_here(job);
  } else {
    pthread_join(thread, nullptr);
  }
  return job.death;
}

}  // namespace trilith::jit::compiler
