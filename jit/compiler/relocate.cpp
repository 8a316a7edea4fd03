// jit/compiler/relocate.cpp -- the library relocates itself, on huge pages.
//
// Four megabytes of LLVM's and Clang's tables hold pointers. The dynamic linker would add the load address to each in
// place, and so make a private copy of a thousand pages, one fault a page: most of what opening the library costs. The
// relative relocations are linked under Android's tags, which glibc passes over, and applied here to a copy on huge
// pages that has taken the place of the segment (huge_pages.hpp). This runs before anything else of the library (DT_INIT precedes
// DT_INIT_ARRAY, and needs no relocation itself), so nothing in here may use a table of pointers.
#include "jit/compiler/heap.hpp"
#include "jit/compiler/huge_pages.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

// Behind .bss, so that the last segment reaches a boundary of huge pages.
asm(".pushsection .trilith_end, \"awR\", @nobits\n .balign 0x200000\n .skip 4096\n .popsection");

namespace trilith::jit::compiler {
namespace {

constexpr ElfW(Sxword) tag_table = 0x6fffe000;  // DT_ANDROID_RELR, not in every <elf.h>
constexpr ElfW(Sxword) tag_size = 0x6fffe001;   // DT_ANDROID_RELRSZ

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// Puts a copy in the place of the huge pages that are wholly within a segment; only its first `in_file` bytes are not
/// zero yet. Without memory for the copy, or aligned to small pages (glibc before 2.35), the segment stays as it is.
/// False when huge pages are dear.
bool move_to_huge_pages(std::uintptr_t segment, std::size_t size, std::size_t in_file) {
  size = size / huge_page * huge_page;
  if (size == 0 || segment % huge_page != 0) return true;
  void* reserved =
      mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t copy = (begin + huge_page - 1) / huge_page * huge_page;
  const bool cheap = use_huge_pages(static_cast<char*>(pointer(copy)), size);
  std::memcpy(pointer(copy), pointer(segment), std::min(size, in_file));
  mremap(pointer(copy), size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pointer(segment));
  munmap(reserved, copy - begin);
  munmap(pointer(copy + size), begin + huge_page - copy);
  return cheap;
}

/// RELR: an even entry is the offset of a word, an odd one a bitmap of the 63 words behind the last.
void relocate(std::uintptr_t base, const ElfW(Relr) * entry, const ElfW(Relr) * end) {
  std::uintptr_t* next = nullptr;
  for (; entry != end; ++entry) {
    if ((*entry & 1) == 0) {
      next = static_cast<std::uintptr_t*>(pointer(base + *entry));
      *next++ += base;
      continue;
    }
    std::uintptr_t* word = next;
    for (ElfW(Relr) bits = *entry >> 1; bits != 0; bits >>= 1, ++word)
      if ((bits & 1) != 0) *word += base;
    next += 8 * sizeof *entry - 1;
  }
}

}  // namespace
}  // namespace trilith::jit::compiler

extern "C" __attribute__((visibility("hidden"))) void trilith_compiler_relocate() {
  using namespace trilith::jit::compiler;
  const auto base = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(base + __ehdr_start.e_phoff);
  void* read_only = nullptr;
  std::size_t read_only_size = 0;
  bool cheap = true;
  for (const auto* const end = segment + __ehdr_start.e_phnum; segment != end; ++segment) {
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0 && cheap)
      cheap = move_to_huge_pages(base + segment->p_vaddr, segment->p_memsz, segment->p_filesz);
    if (segment->p_type == PT_GNU_RELRO) {
      read_only = pointer(base + segment->p_vaddr);
      read_only_size = segment->p_memsz;
    }
  }
  // The dynamic linker has protected it already.
  mprotect(read_only, read_only_size, PROT_READ | PROT_WRITE);
  const ElfW(Relr)* table = nullptr;
  std::size_t table_size = 0;
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag_table) table = static_cast<const ElfW(Relr)*>(pointer(base + entry->d_un.d_ptr));
    if (entry->d_tag == tag_size) table_size = entry->d_un.d_val;
  }
  relocate(base, table, table + table_size / sizeof *table);
  mprotect(read_only, read_only_size, PROT_READ);
  // Not before: it lies in what was moved.
  huge_pages_are_dear = !cheap;
}
