// runtime/resident_tensor.hpp -- memory that a worker keeps on its devices, and whose a pointer is.
#pragma once

#include "pl/error.hpp"
#include "pl/tensor.hpp"
#include "runtime/thread_annotations.hpp"

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace pl::detail {

class WorkerState;

class Resident {
 public:
  Resident(const WorkerState* owner_, DType dtype, const Index& dims, bool stacked_, std::string name,
           const std::source_location& where);
  ~Resident();
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  /// Throws PlanError where it is not there any more.
  [[nodiscard]] ViewRef view(const Location& where) const;
  /// Gives the memory back. `how`: "was freed at file:line".
  void release(const std::string& how);
  /// `the resident tensor "KV cache" (float[2, 8], allocated at file:line)`.
  [[nodiscard]] std::string title() const;

  const WorkerState* const owner;
  const bool stacked;

 private:
  const DType dtype_;
  const std::vector<std::int64_t> extents_;
  const std::array<std::int64_t, max_rank> strides_;
  const std::string name_;
  const Location where_;
  std::size_t bytes_ = 0;
  mutable Mutex mutex_;
  void* memory_ TRILITH_GUARDED_BY(mutex_) = nullptr;
  std::string gone_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
