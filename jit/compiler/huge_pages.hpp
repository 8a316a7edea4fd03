// jit/compiler/huge_pages.hpp -- huge pages, as long as they are cheap.
//
// A huge page takes one fault in the place of 512, and that costs about 0.2 ms. But in a virtual machine it may lie in
// memory that the host has taken back: filling one with zeros then takes 8 ms, where small pages come from what was used
// lately. So the first one that is dear is the last.
#pragma once

#include <sys/mman.h>
#include <cstddef>
#include <ctime>

namespace trilith::jit::compiler {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Takes huge pages for `size` bytes, a multiple of theirs, that no one has touched yet; false when one was dear.
inline bool use_huge_pages(char* begin, std::size_t size) {
  constexpr long limit = 1'000'000;  // ns: what 512 small pages cost
  // Of this thread alone: another's turn on the core is no cost of the page.
  const auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  };
  for (char* page = begin; page != begin + size; page += huge_page) {
    if (madvise(page, huge_page, MADV_HUGEPAGE) != 0) return false;
    const long start = now();
    *static_cast<volatile char*>(page) = 0;
    if (now() - start > limit) return false;
  }
  return true;
}

}  // namespace trilith::jit::compiler
