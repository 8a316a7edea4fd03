// The compiler library's heap, without the library: its functions by the names that --wrap gives them.
#include "jit/compiler/heap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

extern "C" {
void* __wrap_malloc(std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_calloc(std::size_t count, std::size_t size);
void* __wrap_realloc(void* block, std::size_t size);
void __wrap_free(void* block);

void* __real_malloc(std::size_t size) { return std::malloc(size); }
void* __real_aligned_alloc(std::size_t alignment, std::size_t size) {
  return std::aligned_alloc(alignment, size);
}
void* __real_realloc(void* block, std::size_t size) { return std::realloc(block, size); }
void __real_free(void* block) { std::free(block); }
}

namespace {

using trilith::jit::compiler::ThreadHeap;

/// A random life of many blocks, each filled with a byte of its own that must stay.
void live(unsigned seed) {
  std::mt19937 random(seed);
  struct Block {
    unsigned char* at;
    std::size_t size;
    unsigned char fill;
  };
  std::vector<Block> blocks;
  const auto intact = [](const Block& block, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      if (block.at[i] != block.fill) return false;
    return true;
  };
  bool good = true;
  for (int step = 0; step < 20000 && good; ++step) {
    const std::size_t size = random() % (std::size_t{1} << (random() % 16));
    if (blocks.empty() || random() % 2 == 0) {
      Block block = {static_cast<unsigned char*>(__wrap_malloc(size)), size,
                     static_cast<unsigned char>(step)};
      good = good && block.at != nullptr && reinterpret_cast<std::uintptr_t>(block.at) % 16 == 0;
      std::memset(block.at, block.fill, size);
      blocks.push_back(block);
      continue;
    }
    std::swap(blocks[random() % blocks.size()], blocks.back());
    Block& block = blocks.back();
    good = good && intact(block, block.size);
    if (random() % 4 == 0) {
      block.at = static_cast<unsigned char*>(__wrap_realloc(block.at, size));
      good = good && intact(block, std::min(size, block.size));
      block.size = size;
      std::memset(block.at, block.fill, size);
    } else {
      __wrap_free(block.at);
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) {
    good = good && intact(block, block.size);
    __wrap_free(block.at);
  }
  CHECK(good);
}

}  // namespace

TEST_CASE("blocks of the compiler's heap keep their content through a random life") {
  live(1);
  const ThreadHeap heap;
  live(2);
}

TEST_CASE("threads that compile allocate and release at the same time") {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      if (i == 0) return live(10);
      const ThreadHeap heap;
      live(10 + i);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("what one thread allocated and another released is used again") {
  std::set<void*> seen;
  for (int i = 0; i < 100; ++i) {
    void* block = nullptr;
    std::thread([&] {
      const ThreadHeap heap;
      block = __wrap_malloc(5000);
    }).join();
    seen.insert(block);
    __wrap_free(block);
  }
  CHECK(seen.size() == 1);
}

TEST_CASE("the compiler's heap clears what calloc gives, also when it was in use") {
  const ThreadHeap heap;
  void* used = __wrap_malloc(1000);
  std::memset(used, 0xff, 1000);
  __wrap_free(used);
  auto* cleared = static_cast<unsigned char*>(__wrap_calloc(10, 100));
  CHECK(cleared == used);
  CHECK(std::count(cleared, cleared + 1000, 0) == 1000);
  __wrap_free(cleared);
  CHECK(__wrap_calloc(SIZE_MAX / 2, 4) == nullptr);
}

TEST_CASE("large, over-aligned and foreign blocks are the C library's") {
  const ThreadHeap heap;
  void* large = __wrap_malloc(std::size_t{3} << 20);
  void* aligned = __wrap_aligned_alloc(256, 512);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
  void* grown = __wrap_realloc(std::malloc(10), 100000);
  std::memset(grown, 1, 100000);
  for (void* block : {large, aligned, grown, static_cast<void*>(std::malloc(1)), static_cast<void*>(nullptr)})
    __wrap_free(block);
}

TEST_CASE("a block of the compiler's heap may grow beyond what the heap gives") {
  const ThreadHeap heap;
  auto* block = static_cast<char*>(__wrap_malloc(1000));
  std::memset(block, 7, 1000);
  block = static_cast<char*>(__wrap_realloc(block, std::size_t{2} << 20));
  CHECK(std::count(block, block + 1000, 7) == 1000);
  __wrap_free(block);
}
