// jit/compile_limit.hpp -- how many kernels this process compiles at a time.
//
// Four ranks that each compile on every core starve the machine at start; so the default divides the cores by
// the ranks that the launcher put on it.
#pragma once

#include <condition_variable>
#include <mutex>

namespace trilith::jit {

/// The cores over the launcher's ranks on this machine (Open MPI, MPICH, Slurm), at least 1.
[[nodiscard]] int default_compile_threads();

class CompileLimit {
 public:
  /// 0: the default.
  explicit CompileLimit(int threads);

  /// Waits for a place and holds it.
  class Turn {
   public:
    explicit Turn(CompileLimit& limit);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    CompileLimit& limit_;
  };

  void reset_after_fork();

 private:
  const int threads_;
  std::mutex lock_;
  std::condition_variable changed_;
  int busy_ = 0;
};

}  // namespace trilith::jit
