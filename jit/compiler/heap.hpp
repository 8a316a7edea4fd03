// jit/compiler/heap.hpp -- the memory that Clang and LLVM allocate, on huge pages.
//
// A compile touches about four megabytes that no one has touched before. In pages of 4 KiB these are a thousand page
// faults, each of which costs as much as some thousand instructions; on huge pages it is three.
//
// The library is linked with --wrap, so that its own calls of malloc and free come here, libstdc++'s included (it has
// one of its own). What the C library hands out or takes over stays the C library's: `free` knows by the address.
#pragma once

#include <atomic>

namespace trilith::jit::compiler {

struct Heap;

/// Set when a huge page was dear (huge_pages.hpp): the heap grows by small ones from then on.
extern constinit std::atomic<bool> huge_pages_are_dear;

/// While one lives its thread allocates without a lock, from a heap that no other thread has.
class ThreadHeap {
 public:
  ThreadHeap();
  ~ThreadHeap();
  ThreadHeap(const ThreadHeap&) = delete;
  ThreadHeap& operator=(const ThreadHeap&) = delete;

 private:
  Heap* outer_;
};

}  // namespace trilith::jit::compiler
