// jit/cache/file_lock.hpp -- an advisory lock between processes, so that one compiles what many want.
//
// It only saves work: an entry is published by rename, so two writers do no harm. Therefore every trouble (a
// file system without locks, a holder that never ends) ends in going on without the lock, after a bounded
// wait.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace trilith::jit {

class FileLock {
 public:
  FileLock() = default;
  /// Waits at most `limit`; returns early when `enough` says that waiting is no longer needed.
  FileLock(const std::string& path, std::chrono::milliseconds limit, const std::function<bool()>& enough);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool held() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// A forked child inherits its parent's locks with the descriptors: it gives them back at once.
void forget_locks_after_fork();

}  // namespace trilith::jit
