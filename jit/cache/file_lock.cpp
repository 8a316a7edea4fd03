// jit/cache/file_lock.cpp -- flock: dies with its holder, whatever kills it.
#include "jit/cache/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>

namespace trilith::jit {
namespace {

// Plain slots and no container: the child of fork() reads them while nothing else may be trusted.
constexpr std::size_t slots = 64;
std::atomic<int> held_descriptors[slots];  // descriptor + 1; 0: free

void remember(int descriptor) {
  for (auto& slot : held_descriptors) {
    int free = 0;
    if (slot.compare_exchange_strong(free, descriptor + 1)) return;
  }
}

void forget(int descriptor) {
  for (auto& slot : held_descriptors) {
    int held = descriptor + 1;
    if (slot.compare_exchange_strong(held, 0)) return;
  }
}

/// Whether `path` still names the file we have open: someone may have deleted it, and made another.
bool still_named(const std::string& path, int descriptor) {
  struct stat open_file = {};
  struct stat named_file = {};
  return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

}  // namespace

FileLock::FileLock(const std::string& path, std::chrono::milliseconds limit,
                   const std::function<bool()>& enough) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  auto pause = 1ms;
  int descriptor = -1;
  while (true) {
    if (descriptor < 0) descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) return;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      if (still_named(path, descriptor)) {
        descriptor_ = descriptor;
        remember(descriptor);
        return;
      }
      close(descriptor);
      descriptor = -1;
      continue;
    }
    const bool busy = errno == EWOULDBLOCK || errno == EINTR;
    if (!busy || enough() || std::chrono::steady_clock::now() >= deadline) break;
    if (!still_named(path, descriptor)) {
      close(descriptor);
      descriptor = -1;
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
  close(descriptor);
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  forget(descriptor_);
  close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void forget_locks_after_fork() {
  for (auto& slot : held_descriptors) {
    const int held = slot.exchange(0);
    if (held != 0) close(held - 1);
  }
}

}  // namespace trilith::jit
