// The end of a pl::Array inside an orchestration: tasks and dispatches may still use its memory.
#include "pl/array.hpp"
#include "runtime/program.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/thread_state.hpp"

namespace pl::detail {

void free_elements(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  const ThreadState& thread = thread_state();
  if (thread.level == Level::Host || thread.level == Level::Device) {
    // What is recorded names memory by its address, which nothing else may have meanwhile.
    if (thread.recorder != nullptr) return thread.recorder->keep(memory);
    if (thread.level == Level::Host && thread.run != nullptr) return thread.run->keep(memory);
    if (thread.level == Level::Device && thread.tasks != nullptr) thread.tasks->let_go(memory, bytes);
  }
  release_elements(memory);
}

void KeptElements::keep(void* memory) noexcept {
  try {
    const Lock lock(mutex_);
    memory_.push_back(memory);
  } catch (const std::bad_alloc&) {
    // Lost rather than freed under a task's hands.
  }
}

KeptElements::~KeptElements() {
  for (void* const memory : memory_) release_elements(memory);
}

}  // namespace pl::detail
