// jit/compile_limit.cpp
#include "jit/compile_limit.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

namespace trilith::jit {

int default_compile_threads() {
  int ranks = 1;
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
    if (const char* value = std::getenv(variable); value != nullptr)
      ranks = std::max(ranks, std::atoi(value));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks);
}

CompileLimit::CompileLimit(int threads) : threads_(threads > 0 ? threads : default_compile_threads()) {}

CompileLimit::Turn::Turn(CompileLimit& limit) : limit_(limit) {
  std::unique_lock lock(limit_.lock_);
  limit_.changed_.wait(lock, [&] { return limit_.busy_ < limit_.threads_; });
  ++limit_.busy_;
}

CompileLimit::Turn::~Turn() {
  {
    const std::lock_guard lock(limit_.lock_);
    --limit_.busy_;
  }
  limit_.changed_.notify_one();
}

void CompileLimit::reset_after_fork() {
  // The child has one thread; whoever held the lock or a place is not in it.
  new (&lock_) std::mutex;
  new (&changed_) std::condition_variable;
  busy_ = 0;
}

}  // namespace trilith::jit
