// runtime/mpi/mpi_backing.hpp -- the own part of a window, in the symmetric pool of MpiWorld.
#pragma once

#include "runtime/windows/window_memory.hpp"

#include <memory>

namespace pl::detail {

class MpiWorld;

class MpiBacking final : public WindowBacking {
 public:
  /// `memory`: of MpiWorld::allocate.
  MpiBacking(MpiWorld& world, char* memory, std::size_t ranks);
  ~MpiBacking() override;
  MpiBacking(const MpiBacking&) = delete;
  MpiBacking& operator=(const MpiBacking&) = delete;
  /// The own part's address stands for the same place in every part.
  [[nodiscard]] char* part(std::size_t) override { return memory_; }
  /// What this process knows of each part.
  [[nodiscard]] WindowPart::State* state(std::size_t member) override { return &states_[member]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] RemoteMemory* remote() const override;

 private:
  MpiWorld& world_;
  char* const memory_;
  const std::size_t size_;
  const std::unique_ptr<WindowPart::State[]> states_;
};

}  // namespace pl::detail
