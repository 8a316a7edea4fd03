// jit/compiler/heap.cpp -- free lists by size over memory that is taken from one reserved range and never given back.
#include "jit/compiler/heap.hpp"

#include "jit/compiler/huge_pages.hpp"

#include <sys/mman.h>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_realloc(void* block, std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void* block);
}

namespace trilith::jit::compiler {

constinit std::atomic<bool> huge_pages_are_dear = false;

constexpr std::size_t reserved_bytes = std::size_t{1} << 30;
constexpr std::size_t largest_block = std::size_t{1} << 20;
constexpr std::size_t header = 16;  // keeps the alignment that malloc promises
constexpr std::size_t classes = 64;

struct Heap {
  struct Free {
    Free* next;
  };
  Free* free_blocks[classes] = {};
  std::uintptr_t fresh = 0, fresh_end = 0;
  Heap* next_idle = nullptr;
};

namespace {

constinit std::mutex lock;               // of what follows
constinit Heap* idle = nullptr;          // heaps that no thread has
constinit std::uintptr_t untouched = 0;  // the reserved memory not yet in a heap

/// Where the reserved memory begins; until there is some, where no user's address is.
constinit std::atomic<std::uintptr_t> reserved = std::uintptr_t{1} << 63;

constinit thread_local Heap* own = nullptr;

/// 16, 32, 48, 64, then four sizes for each doubling: 80, 96, 112, 128, 160 …
std::size_t class_of(std::size_t size) {
  const std::size_t units = (size + 15) / 16;
  if (units <= 4) return units == 0 ? 0 : units - 1;
  const auto log = static_cast<std::size_t>(std::bit_width(units - 1)) - 1;  // units in (2^log, 2^(log+1)]
  return (log - 1) * 4 + ((units - 1) >> (log - 2)) % 4;
}

std::size_t size_of(std::size_t size_class) {
  if (size_class < 4) return (size_class + 1) * 16;
  const std::size_t log = size_class / 4 + 1;
  return ((std::size_t{1} << log) + (size_class % 4 + 1) * (std::size_t{1} << (log - 2))) * 16;
}

bool ours(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block) - reserved.load(std::memory_order_relaxed) < reserved_bytes;
}

// The class stands in front of the block.
std::size_t& class_of_block(void* block) {
  return *reinterpret_cast<std::size_t*>(static_cast<char*>(block) - header);
}

/// Takes huge pages for at least `bytes`; false when there are none left.
bool grow(Heap& heap, std::size_t bytes) {
  const std::lock_guard guard(lock);
  if (untouched == 0) {
    void* range =
        mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return false;
    reserved.store(reinterpret_cast<std::uintptr_t>(range), std::memory_order_relaxed);
    untouched = (reserved + huge_page - 1) & ~(huge_page - 1);
  }
  const std::size_t more = (bytes + huge_page - 1) & ~(huge_page - 1);
  if (more > reserved + reserved_bytes - untouched) return false;
  auto* at = reinterpret_cast<char*>(untouched);
  if (mprotect(at, more, PROT_READ | PROT_WRITE) != 0) return false;
  if (!huge_pages_are_dear && !use_huge_pages(at, more)) huge_pages_are_dear = true;
  if (heap.fresh_end != untouched) heap.fresh = untouched;
  untouched += more;
  heap.fresh_end = untouched;
  return true;
}

/// A heap for a thread that has none, for a moment or longer.
Heap* borrow() {
  const std::lock_guard guard(lock);
  if (idle == nullptr) {
    void* memory = __real_malloc(sizeof(Heap));
    return memory == nullptr ? nullptr : new (memory) Heap;
  }
  Heap* heap = idle;
  idle = heap->next_idle;
  return heap;
}

void give_back(Heap* heap) {
  if (heap == nullptr) return;
  const std::lock_guard guard(lock);
  heap->next_idle = idle;
  idle = heap;
}

void* allocate(Heap* heap, std::size_t size) {
  if (heap == nullptr) return __real_malloc(size);
  const std::size_t size_class = class_of(size);
  if (Heap::Free* block = heap->free_blocks[size_class]; block != nullptr) {
    heap->free_blocks[size_class] = block->next;
    return block;
  }
  const std::size_t bytes = size_of(size_class) + header;
  if (bytes > heap->fresh_end - heap->fresh && !grow(*heap, bytes)) return __real_malloc(size);
  void* block = reinterpret_cast<void*>(heap->fresh + header);
  heap->fresh += bytes;
  class_of_block(block) = size_class;
  return block;
}

void release(Heap& heap, void* block) {
  auto* free_block = static_cast<Heap::Free*>(block);
  Heap::Free*& list = heap.free_blocks[class_of_block(block)];
  free_block->next = list;
  list = free_block;
}

}  // namespace

ThreadHeap::ThreadHeap() : outer_(own) {
  if (own == nullptr) own = borrow();
}
ThreadHeap::~ThreadHeap() {
  if (outer_ == nullptr) give_back(own);
  own = outer_;
}

}  // namespace trilith::jit::compiler

namespace heap = trilith::jit::compiler;

extern "C" {

void* __wrap_malloc(std::size_t size) {
  if (size > heap::largest_block) return __real_malloc(size);
  if (heap::own != nullptr) return heap::allocate(heap::own, size);
  heap::Heap* const borrowed = heap::borrow();
  void* block = heap::allocate(borrowed, size);
  heap::give_back(borrowed);
  return block;
}

void __wrap_free(void* block) {
  if (!heap::ours(block)) return __real_free(block);
  if (heap::own != nullptr) return heap::release(*heap::own, block);
  heap::Heap* const borrowed = heap::borrow();
  if (borrowed != nullptr) heap::release(*borrowed, block);
  heap::give_back(borrowed);
}

// What LLVM's bump allocators and hash tables call, for any alignment.
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return alignment <= heap::header ? __wrap_malloc(size) : __real_aligned_alloc(alignment, size);
}

void* __wrap_calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* block = __wrap_malloc(bytes);
  if (block != nullptr) std::memset(block, 0, bytes);
  return block;
}

void* __wrap_realloc(void* block, std::size_t size) {
  if (block == nullptr) return __wrap_malloc(size);
  if (!heap::ours(block)) return __real_realloc(block, size);
  const std::size_t capacity = heap::size_of(heap::class_of_block(block));
  if (size <= capacity && size != 0) return block;
  void* moved = __wrap_malloc(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, size < capacity ? size : capacity);
  __wrap_free(block);
  return moved;
}

}  // extern "C"
