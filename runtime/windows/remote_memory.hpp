// runtime/windows/remote_memory.hpp -- parts of windows that other processes hold and no pointer reaches.
//
// On the transports threads and processes every part is memory of this process and there is no RemoteMemory. On mpi a
// process has the part of its own rank alone; an address in it stands for the same place in every part, and what
// belongs to another rank is reached by these calls. Any thread may make them. They throw CommError.
#pragma once

#include "codegen/dtype.hpp"

#include <atomic>
#include <cstdint>
#include <span>

namespace pl::detail {

/// A box of elements in a part, by its address in the own one.
struct RemoteRegion {
  const char* data;
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;  ///< in elements
  trilith::codegen::DType dtype;
};

class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  [[nodiscard]] virtual int own_rank() const = 0;
  /// Brings the region; behind everything that this process has put to that rank.
  virtual void get(int rank, const RemoteRegion& from, void* dense) = 0;
  /// Takes the data; they are there after the next signal to that rank, or fence.
  virtual void put(int rank, const RemoteRegion& to, const void* dense) = 0;
  /// Adds, element by element atomically, also against what the owner's kernels add. There on return.
  virtual void add(int rank, const RemoteRegion& to, const void* dense) = 0;
  /// Sets a signal cell or adds to it, at any rank, the own one too: the only way in which cells may be changed. There on
  /// return, behind everything that this process has put to that rank. Gives the value before.
  virtual std::int32_t signal(int rank, const std::int32_t* cell, std::int32_t value, bool add) = 0;
  /// Everything that this process has put is there on return.
  virtual void fence() = 0;

  /// That of this process; null: it has run no program whose ranks are elsewhere.
  [[nodiscard]] static RemoteMemory* in_use() { return in_use_.load(std::memory_order_acquire); }

 protected:
  static inline std::atomic<RemoteMemory*> in_use_{nullptr};
};

}  // namespace pl::detail
